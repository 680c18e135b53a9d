"""%terp in JupyterLab itself, in a browser: ask, approve, plot, error, recover, interrupt, buttons, resume.

JupyterLab is none of terp's packages: `JUPYTERLAB` names the `jupyter` of an environment that has it with
ipywidgets and matplotlib, or it is on PATH. `JUPYTERLAB_PICTURES` is a folder for pictures of each step.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.notebook.driven import surroundings
from tests.cli.running import ROOT, Terp
from tests.loopback import Call, Loopback

if TYPE_CHECKING:
    from playwright.sync_api import Page

JUPYTER = os.environ.get("JUPYTERLAB") or shutil.which("jupyter-lab")
PICTURES = os.environ.get("JUPYTERLAB_PICTURES")
TOKEN = "a-token-for-the-tests-of-the-notebook"
WAIT_MS = 30_000
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()"
LOOP = "import time\nfor i in range(600):\n    print(i, flush=True)\n    time.sleep(0.1)"
NOTEBOOK = {
    "cells": [],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not JUPYTER, reason="there is no JupyterLab"),
    pytest.mark.skipif(not shutil.which("chromium"), reason="there is no chromium"),
]


class Lab:
    """A notebook that is open in JupyterLab."""

    def __init__(self, page: "Page", model: Loopback) -> None:
        self.page = page
        self.model = model
        self._pictures = self._answered = 0

    def run(self, source: str) -> None:
        """Run the last cell with this source."""
        cells = self.page.locator(".jp-Notebook .jp-Cell")
        count = cells.count()
        cells.last.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)
        self.page.keyboard.press("Shift+Enter")
        cells.nth(count).wait_for()

    def see(self, text: str) -> None:
        """Wait until the notebook has this text."""
        self.page.locator(f".jp-OutputArea :text({text!r})").first.wait_for(timeout=WAIT_MS)

    def type(self, answer: str) -> None:
        """Answer the next question, as a person would: not in the moment in which it appears."""
        self._answered += 1
        while self.page.locator(".jp-Notebook").inner_text().count("Run it?") < self._answered:
            self.page.wait_for_timeout(50)
        self.page.wait_for_timeout(500)
        box = self.page.locator("input.jp-Stdin-input")
        box.fill(answer)
        box.press("Enter")

    def picture(self) -> None:
        """Keep a picture of the page for a person."""
        self._pictures += 1
        if PICTURES:
            self.page.screenshot(path=Path(PICTURES) / f"{self._pictures}.png")


def _free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    from playwright.sync_api import sync_playwright

    terp, port = Terp(tmp_path), _free_port()
    (terp.cwd / "try.ipynb").write_text(json.dumps(NOTEBOOK))
    jupyter = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    # The kernel has `terp` and nothing that it needs: the process runs in the Python of the `terp` on PATH.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with Loopback([], chunk=6, pause_s=0.01) as model, (tmp_path / "log").open("w") as log:
        environ = {**surroundings(terp, model), **jupyter, "PYTHONPATH": str(ROOT / "core"), "PATH": path}
        server = subprocess.Popen(
            [
                *(str(JUPYTER), *(["lab"] if Path(str(JUPYTER)).name == "jupyter" else [])),
                *("--no-browser", "--allow-root", f"--ServerApp.port={port}"),
                *(f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={terp.cwd}"),
            ],
            env=environ,
            stdout=log,
            stderr=log,
        )
        try:
            _wait_for(port)
            with sync_playwright() as drive:
                browser = drive.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                )
                page = browser.new_page(viewport={"width": 1200, "height": 1000})
                page.set_default_timeout(WAIT_MS)
                page.goto(f"http://127.0.0.1:{port}/lab/tree/try.ipynb?token={TOKEN}")
                page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=2 * WAIT_MS)
                page.get_by_text("| Idle").first.wait_for()
                one = Lab(page, model)
                one.run("%load_ext terp")
                # While a kernel connects, JupyterLab sends cells in no certain order.
                page.locator(".jp-InputPrompt:has-text('[1]')").wait_for()
                try:
                    yield one
                finally:
                    one.picture()
        finally:
            server.terminate()
            server.wait(20)


def _wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError("JupyterLab does not answer")


def test_ask_approve_plot_error_recover_interrupt_and_buttons(lab: Lab) -> None:
    lab.model.script[:] = [
        ["I **plot** it.", Call(code=PLOT)],
        ["", Call(code="total = nope + 1")],
        ["Once more.", Call(code="total = 5\ntotal")],
        "The total is five.",
        ["", Call(code="z = 7 * 6\nz")],
        "Forty-two it is.",
        ["", Call(code=LOOP)],
        ["", Call(code="b = 'button'\nb")],
        "It was pressed.",
    ]
    lab.run("%terp plot it, then what is the total?")
    lab.page.locator("input.jp-Stdin-input").wait_for()
    lab.picture()
    lab.type("y")
    lab.page.locator(".jp-OutputArea img").first.wait_for()
    lab.type("y")
    lab.see("NameError")
    lab.see("Once more.")
    lab.type("y")
    lab.see("The total is five.")
    lab.picture()

    lab.run("%terp multiply")
    lab.type("c")
    lab.see("Run the next cell")
    lab.picture()
    inserted = lab.page.locator(".jp-Notebook .jp-Cell .cm-content").filter(has_text="z = 7 * 6")
    inserted.click()
    lab.page.keyboard.press("Shift+Enter")
    lab.see("Forty-two it is.")
    lab.picture()

    lab.run("%terp loop")
    lab.type("y")
    lab.page.wait_for_function("document.querySelector('.jp-Notebook').innerText.includes('\\n2\\n3\\n')")
    lab.page.locator("[data-command='notebook:interrupt-kernel']").click()
    lab.see("Interrupted. Variables are kept.")
    lab.picture()

    lab.run("%terp --by button")
    lab.run("%terp press")
    lab.page.locator("button:has-text('Run here')").wait_for()
    lab.picture()
    lab.page.locator("button:has-text('Run here')").click()
    lab.see("It was pressed.")
    lab.picture()
    assert [one["messages"][-1]["role"] for one in lab.model.requests][-1] == "tool"


def test_a_conversation_is_saved_with_the_notebook_and_resumed(lab: Lab) -> None:
    lab.model.script[:] = ["Noted.", "It was that."]
    lab.run("%terp remember the word banana")
    lab.see("Noted.")
    lab.run("%terp --save")
    lab.see("is in the metadata of this output")
    lab.page.keyboard.press("Control+S")
    lab.page.get_by_text("Saving completed").wait_for()
    lab.run("%reload_ext terp")
    lab.run("%terp --resume")
    lab.see("Resumed a conversation of 1 turn,")
    lab.run("%terp say the word")
    lab.see("It was that.")
    assert "banana" in str(lab.model.requests[-1]["messages"])
