"""What known functions and methods do to the world: one row for each effect.

A row names the argument that is touched, by position and by keyword; RECEIVER is the object itself.
"""

from dataclasses import dataclass

from terp.events.effects import EffectKind

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


_COPIED = (Row("reads", 0, "src"), Row("writes", 1, "dst"))
_MOVED = (Row("deletes", 0, "src"), Row("writes", 1, "dst"))

# What calling each of these functions does.
_FUNCTIONS: tuple[tuple[tuple[Row, ...], str], ...] = (
    ((Row("deletes", 0, "path"),), "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree"),
    ((Row("writes", 0, "path"),), "terp.shipped.edit_file"),
    ((Row("reads", 0, "path"),), "terp.shipped.view_image"),
    ((Row("network", 0, "url"),), "terp.shipped.fetch_url"),
    ((Row("network", NOTHING, what="a search of the web"),), "terp.shipped.search_web"),
    (_MOVED, "shutil.move os.rename os.renames os.replace"),
    (_COPIED, "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree"),
    ((Row("reads", 0, "filename"), Row("writes", 1, "extract_dir")), "shutil.unpack_archive"),
    ((), "shutil.copyfileobj"),
    ((Row("reads", 0, "path"),), "os.listdir os.scandir os.walk"),
    ((Row("reads", 0, "pathname"),), "glob.glob glob.iglob"),
    (
        (Row("reads", 0, "filename"),),
        """
        xml.etree.ElementTree.parse linecache.getlines PIL.Image.open matplotlib.pyplot.imread
        matplotlib.image.imread openpyxl.load_workbook docx.Document PyPDF2.PdfReader pypdf.PdfReader
        numpy.fromfile
        """,
    ),
    ((Row("reads", NOTHING, what="the clipboard"),), "pandas.read_clipboard"),
    (
        (Row("writes", 0, "path"),),
        """
        os.mkdir os.makedirs os.chmod os.chown os.truncate os.utime os.mkfifo shutil.chown pandas.ExcelWriter
        """,
    ),
    ((Row("writes", 1, "dst"),), "os.symlink os.link"),
    ((Row("writes", 0, "base_name"),), "shutil.make_archive"),
    ((Row("writes", 0, "file"),), "numpy.save numpy.savetxt numpy.savez numpy.savez_compressed"),
    (
        (Row("writes", 0, "fname"),),
        "matplotlib.pyplot.savefig matplotlib.pyplot.imsave matplotlib.image.imsave logging.FileHandler",
    ),
    ((Row("writes", 99, "filename", optional=True),), "logging.basicConfig"),
    ((Row("writes", 1, "filename"),), "joblib.dump"),
    ((Row("writes", 1, "filepath_or_buffer"),), "pandas.to_pickle"),
    ((Row("reads", 0, "path"), Row("writes", 0, "path")), "pandas.HDFStore"),
    (
        (Row("writes", NOTHING, what="a temporary file"),),
        """
        tempfile.mkdtemp tempfile.mkstemp tempfile.NamedTemporaryFile tempfile.TemporaryDirectory
        tempfile.TemporaryFile tempfile.SpooledTemporaryFile
        """,
    ),
    (
        (Row("network", 0, "url"),),
        """
        requests.get requests.post requests.put requests.delete requests.patch requests.head requests.options
        httpx.get httpx.post httpx.put httpx.delete httpx.patch httpx.head httpx.options
        urllib.request.urlopen urllib.request.Request webbrowser.open
        """,
    ),
    ((Row("network", 1, "url"),), "requests.request httpx.request httpx.stream"),
    ((Row("network", 0, "url"), Row("writes", 1, "filename")), "urllib.request.urlretrieve"),
    (
        (Row("network", 0, "host"),),
        """
        requests.Session requests.session httpx.Client httpx.AsyncClient aiohttp.ClientSession socket.socket
        ftplib.FTP ftplib.FTP_TLS smtplib.SMTP smtplib.SMTP_SSL imaplib.IMAP4 imaplib.IMAP4_SSL poplib.POP3
        http.client.HTTPConnection http.client.HTTPSConnection socket.create_connection socket.gethostbyname
        socket.getaddrinfo telnetlib.Telnet
        """,
    ),
    ((Row("network", NOTHING, what="raw.githubusercontent.com"),), "seaborn.load_dataset"),
    (
        (Row("network", NOTHING, what="a data set of sklearn"),),
        """
        sklearn.datasets.fetch_openml sklearn.datasets.fetch_california_housing
        sklearn.datasets.fetch_20newsgroups sklearn.datasets.fetch_olivetti_faces
        """,
    ),
)
FUNCTIONS = {name: rows for rows, names in _FUNCTIONS for name in names.split()}

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

_HERE = "write_text write_bytes mkdir touch chmod symlink_to hardlink_to"
_MAIL = Row("network", NOTHING, what="mail")

# What calling a method of each of these names does, whosever it is.
_METHODS: tuple[tuple[tuple[Row, ...], str], ...] = (
    (
        (Row("writes"),),
        """
        to_excel to_parquet to_feather to_orc to_stata to_xml to_hdf to_pickle tofile dump savefig save
        to_iceberg imsave to_netcdf to_zarr to_sql
        """,
    ),
    ((Row("writes", 0, "path_or_buf", optional=True),), "to_csv to_json"),
    ((Row("writes", 0, "buf", optional=True),), "to_html to_latex to_string to_markdown"),
    ((Row("writes", NOTHING, what="the clipboard"),), "to_clipboard"),
    ((Row("writes", RECEIVER),), _HERE),
    ((Row("deletes", RECEIVER),), "unlink rmdir"),
    ((Row("reads", RECEIVER),), "read_text read_bytes iterdir walk"),
    ((Row("reads", 0, "pattern"),), "glob rglob"),
    ((Row("reads", 0, "filename"),), "load_workbook"),
    ((Row("network", 0, "url"),), "post patch request urlopen"),
    ((Row("network", 0, "address"),), "connect"),
    ((Row("network", NOTHING, what="BigQuery"),), "to_gbq"),
    ((_MAIL,), "sendmail send_message"),
)
METHODS = {name: rows for rows, names in _METHODS for name in names.split()}
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
    "pandas.NamedAgg": (1, "aggfunc"),
    "pandas.pivot_table": (4, "aggfunc"),
    "pandas.crosstab": (5, "aggfunc"),
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
    "pivot_table": (3, "aggfunc"),
    "map": (0, "arg"),
    "filter": (0,),
    "sort": ("key",),
    "sort_values": ("key",),
    "sort_index": ("key",),
    "add_done_callback": (0,),
}
