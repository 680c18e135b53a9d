"""What known functions and methods do to the world: one row for each effect.

A row names the argument that is touched, by position and by keyword; RECEIVER is the object itself.
"""

from dataclasses import dataclass

from terp.effects.found import EffectKind

RECEIVER = -1
NOTHING = -2
"""No argument says what is touched: `what` does."""


@dataclass(frozen=True, slots=True)
class Row:
    """One effect of a call."""

    kind: EffectKind
    argument: int = 0
    keyword: str = ""
    what: str = ""
    optional: bool = False
    """Without the argument, or with None, the call gives back what it would have written."""


def _each(kind: EffectKind, names: str, argument: int = 0, keyword: str = "") -> dict[str, tuple[Row, ...]]:
    return {name: (Row(kind, argument, keyword),) for name in names.split()}


def _functions() -> dict[str, tuple[Row, ...]]:
    temporary = (Row("writes", NOTHING, what="a temporary file"),)
    return {
        **_each("deletes", "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree", 0, "path"),
        **_each(
            "writes",
            """
            os.mkdir os.makedirs os.chmod os.chown os.truncate os.utime os.mkfifo
        """,
            0,
            "path",
        ),
        **_each("writes", "os.symlink os.link", 1, "dst"),
        **_each("writes", "shutil.make_archive shutil.chown", 0, "base_name"),
        **_each("reads", "os.listdir os.scandir os.walk", 0, "path"),
        **_each("reads", "glob.glob glob.iglob", 0, "pathname"),
        **_each("reads", "xml.etree.ElementTree.parse linecache.getlines", 0, "source"),
        **_each("reads", "PIL.Image.open matplotlib.pyplot.imread matplotlib.image.imread", 0, "fp"),
        **_each(
            "reads", "openpyxl.load_workbook docx.Document PyPDF2.PdfReader pypdf.PdfReader", 0, "filename"
        ),
        **_each("reads", "numpy.fromfile", 0, "file"),
        **_each("writes", "numpy.save numpy.savetxt numpy.savez numpy.savez_compressed", 0, "file"),
        **_each(
            "writes", "matplotlib.pyplot.savefig matplotlib.pyplot.imsave matplotlib.image.imsave", 0, "fname"
        ),
        **_each("writes", "pandas.ExcelWriter pandas.to_pickle joblib.dump", 0, "path"),
        "joblib.dump": (Row("writes", 1, "filename"),),
        "pandas.to_pickle": (Row("writes", 1, "filepath_or_buffer"),),
        "pandas.HDFStore": (Row("reads", 0, "path"), Row("writes", 0, "path")),
        "pandas.read_clipboard": (Row("reads", NOTHING, what="the clipboard"),),
        "logging.FileHandler": (Row("writes", 0, "filename"),),
        "logging.basicConfig": (Row("writes", 99, "filename", optional=True),),
        "shutil.copy": (Row("reads", 0, "src"), Row("writes", 1, "dst")),
        "shutil.copy2": (Row("reads", 0, "src"), Row("writes", 1, "dst")),
        "shutil.copyfile": (Row("reads", 0, "src"), Row("writes", 1, "dst")),
        "shutil.copytree": (Row("reads", 0, "src"), Row("writes", 1, "dst")),
        "shutil.move": (Row("deletes", 0, "src"), Row("writes", 1, "dst")),
        "shutil.unpack_archive": (Row("reads", 0, "filename"), Row("writes", 1, "extract_dir")),
        "shutil.copyfileobj": (),
        "os.rename": (Row("deletes", 0, "src"), Row("writes", 1, "dst")),
        "os.renames": (Row("deletes", 0, "old"), Row("writes", 1, "new")),
        "os.replace": (Row("deletes", 0, "src"), Row("writes", 1, "dst")),
        **dict.fromkeys(
            (
                "tempfile.mkdtemp",
                "tempfile.mkstemp",
                "tempfile.NamedTemporaryFile",
                "tempfile.TemporaryDirectory",
                "tempfile.TemporaryFile",
                "tempfile.SpooledTemporaryFile",
            ),
            temporary,
        ),
        **_network(),
    }


