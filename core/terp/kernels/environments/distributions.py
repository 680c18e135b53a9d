"""Which distribution to install for a module.

A name that merely happens to be on PyPI is never guessed: anybody can register one, and installing runs it.
"""

import re

# Modules whose distribution has another name; from the metadata of the distributions on PyPI.
_OTHERWISE = {
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "IPython": "ipython",
    "OpenSSL": "pyopenssl",
    "PIL": "pillow",
    "PyPDF2": "pypdf2",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cairo": "pycairo",
    "cpuinfo": "py-cpuinfo",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "discord": "discord-py",
    "dns": "dnspython",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "flask_cors": "flask-cors",
    "git": "gitpython",
    "github": "pygithub",
    "googleapiclient": "google-api-python-client",
    "jose": "python-jose",
    "jwt": "pyjwt",
    "kafka": "kafka-python",
    "ldap": "python-ldap",
    "lightning": "lightning",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "mysql": "mysql-connector-python",
    "MySQLdb": "mysqlclient",
    "multipart": "python-multipart",
    "nacl": "pynacl",
    "osgeo": "gdal",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "pylab": "matplotlib",
    "pythoncom": "pywin32",
    "rest_framework": "djangorestframework",
    "ruamel": "ruamel-yaml",
    "sentence_transformers": "sentence-transformers",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "socks": "pysocks",
    "speech_recognition": "speechrecognition",
    "talib": "ta-lib",
    "telegram": "python-telegram-bot",
    "tlz": "toolz",
    "usb": "pyusb",
    "websocket": "websocket-client",
    "wx": "wxpython",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
    "umap": "umap-learn",
    "Levenshtein": "levenshtein",
    "Xlib": "python-xlib",
}

# Modules that are called like their distributions, which many people use.
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
    """The distribution that holds a top-level module; "" when that is not known."""
    return _OTHERWISE.get(module) or (normal(module) if module in _ALIKE.split() else "")


def is_known(distribution: str) -> bool:
    """Whether a distribution, by its normal name, is one of those above."""
    return distribution in (*_OTHERWISE.values(), *map(normal, _ALIKE.split()))


def normal(name: str) -> str:
    """A distribution's name as the index compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
