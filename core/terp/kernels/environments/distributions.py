"""The distributions that contain modules: tables of known ones, and wheels in local folders.

A name that merely exists on PyPI is never used: anybody can register one, and installing runs its code.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlparse

# Modules whose distribution has another name, from the metadata on PyPI: `MODULE=DISTRIBUTION`.
_OTHERWISE = """
    Bio=biopython Crypto=pycryptodome IPython=ipython OpenSSL=pyopenssl PIL=pillow PyPDF2=pypdf2
    attr=attrs bs4=beautifulsoup4 cairo=pycairo cpuinfo=py-cpuinfo cv2=opencv-python-headless
    dateutil=python-dateutil discord=discord-py dns=dnspython docx=python-docx dotenv=python-dotenv
    faiss=faiss-cpu fitz=pymupdf flask_cors=flask-cors git=gitpython github=pygithub
    googleapiclient=google-api-python-client jose=python-jose jwt=pyjwt kafka=kafka-python
    ldap=python-ldap lightning=lightning magic=python-magic mpl_toolkits=matplotlib
    mysql=mysql-connector-python MySQLdb=mysqlclient multipart=python-multipart nacl=pynacl osgeo=gdal
    pptx=python-pptx psycopg2=psycopg2-binary pylab=matplotlib pythoncom=pywin32
    rest_framework=djangorestframework ruamel=ruamel-yaml sentence_transformers=sentence-transformers
    serial=pyserial skimage=scikit-image sklearn=scikit-learn slugify=python-slugify socks=pysocks
    speech_recognition=speechrecognition talib=ta-lib telegram=python-telegram-bot tlz=toolz usb=pyusb
    websocket=websocket-client wx=wxpython yaml=pyyaml zmq=pyzmq umap=umap-learn Levenshtein=levenshtein
    Xlib=python-xlib
"""

# Widely used modules with the same name as their distribution.
_ALIKE = """
    aiofiles aiohttp altair anthropic arrow astropy bokeh boto3 bottle cartopy catboost celery chardet
    click cryptography cvxpy dash dask datasets deap django docker duckdb ebooklib emoji faker fastapi
    fastparquet feedparser flask folium fpdf fsspec gensim geopandas geopy gradio graphviz h5py holidays
    holoviews html2text httpx humanize hvplot imageio inflect ipywidgets jax jinja2 joblib jsonschema
    keras kaleido lifelines lightgbm lxml mako markdown matplotlib mlflow mne moviepy mpmath msgpack
    natsort netCDF4 networkx nibabel nltk numba numexpr numpy openai openpyxl optuna orjson pandas panel
    papermill paramiko patsy peewee pendulum pexpect pikepdf pint plotly plotnine polars praw prophet
    psutil psycopg pyarrow pycountry pydantic pydicom pydot pygame pymongo pymysql pynput pyodbc pypdf
    pyproj pyspark pytesseract pytest pytz qrcode rasterio ray rdflib redis regex reportlab requests
    rich scipy scrapy seaborn selenium shap shapely simplejson spacy sqlalchemy sqlmodel statsmodels
    streamlit sympy tables tabulate tensorflow tiktoken tokenizers toml toolz torch torchaudio
    torchvision tornado tqdm transformers trimesh tweepy typer ujson unidecode vega_datasets wand
    weasyprint werkzeug wikipedia wordcloud xarray xgboost xlrd xlsxwriter xmltodict yfinance zarr
"""


def known_distribution(module: str) -> str:
    """Return the distribution that holds a top-level module; "" if unknown."""
    return _renamed().get(module) or (normal(module) if module in _ALIKE.split() else "")


def is_known(distribution: str) -> bool:
    """Return True if a distribution, by its normalized name, is in the tables above."""
    return distribution in (*_renamed().values(), *map(normal, _ALIKE.split()))


def _renamed() -> dict[str, str]:
    return dict(pair.split("=") for pair in _OTHERWISE.split())


def normal(name: str) -> str:
    """Return a distribution's normalized name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


_VARIABLES = ("PIP_FIND_LINKS", "UV_FIND_LINKS")


def wheel_modules(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the top-level modules in wheels of `--find-links` folders, with their distributions."""
    found: dict[str, str] = {}
    for folder in _folders(environ):
        for wheel in sorted(folder.glob("*.whl")):
            distribution = wheel.name.partition("-")[0].replace("_", "-")
            found |= dict.fromkeys(_top_level(wheel), distribution)
    return found


def _folders(environ: Mapping[str, str]) -> Iterator[Path]:
    for variable in _VARIABLES:
        # uv separates by commas, pip by spaces; both take URLs, of which only file: is read.
        for word in environ.get(variable, "").replace(",", " ").split():
            path = Path(unquote(urlparse(word).path)) if word.startswith("file:") else Path(word)
            if path.is_dir():
                yield path


def _top_level(wheel: Path) -> Iterator[str]:
    import zipfile  # noqa: PLC0415  (with what it imports 0.4 MB, and few have wheels)

    try:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return
    for name in names:
        top, _, rest = name.partition("/")
        if rest and not top.endswith((".dist-info", ".data")):
            yield top
        elif not rest and top.endswith(".py"):
            yield top.removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the top-level modules that code imports, in order, including the standard library."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
