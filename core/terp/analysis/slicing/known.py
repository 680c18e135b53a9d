"""Builtins, methods and modules that are known not to change their arguments.

Names that are not listed count as changing their object and their arguments, so a gap here keeps a cell too
many and never leaves one out.
"""

REACHES_ANY_NAME = frozenset(
    str.split("exec eval globals locals vars compile __import__ __builtins__ get_ipython breakpoint")
)
"""Builtins after which any name may be anything."""

FRESH = frozenset(
    str.split("""
        abs all any ascii bin bool bytes callable chr complex divmod float format hash hasattr hex id input
        int isinstance issubclass len oct ord pow print range repr round str type
    """)
)
"""Builtins whose value shares nothing with their arguments."""

READING = FRESH | frozenset(
    str.split("""
        dict dir enumerate filter frozenset getattr help iter list map max min object open property reversed
        set slice sorted sum tuple zip display Exception ValueError TypeError KeyError RuntimeError
    """)
)
"""Builtins that change none of their arguments, but may exhaust an iterator."""

NO_ITERATOR = FRESH | frozenset(str.split("dict frozenset list set sorted sum tuple"))
"""Builtins whose value can be iterated more than once."""

PURE_METHODS = frozenset(
    str.split("""
        T abs agg aggregate all any apply applymap argmax argmin argsort as_posix assign astype at between
        bfill bit_length capitalize casefold cat ceil center clip columns conjugate contains copy corr count
        cov cummax cummin cumprod cumsum date day decode describe diff difference div dot drop_duplicates
        dropna dt dtype dtypes duplicated empty encode endswith eq equals ewm exists expandtabs explode
        fillna find findall first flatten floordiv format fullmatch ge get get_group groupby groups gt head
        hex iat idxmax idxmin iloc index info intersection is_dir is_file isalnum isalpha isascii isdecimal
        isdigit isdisjoint isidentifier isin islower isna isnull isnumeric isoformat isspace issubset
        issuperset istitle isupper items join joinpath keys kurt last le ljust loc lower lstrip lt map mask
        match max mean median melt memory_usage merge min mode month most_common mul ne nlargest notna
        notnull nsmallest nunique pct_change pivot pivot_table predict predict_proba prod quantile query
        rank ravel rename reindex removeprefix removesuffix replace reset_index reshape resample rfind
        rindex rjust rolling round rpartition rsplit rstrip sample score search select_dtypes sem set_index
        shift size skew slice sort_index sort_values split splitlines squeeze stack startswith std str
        strftime strip sub sum swapcase symmetric_difference tail take timestamp title to_dict to_list
        to_markdown to_numpy to_series to_string tolist total_seconds transform translate transpose
        truediv union unique unstack upper value_counts values var where with_name with_suffix year zfill
    """)
)
"""Methods that change neither their object nor their arguments, unless a keyword says so (inplace, out)."""

WRITING_METHODS = frozenset(
    str.split("""
        savefig to_csv to_excel to_feather to_hdf to_html to_json to_latex to_parquet to_pickle to_sql
        to_stata to_xml
    """)
)
"""Methods that leave their object unchanged and write it to an argument."""

KIND_METHODS = PURE_METHODS | frozenset(
    str.split("""
        add append appendleft clear discard extend fit fit_transform insert partial_fit pop popitem popleft
        remove reverse setdefault sort update add_subplot bar barh boxplot fill_between grid hist imshow
        legend pie plot scatter set set_title set_xlabel set_xlim set_ylabel set_ylim text
        tight_layout tick_params write writelines set_xticks set_yticks set_xticklabels set_yticklabels
    """)
)
"""Methods that leave their arguments unchanged, even if they change their object."""

CALM_MODULES = frozenset(
    str.split("""
        calendar cmath collections dataclasses datetime decimal enum fractions functools itertools json math
        numpy operator pandas pathlib re scipy statistics string textwrap typing unicodedata
    """)
)
"""Modules whose functions change neither their arguments nor a state of the module."""

KIND_MODULES = CALM_MODULES | frozenset(
    str.split("matplotlib os plotly random requests seaborn sklearn statsmodels sys time urllib warnings")
)
"""Modules whose functions leave their arguments unchanged, even if they change the module's state."""

NOT_CALM = frozenset(
    str.split("""
        random seed shuffle fill_diagonal place put putmask copyto set_option reset_option
        set_printoptions seterr setlocale setcontext getcontext register_matplotlib_converters
    """)
)
"""Exceptions: names in calm modules that change state."""

CHANGES_ARGUMENTS = frozenset(
    str.split("""
        shuffle fill_diagonal place put putmask copyto put_along_axis at setitem delitem iadd iand iconcat
        ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor
    """)
)
"""Functions of calm modules that change their arguments."""

TYPES = frozenset(str.split("bytearray bytes dict list object set str type"))
"""Builtin types whose methods can be called on a value that is given to them."""

MUTATING = frozenset(
    str.split("""
        add append appendleft clear discard extend insert pop popitem popleft put put_nowait remove reverse
        send setdefault sort update write writelines
    """)
)
"""Methods that change their object: one that is passed on will be called."""

TAKES_FUNCTIONS = frozenset(
    str.split("""
        accumulate agg aggregate apply applymap apply_along_axis apply_over_axes dropwhile dump dumps filter
        filterfalse frompyfunc groupby iter load loads map max min partial pipe reduce sort sorted starmap
        sub subn takewhile transform vectorize
    """)
)
"""Functions that may call their arguments, on their other arguments or elements."""

TAKES_TEXT = frozenset(str.split("eval execute query sql"))
"""Methods that read names of the kernel out of a text (pandas, DuckDB)."""

DRAWING = frozenset(str.split("fit fit_transform partial_fit sample"))
"""Methods that draw random numbers."""

OUT_AFTER = {
    **dict.fromkeys(
        str.split("""
            abs absolute arccos arcsin arctan cbrt ceil conj cos cosh deg2rad degrees exp exp2 expm1 fabs
            floor invert isfinite isinf isnan log log10 log1p log2 logical_not negative positive rad2deg
            radians reciprocal rint sign sin sinh sqrt square tan tanh trunc
        """),
        1,
    ),
    **dict.fromkeys(
        str.split("""
            add all amax amin any arctan2 around divide dot equal floor_divide fmax fmin greater hypot less
            logical_and logical_or logical_xor matmul max maximum min minimum mod multiply power remainder
            round subtract true_divide
        """),
        2,
    ),
    **dict.fromkeys(str.split("clip cumprod cumsum mean prod std sum take var"), 3),
}
"""How many positional arguments numpy's functions have before the array that they write to."""

FRAMES = frozenset(
    str.split("""
        __builtins__ __globals__ f_back f_globals f_locals _getframe currentframe get_objects get_referrers
        user_ns user_global_ns run_cell
    """)
)
"""Attributes that lead to all names of the kernel."""

SEARCHED = frozenset({"path", "path_hooks", "meta_path"})
"""Attributes of `sys` that imports read."""
