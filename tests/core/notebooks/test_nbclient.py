"""The notebooks with which nbclient tests itself, run through a session: the outputs must be the same.

They are not ours, so they are fetched when the tests run, from the source distribution of a fixed version.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tarfile
from contextlib import aclosing
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import canonicalize

import pytest
from filelock import FileLock

from terp.events import Printed
from terp.kernels.jupyter.local import LocalKernels
from terp.person import Nobody
from terp.session.session import Session
from terp.store.export.notebook import notebook
from terp.store.export.story import story_of
from terp.testing import ScriptedModel

VERSION = "0.10.4"
NOTEBOOKS = (
    "Clear Output", "Empty Cell", "Error", "Factorials", "HelloWorld", "Inline Image", "Other Comms", "SVG",
    "Skip Exceptions with Cell Tags", "Skip Exceptions", "Skip Execution with Cell Tag", "Unicode",
    "UnicodePy3", "update-display-id",
)  # fmt: skip
ENDLESS = "while True: continue"
# Said before it: an interrupt that comes sooner ends the cell before its code has begun.
TELLS, TOLD = "print('begun', flush=True)\n", ["begun\n"]


@pytest.fixture(scope="session")
def files(pytestconfig: pytest.Config) -> Path:
    """The folder of the notebooks, fetched once."""
    assert pytestconfig.cache is not None
    home = pytestconfig.cache.mkdir(f"nbclient-{VERSION}")
    found = home / f"nbclient-{VERSION}/tests/files"
    # The other workers wait for the first.
    with FileLock(home / "lock"):
        if not found.is_dir():
            fetch = ["download", "--quiet", "--no-deps", "--no-binary", "nbclient", "--dest", str(home)]
            # Tests reach no index; this fetches what they need, from where the packages came.
            environ = {name: value for name, value in os.environ.items() if name != "PIP_NO_INDEX"}
            pip = [sys.executable, "-m", "pip", *fetch, f"nbclient=={VERSION}"]
            subprocess.run(pip, check=True, env=environ)
            with tarfile.open(home / f"nbclient-{VERSION}.tar.gz") as archive:
                archive.extractall(home, filter="data")
    return found


async def outputs_of(cells: list[dict[str, Any]], files: Path, folder: Path) -> list[list[Any]]:
    """What the code of each cell puts out, as a notebook of the session tells it."""
    session = Session(ScriptedModel(), LocalKernels(str(files)), Nobody(), folder=folder)
    try:
        for cell in cells:
            code = "".join(cell["source"])
            endless = code == ENDLESS
            async with aclosing(session.run("python", TELLS + code if endless else code)) as events:
                async for event in events:
                    if isinstance(event, Printed) and endless:
                        asyncio.get_running_loop().create_task(session.interrupt())
        story = story_of(session.log.since(0), session.folder)
    finally:
        await session.aclose()
    book = json.loads(notebook(story).text)
    return [
        [comparable(output) for output in cell["outputs"] if output.get("text") != TOLD]
        for cell in book["cells"]
        if cell["cell_type"] == "code"
    ]


def comparable(output: dict[str, Any]) -> Any:
    """What of an output must be the same in every run."""
    match output["output_type"]:
        case "stream":
            return output["name"], "".join(output["text"])
        case "error":
            return output["ename"], output["evalue"]
        case kind:
            return kind, {mime: _joined(mime, value) for mime, value in output["data"].items()}


def _joined(mime: str, value: Any) -> Any:
    text = "".join(value) if isinstance(value, list) else value
    if mime == "image/svg+xml":
        # The order of attributes is Python's choice, and another one in 3.7 and before.
        return canonicalize(text, strip_text=True)
    return re.sub(r"0x[0-9a-f]+|\s+", "", text) if isinstance(text, str) else text


def expected(cells: list[dict[str, Any]]) -> list[list[Any]]:
    return [[comparable(output) for output in cell["outputs"]] for cell in cells]


def code_cells(files: Path, name: str) -> list[dict[str, Any]]:
    book = json.loads((files / f"{name}.ipynb").read_text(encoding="utf-8"))
    return [
        cell
        for cell in book["cells"]
        if cell["cell_type"] == "code" and "skip-execution" not in cell["metadata"].get("tags", ())
    ]


@pytest.mark.parametrize("name", [*NOTEBOOKS, "Interrupt"])
async def test_a_notebook_puts_out_what_it_says(files: Path, tmp_path: Path, name: str) -> None:
    cells = code_cells(files, name)
    assert await outputs_of(cells, files, tmp_path / "session") == expected(cells)