def _network() -> dict[str, tuple[Row, ...]]:
    verbs = "get post put delete patch head options"
    clients = " ".join(f"{library}.{verb}" for library in ("requests", "httpx") for verb in verbs.split())
    sessions = """
            requests.Session requests.session httpx.Client httpx.AsyncClient aiohttp.ClientSession
            socket.socket ftplib.FTP ftplib.FTP_TLS smtplib.SMTP smtplib.SMTP_SSL imaplib.IMAP4
            imaplib.IMAP4_SSL poplib.POP3 http.client.HTTPConnection http.client.HTTPSConnection
            socket.create_connection socket.gethostbyname socket.getaddrinfo telnetlib.Telnet
        """
    return {
        **_each("network", clients, 0, "url"),
        **_each("network", "requests.request httpx.request httpx.stream", 1, "url"),
        **_each("network", "urllib.request.urlopen urllib.request.Request webbrowser.open", 0, "url"),
        **_each("network", sessions, 0, "host"),
        "urllib.request.urlretrieve": (Row("network", 0, "url"), Row("writes", 1, "filename")),
        "seaborn.load_dataset": (Row("network", NOTHING, what="raw.githubusercontent.com"),),
        **{
            f"sklearn.datasets.{name}": (Row("network", NOTHING, what="a data set of sklearn"),)
            for name in str.split("""
                fetch_openml fetch_california_housing fetch_20newsgroups fetch_olivetti_faces
            """)
        },
    }


FUNCTIONS = _functions()

# These take a file or the address of one.
REMOTE_READERS = {
    f"pandas.read_{name}": "filepath_or_buffer"
    for name in str.split("csv excel fwf html json table xml parquet feather orc stata sas spss")
} | {
    "pandas.ExcelFile": "path_or_buffer",
    "numpy.loadtxt": "fname",
    "numpy.genfromtxt": "fname",
    "matplotlib.pyplot.style.use": "style",
}
# These run whatever the file says.
UNPICKLERS = frozenset(
    str.split("""
        pickle.load pickle.loads pickle.Unpickler joblib.load torch.load pandas.read_pickle
        pandas.read_hdf dill.load dill.loads cloudpickle.load cloudpickle.loads marshal.load marshal.loads
        shelve.open yaml.load yaml.unsafe_load yaml.full_load
    """)
)
PROCESSES = frozenset(
    str.split("""
        subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen
        subprocess.getoutput subprocess.getstatusoutput os.system os.popen os.execv os.execve os.execl
        os.execle os.execlp os.execvp os.execvpe os.spawnl os.spawnle os.spawnlp os.spawnv os.spawnve
        os.spawnvp os.posix_spawn os.startfile pty.spawn asyncio.create_subprocess_exec
        asyncio.create_subprocess_shell pexpect.spawn pexpect.run
    """)
)
OPENERS = frozenset(
    str.split("""
    builtins.open io.open codecs.open gzip.open bz2.open lzma.open tokenize.open
""")
)
ARCHIVES = frozenset(str.split("zipfile.ZipFile tarfile.open tarfile.TarFile h5py.File"))
ENVIRONMENTS = frozenset({"os.environ", "os.environb"})
ENVIRONMENT = frozenset(str.split("os.getenv os.environ.get os.getenvb")) | ENVIRONMENTS
# Known, with words of their own elsewhere: what reaches what it is given by name, or runs text.
REFUSED = frozenset(
    f"builtins.{name}"
    for name in str.split("""
        eval exec compile __import__ globals locals vars setattr delattr breakpoint
    """)
)
SPECIAL = frozenset(
    str.split("""
        builtins.getattr builtins.type sqlite3.connect pandas.read_sql pandas.read_sql_query numpy.load
        matplotlib.use matplotlib.pyplot.switch_backend pandas.set_option pandas.option_context
        IPython.display.HTML IPython.display.Markdown pathlib.Path.cwd pathlib.Path.home pickle.dump
        pickle.dumps
    """)
)

