"""What of the standard library only computes, or reads nothing but the clock and the machine.

Listed, never guessed: a function that is not here is not known. Reading a name or calling it must
touch no file, no network and no other process, and must run no code but the cell's own functions.
"""

MODULES = {
    "builtins": """
        abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex dict dir
        display divmod enumerate filter float format frozenset hasattr hash hex id input int isinstance
        issubclass iter len list map max memoryview min next object oct ord pow print property range repr
        reversed round set slice sorted staticmethod str sum super tuple zip Ellipsis NotImplemented
        __name__ __debug__ __doc__ ArithmeticError AssertionError AttributeError BaseException
        BaseExceptionGroup BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError
        ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError
        DeprecationWarning EOFError EnvironmentError Exception ExceptionGroup FileExistsError
        FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning
        IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt
        LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplementedError
        OSError OverflowError PermissionError ProcessLookupError RecursionError ResourceWarning
        RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError
        SystemExit TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError
        UnicodeError UnicodeTranslateError UserWarning ValueError Warning ZeroDivisionError
    """,
    "__future__": "annotations",
    "abc": "ABC ABCMeta abstractmethod",
    "argparse": """
        ArgumentParser Namespace ArgumentTypeError ArgumentDefaultsHelpFormatter RawTextHelpFormatter
    """,
    "array": "array",
    "ast": "literal_eval",
    "asyncio": """
        run gather sleep wait wait_for create_task as_completed Queue Lock Semaphore Event TimeoutError
        timeout TaskGroup CancelledError to_thread get_event_loop get_running_loop new_event_loop
    """,
    "base64": """
        b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode b16decode
    """,
    "binascii": "hexlify unhexlify crc32",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "calendar": """
        Calendar TextCalendar calendar month monthrange monthcalendar month_name month_abbr day_name
        day_abbr isleap leapdays weekday timegm
    """,
    "cmath": """
        exp log log10 sqrt sin cos tan phase polar rect pi e inf nan isnan isinf isfinite isclose
    """,
    "collections": """
        ChainMap Counter OrderedDict UserDict UserList defaultdict deque namedtuple
    """,
    "collections.abc": """
        Awaitable Callable Collection Coroutine Generator AsyncGenerator AsyncIterator Hashable Iterable
        Iterator Mapping MutableMapping MutableSequence MutableSet Sequence Set Sized
    """,
    "colorsys": "hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb",
    "concurrent.futures": """
        ThreadPoolExecutor ProcessPoolExecutor as_completed wait Future TimeoutError
    """,
    "contextlib": """
        closing contextmanager asynccontextmanager nullcontext redirect_stderr redirect_stdout suppress
    """,
    "copy": "copy deepcopy",
    "csv": """
        DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Sniffer excel
        reader register_dialect writer field_size_limit
    """,
    "dataclasses": """
        MISSING asdict astuple dataclass field fields is_dataclass make_dataclass replace
    """,
    "datetime": "MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo",
    "decimal": """
        Context Decimal ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP
        InvalidOperation getcontext localcontext setcontext
    """,
    "difflib": """
        Differ SequenceMatcher context_diff get_close_matches ndiff unified_diff
    """,
    "enum": "Enum Flag IntEnum IntFlag StrEnum auto unique",
    "errno": "EACCES EEXIST ENOENT",
    "fnmatch": "filter fnmatch fnmatchcase",
    "fractions": "Fraction",
    "functools": """
        cache cached_property cmp_to_key lru_cache partial reduce total_ordering wraps singledispatch
    """,
    "gc": "collect",
    "getpass": "getuser",
    "gzip": "compress decompress",
    "bz2": "compress decompress",
    "lzma": "compress decompress",
    "hashlib": """
        blake2b blake2s md5 new sha1 sha224 sha256 sha384 sha3_256 sha3_512 sha512
    """,
    "heapq": """
        heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest
    """,
    "hmac": "compare_digest digest new",
    "html": "escape unescape",
    "http": "HTTPStatus",
    "importlib.metadata": "PackageNotFoundError version",
    "io": "BytesIO StringIO SEEK_SET SEEK_END TextIOWrapper",
    "ipaddress": """
        IPv4Address IPv4Network IPv6Address IPv6Network ip_address ip_network
    """,
    "itertools": """
        accumulate batched chain chain.from_iterable combinations combinations_with_replacement compress
        count cycle dropwhile filterfalse groupby islice pairwise permutations product repeat starmap
        takewhile tee zip_longest
    """,
    "json": "JSONDecodeError JSONEncoder dump dumps load loads",
    "keyword": "iskeyword kwlist",
    "locale": "setlocale LC_ALL currency",
    "logging": """
        CRITICAL DEBUG ERROR Formatter INFO Logger NOTSET StreamHandler WARNING critical debug error
        exception getLogger info log warning disable
    """,
    "math": """
        acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc
        exp exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf
        isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians
        remainder sin sinh sqrt sumprod tan tanh tau trunc ulp
    """,
    "mimetypes": "guess_type",
    "multiprocessing": "Pool cpu_count",
    "numbers": "Integral Number Rational Real",
    "operator": """
        add and_ concat contains countOf eq floordiv ge getitem gt index inv itemgetter le lt matmul mod
        mul ne neg not_ or_ pos pow sub truediv xor
    """,
    "os": """
        PathLike access cpu_count curdir devnull extsep fspath getcwd getlogin getpid linesep name path
        pathsep sep stat uname get_terminal_size stat_result F_OK R_OK W_OK getloadavg urandom fsencode
        fsdecode
    """,
    "os.path": """
        abspath altsep basename commonpath commonprefix dirname exists expanduser getatime getctime
        getmtime getsize isabs isdir isfile islink ismount join lexists normcase normpath pardir realpath
        relpath samefile sep split splitdrive splitext
    """,
    "pathlib": "Path PosixPath PurePath PurePosixPath",
    "platform": """
        architecture machine node platform processor python_version release system uname version
        python_implementation
    """,
    "pprint": "PrettyPrinter pformat pp pprint",
    "queue": "Empty Full LifoQueue PriorityQueue Queue",
    "random": """
        Random SystemRandom betavariate choice choices expovariate gammavariate gauss getrandbits
        lognormvariate normalvariate paretovariate randbytes randint random randrange sample seed shuffle
        triangular uniform vonmisesvariate weibullvariate getstate setstate
    """,
    "re": """
        A ASCII DOTALL I IGNORECASE M MULTILINE Match NOFLAG Pattern S U UNICODE VERBOSE X compile error
        escape findall finditer fullmatch match search split sub subn
    """,
    "secrets": "choice randbelow randbits token_bytes token_hex token_urlsafe",
    "shlex": "join quote split",
    "shutil": "disk_usage get_terminal_size which Error SameFileError",
    "socket": """
        gethostname timeout error AF_INET AF_INET6 SOCK_STREAM SOCK_DGRAM SOL_SOCKET SO_REUSEADDR gaierror
    """,
    "sqlite3": """
        DatabaseError Error IntegrityError OperationalError Row Connection Cursor PARSE_DECLTYPES
    """,
    "statistics": """
        NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean
        linear_regression mean median median_grouped median_high median_low mode multimode pstdev
        pvariance quantiles stdev variance
    """,
    "string": """
        Formatter Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits
        octdigits printable punctuation whitespace
    """,
    "struct": "Struct calcsize error pack unpack unpack_from iter_unpack",
    "subprocess": """
        CalledProcessError CompletedProcess DEVNULL PIPE STDOUT TimeoutExpired
    """,
    "sys": """
        argv byteorder executable exit exc_info float_info float_repr_style getdefaultencoding
        getrecursionlimit getsizeof hexversion implementation int_info maxsize maxunicode platform prefix
        setrecursionlimit stderr stdin stdout version version_info
    """,
    "textwrap": "dedent fill indent shorten wrap TextWrapper",
    "threading": """
        Event Lock RLock Semaphore Thread Timer current_thread active_count enumerate main_thread
    """,
    "time": """
        asctime ctime gmtime localtime mktime monotonic monotonic_ns perf_counter perf_counter_ns
        process_time sleep strftime strptime struct_time time time_ns timezone tzname
    """,
    "timeit": "default_timer",
    "tempfile": "gettempdir",
    "tomllib": "TOMLDecodeError load loads",
    "traceback": "format_exc print_exc print_exception format_exception",
    "types": "SimpleNamespace MappingProxyType",
    "typing": """
        Annotated Any AnyStr Callable ClassVar Counter DefaultDict Deque Dict Final FrozenSet Generator
        Generic Iterable Iterator List Literal Mapping NamedTuple NewType NoReturn Optional Protocol
        Sequence Set Tuple Type TypeAlias TypeGuard TypeVar TypedDict Union cast overload Self Never
        assert_never Required NotRequired
    """,
    "unicodedata": """
        bidirectional category combining decimal east_asian_width name normalize numeric lookup
    """,
    "urllib.error": "HTTPError URLError",
    "urllib.parse": """
        ParseResult parse_qs parse_qsl quote quote_plus unquote unquote_plus urlencode urljoin urlparse
        urlsplit urlunparse urlunsplit urldefrag
    """,
    "uuid": "NAMESPACE_DNS NAMESPACE_URL UUID uuid1 uuid3 uuid4 uuid5",
    "warnings": "catch_warnings filterwarnings resetwarnings simplefilter warn",
    "weakref": "WeakKeyDictionary WeakValueDictionary ref",
    "xml.etree.ElementTree": """
        Element ElementTree ParseError SubElement dump fromstring indent tostring
    """,
    "zipfile": "BadZipFile ZIP_DEFLATED ZIP_STORED is_zipfile",
    "zlib": "adler32 compress crc32 decompress",
    "zoneinfo": "ZoneInfo available_timezones",
}
