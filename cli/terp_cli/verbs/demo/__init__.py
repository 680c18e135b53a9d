"""The parts of `terp demo`: a data set, a prompt, and the model's replies as a recording."""

import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from terp.settings.installation import install_extra

RECORDING = Path(__file__).parent / "demo.jsonl"
PROMPT = "Which measurements in iris.csv tell the species apart, and how well? Draw it."
INTRODUCTION = """\
The model of this tour is a recording: it needs no key and no network.
The kernel is real: the code runs here, and its first attempt fails by itself."""
FAREWELL = "The tour ends here: a recording cannot continue from your answer, as a model would."
CONTINUES = "The recording ends here; the variables are there, and {model} answers from now on."
TO_TRY = (
    'Try: "which flower is the least typical of its species?" · /vars · /why guess · >>> iris.describe() · '
    "/rewind"
)
TO_BEGIN = 'To ask yourself: terp asks for a key, or finds a local server. Try: terp "what is in iris.csv?"'
_DATA = Path(__file__).parent / "iris.csv"
_NEEDED = ("matplotlib", "pandas")


def lacking() -> str:
    """Return the missing packages as one line with the command to install them; "" if none is missing."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if not missing:
        return ""
    return f"terp demo needs {' and '.join(missing)}: {install_extra('demo')}"


def new_folder(parent: Path) -> Path:
    """Make a folder with the data: `terp-demo` in `parent`, with a number if that name is taken.

    If `parent` cannot be written, it is a temporary folder.
    """
    try:
        folder = _made(parent)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="terp-demo-"))
    (folder / _DATA.name).write_bytes(_DATA.read_bytes())
    return folder


def picture(files: Iterable[str], folder: Path) -> str:
    """Return the path of the picture that the tour wrote; "" if it wrote none."""
    return next((path for path in files if path.endswith(".png") and Path(path).parent == folder), "")


def _made(parent: Path) -> Path:
    number, folder = 1, parent / "terp-demo"
    while folder.exists():
        number += 1
        folder = parent / f"terp-demo-{number}"
    folder.mkdir()
    return folder.resolve()