_WRITERS = """
    to_csv to_excel to_parquet to_feather to_orc to_stata to_xml to_hdf to_pickle tofile dump savefig save
    to_iceberg imsave to_netcdf to_zarr
"""
_TEXTS = "to_json to_html to_latex to_string to_markdown"
_HERE = "write_text write_bytes mkdir touch chmod symlink_to hardlink_to"

METHODS: dict[str, tuple[Row, ...]] = {
    **_each("writes", _WRITERS),
    **{name: (Row("writes", 0, "buf", optional=True),) for name in _TEXTS.split()},
    "to_csv": (Row("writes", 0, "path_or_buf", optional=True),),
    "to_json": (Row("writes", 0, "path_or_buf", optional=True),),
    "to_clipboard": (Row("writes", NOTHING, what="the clipboard"),),
    "to_sql": (Row("writes", 0, "name"),),
    "to_gbq": (Row("network", NOTHING, what="BigQuery"),),
    **_each("writes", _HERE, RECEIVER),
    **_each("deletes", "unlink rmdir", RECEIVER),
    **_each("reads", "read_text read_bytes iterdir walk", RECEIVER),
    **_each("reads", "glob rglob", 0, "pattern"),
    "load_workbook": (Row("reads", 0, "filename"),),
    **_each("network", "post patch request urlopen", 0, "url"),
    "connect": (Row("network", 0, "address"),),
    "sendmail": (Row("network", NOTHING, what="mail"),),
    "send_message": (Row("network", NOTHING, what="mail"),),
}
# What another type of object knows by the same name, and only does when it is one.
PATH_ONLY = frozenset(f"{_HERE} unlink rmdir read_text read_bytes iterdir walk glob rglob".split())
ARCHIVE_ONLY = frozenset(str.split("extract extractall"))

# Functions and methods that call what they are given: where it stands.
CALLS: dict[str, tuple[int | str, ...]] = {
    "builtins.map": (0,),
    "builtins.filter": (0,),
    "builtins.sorted": ("key",),
    "builtins.min": ("key",),
    "builtins.max": ("key",),
    "functools.reduce": (0,),
    "functools.partial": (0,),
    "itertools.accumulate": (1, "func"),
    "itertools.groupby": (1, "key"),
    "itertools.starmap": (0,),
    "itertools.takewhile": (0,),
    "itertools.dropwhile": (0,),
    "itertools.filterfalse": (0,),
    "collections.defaultdict": (0,),
    "numpy.vectorize": (0,),
    "numpy.apply_along_axis": (0,),
    "numpy.fromfunction": (0,),
    "numpy.frompyfunc": (0,),
    "threading.Thread": (1, "target"),
    "threading.Timer": (1, "function"),
    "asyncio.to_thread": (0,),
    "scipy.optimize.minimize": (0,),
    "scipy.optimize.minimize_scalar": (0,),
    "scipy.optimize.curve_fit": (0,),
    "scipy.optimize.fsolve": (0,),
    "scipy.optimize.brentq": (0,),
    "scipy.integrate.quad": (0,),
    "scipy.integrate.odeint": (0,),
    "scipy.integrate.solve_ivp": (0,),
}
METHOD_CALLS: dict[str, tuple[int | str, ...]] = {
    **dict.fromkeys(
        str.split("""
            apply applymap agg aggregate transform pipe submit starmap imap imap_unordered
        """),
        (0, "func"),
    ),
    "map": (0, "arg"),
    "filter": (0,),
    "sort": ("key",),
    "sort_values": ("key",),
    "sort_index": ("key",),
    "add_done_callback": (0,),
}
