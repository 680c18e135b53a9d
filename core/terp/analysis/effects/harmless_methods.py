"""Methods and attributes that only compute, of every type that the harmless functions can make.

One list for all types: whose object it is cannot be told, but in a closed world it is one of these. A name
is listed only when it is harmless for each of them; one that is not for some is in `method_effects`.
"""

_TABLES = """
    T abs add add_categories add_prefix add_suffix agg aggregate align all any append apply applymap area
    argmax argmin argsort array as_ordered as_unordered asfreq asof assign astimezone astype at at_time
    attrs autocorr axes bar barh between between_time bfill bool box boxplot capitalize case_when casefold
    cat categories ceil center clip closed codes columns combine combine_first compare components contains
    convert_dtypes copy corr corrwith count cov ctime cumcount cummax cummin cumprod cumsum date day
    day_name day_of_week day_of_year dayofweek dayofyear days days_in_month daysinmonth decode delete
    density describe diff difference div divide divmod dot drop drop_duplicates droplevel dropna dst dt
    dtype dtypes duplicated empty encode end_time endswith eq equals ewm expanding explode extract
    extractall factorize ffill fillna filter find findall first first_valid_index flags floor floordiv
    fold freq freqstr from_arrays from_dict from_frame from_product from_records from_tuples
    fromisocalendar fromisoformat fromordinal fromtimestamp fullmatch ge get get_dummies get_group grep
    get_indexer get_level_values get_loc groupby groups gt has_duplicates hasnans head hexbin hist hour
    iat identical idxmax idxmin iloc index indices infer_objects info insert interpolate intersection
    is_empty is_leap_year is_monotonic_decreasing is_monotonic_increasing is_month_end is_month_start
    is_quarter_end is_quarter_start is_unique is_year_end is_year_start isalnum isalpha isascii isdecimal
    isdigit isetitem isin islower isna isnull isnumeric isocalendar isoformat isoweekday isspace istitle
    isupper item items iteritems iterrows itertuples join kde keys kurt kurtosis last last_valid_index le
    left len length level levels line list ljust loc lower lstrip lt map mask match max mean median melt
    memory_usage merge microsecond mid min minute mod mode month month_name mul multiply name names
    nanosecond nbytes ndim ne nearest ngroup ngroups nlargest normalize notna notnull now nsmallest nth
    nunique ohlc ordered ordinal overlaps pad partition pct_change pie pivot pivot_table pipe plot pop pow
    prod product putmask quantile quarter rank ravel rdiv reindex reindex_like remove_categories
    remove_unused_categories removeprefix removesuffix rename_axis rename_categories reorder_levels repeat
    resample reset_index reshape resolution rfind right rindex rjust rmod rmul rolling round rpartition
    rpow rsplit rstrip rsub rtruediv sample scatter searchsorted second seconds select select_dtypes sem
    set_axis set_categories set_flags set_index set_levels set_names shape shift size skew slice sort
    sort_index sort_values sparse split squeeze stack start_time startswith std str strftime strip
    strptime style sub subtract sum swapaxes swapcase swaplevel symmetric_difference tail take time
    timestamp timetuple timetz title to_datetime64 to_dict to_flat_index to_frame to_list to_numpy
    to_period to_pydatetime to_pytimedelta to_records to_series to_timedelta64 to_timestamp to_julian_date
    today tolist toordinal total_seconds transform translate transpose truediv truncate tz tz_convert
    tz_localize tzinfo tzname union unique unit unstack update upper utcfromtimestamp utcnow utcoffset
    utctimetuple value value_counts values var view week weekday weekofyear where wrap xs year zfill
    applymap background_gradient highlight_max highlight_min hide format set_caption set_properties
    set_table_styles get_slice_bound microseconds bar ngroup max_rows
"""
_ARRAYS = """
    argpartition as_integer_ratio base beta binomial bytes byteswap chisquare choice choose compress conj
    conjugate data diagonal dirichlet exponential fill flat flatten fromhex gamma geometric getfield
    gumbel hex hypergeometric imag integers is_integer itemsize laplace logistic lognormal multinomial
    multivariate_normal negative_binomial nonzero normal pareto permutation permuted poisson power put
    rand randint randn random random_sample rayleigh real resize seed setflags shuffle spawn
    standard_exponential standard_gamma standard_normal standard_t strides tobytes trace triangular
    uniform vonmises weibull zipf deriv integ roots coeffs coef convert
"""
_PLAIN = """
    add_note adjusted appendleft args as_tuple betavariate bit_count bit_length choices clear close cast
    denominator difference_update discard elements end endpos exp expand expandtabs expovariate extend
    extendleft finditer format format_map from_bytes from_decimal from_float fromkeys gammavariate gauss
    getrandbits group groupdict groupindex intersection_update is_finite is_infinite is_nan is_signed
    is_zero isdisjoint isidentifier isprintable issubset issuperset lastgroup lastindex limit_denominator
    ln log10 lognormvariate maketrans maxlen min most_common move_to_end normalvariate numerator
    paretovariate pattern popitem popleft pos quantize radix randbytes randrange remainder_near remove
    reverse rotate search send setdefault span splitlines sqrt start step stop string subn
    symmetric_difference_update throw to_bytes to_eng_string to_integral_value total vonmisesvariate
    weibullvariate with_traceback index sort insert resolution message code errno strerror filename doc
    msg lineno stdout stderr returncode cmd output cache_info cache_clear getvalue getbuffer substitute
    safe_substitute substitute hexdigest digest digest_size key from_iterable pdf cdf zscore inv_cdf
    hosts subnets supernet subnet_of supernet_of
    samples new_child maps parents quotes opcodes get_opcodes get_matching_blocks ratio quick_ratio
    real_quick_ratio set_seqs _asdict _replace _fields _make _name_ _value_ fset setter getter deleter
"""
_STREAMS = """
    read readline readlines write writelines flush seek tell readable writable seekable isatty fileno
    detach reconfigure writerow writerows writeheader fieldnames dialect sniff has_header namelist
    infolist getnames getmembers getinfo writestr testzip cursor commit rollback fetchone fetchall
    fetchmany description lastrowid rowcount row_factory encoding closed mode buffer
"""
_DRAWING = """
    plot bar barh scatter pie imshow contour contourf pcolormesh fill_between fill_betweenx errorbar step
    stem stackplot quiver streamplot axhline axvline axhspan axvspan axline hlines vlines text annotate
    arrow legend grid set_title set_xlabel set_ylabel set_zlabel set_xlim set_ylim set_zlim set_xticks
    set_yticks set_xticklabels set_yticklabels set_xscale set_yscale set_aspect set_facecolor set
    tick_params twinx twiny invert_yaxis invert_xaxis get_figure get_legend_handles_labels get_xlim
    get_ylim axis margins autoscale relim autoscale_view add_patch add_artist add_line add_collection
    bar_label set_axis_off set_axis_on spines set_visible set_color set_linewidth set_position xaxis yaxis
    zaxis set_major_locator set_major_formatter set_minor_locator set_minor_formatter suptitle supxlabel
    supylabel tight_layout subplots_adjust add_subplot add_axes colorbar subplots gca autofmt_xdate
    set_size_inches get_axes patches lines collections get_height get_width get_x get_y get_text set_text
    set_rotation set_fontsize set_fontweight get_xticklabels get_yticklabels set_clim show plot_surface
    plot_wireframe plot_trisurf scatter3D plot3D view_init transAxes transData transFigure figure cla clf
    hist2d violinplot loglog semilogx semilogy clabel matshow spy tripcolor set_label set_alpha set_zorder
    set_xbound set_ybound set_theta_zero_location set_theta_direction set_rlabel_position set_box_aspect
    set_edgecolor set_markersize set_xdata set_ydata set_data get_lines get_legend get_position
    get_facecolor secondary_xaxis secondary_yaxis inset_axes label_outer minorticks_on ticklabel_format
    use_sticky_edges rgba set_under set_over set_bad resampled colors set_title set_ticks set_ticklabels
    ax fig axs axes_dict map_dataframe map_diag map_lower map_upper map_offdiag add_legend set_titles
    set_axis_labels refline despine ax_joint ax_marg_x ax_heatmap ax_row_dendrogram plot_joint
    plot_marginals canvas_size set_dpi get_dpi dpi
"""
_MODELS = """
    fit predict fit_transform transform fit_predict predict_proba predict_log_proba decision_function
    score coef_ intercept_ feature_importances_ classes_ labels_ cluster_centers_ inertia_
    explained_variance_ratio_ explained_variance_ components_ best_params_ best_score_ best_estimator_
    best_index_ cv_results_ get_params set_params get_feature_names_out get_feature_names
    inverse_transform partial_fit feature_names target target_names frame get_support named_steps steps
    estimators_ n_features_in_ mean_ scale_ var_ vocabulary_ n_clusters n_components_ importances_mean
    importances_std fit_resample staged_predict apply kneighbors score_samples aic bic from_estimator
    from_predictions pvalue statistic slope intercept rvalue stderr confidence_interval rvs ppf sf isf
    logpdf pmf logpmf interval x fun success nit nfev evaluate query_pairs query_ball_point vertices
    simplices seasonal trend resid observed add_node add_edge add_edges_from add_nodes_from nodes edges
    neighbors degree number_of_nodes number_of_edges subgraph adj has_edge has_node
"""
_WEB_AND_TASKS = """
    json raise_for_status iter_content iter_lines iter_bytes iter_text text content status_code headers ok
    reason cookies elapsed history find_all find_next find_parent find_next_sibling select_one get_text
    prettify stripped_strings contents children decompose attrs string strings get_all getheader
    getheaders info geturl getcode getroot iter iterfind findtext tag attrib scheme netloc hostname port
    query_params fragment start is_alive set is_set wait acquire release locked put get_nowait put_nowait
    task_done qsize full empty cancel submit map starmap imap imap_unordered shutdown result done
    exception add_done_callback create_task run_until_complete communicate poll terminate kill pid debug
    warning error critical log setLevel addHandler setFormatter add_argument add_subparsers
    add_argument_group parse_args parse_known_args set_defaults print_help set_description set_postfix
    refresh setLevel thumbnail rotate crop convert getpixel putpixel rectangle ellipse line getbands split
    paste filter getdata getbbox width height format size mode as_posix as_uri is_absolute is_relative_to
    relative_to with_name with_suffix with_stem joinpath parent parents stem suffix suffixes parts anchor
    drive root exists is_file is_dir is_symlink stat lstat absolute resolve expanduser samefile owner home
    cwd readlink st_size st_mtime st_ctime st_mode is_mount localize utc zone total used free namespace
    numpages
"""

METHODS = frozenset(f"{_TABLES}{_ARRAYS}{_PLAIN}{_STREAMS}{_DRAWING}{_MODELS}{_WEB_AND_TASKS}".split())
