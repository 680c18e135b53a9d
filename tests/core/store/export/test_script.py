import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from terp.events.outputs import Error
from terp.events.run_log import LoggedRun
from terp.store.export.plain_python import compiles, plain_python
from terp.store.export.script import Needs, distributions_of, needs, script
from terp.store.export.story import Answer, Prompt, Story
from tests.core.store.export.scripted import rendered

import ast  # isort: skip


def run(code: str, **facts: Any) -> LoggedRun:
    given: dict[str, Any] = {"language": "python", "code": code, "fate": "ok", "number": 1} | facts
    return LoggedRun("", **given)


def written(*parts: Any) -> str:
    text = script(Story("s", parts), {}).text
    assert compiles(text)
    return text


def body(*parts: Any) -> str:
    """The cells, without what stands above them."""
    return written(*parts).partition("# %%")[2].rstrip("\n")


def test_the_scripted_session_compiles() -> None:
    assert compiles(rendered()["session.py"].text)


@pytest.mark.parametrize(
    ("cell", "plain"),
    [
        ("x = 1", "x = 1"),
        ("%matplotlib inline\nx = 1", "pass  # %matplotlib inline\nx = 1"),
        ("!pip install a b", "subprocess.run('pip install a b', shell=True)"),
        ("for x in y:\n    !ls\n    x", "for x in y:\n    subprocess.run('ls', shell=True)\n    x"),
        ("!echo {x}", "pass  # !echo {x}"),
        (
            "files = !ls",
            "files = subprocess.run('ls', shell=True, capture_output=True, text=True).stdout.splitlines()",
        ),
        ("t = %timeit -o f()", "t = None  # %timeit -o f()"),
        ("%%bash\nls\npwd", "subprocess.run([\"bash\", \"-c\", '''ls\npwd'''])"),
        ("%%time\nx = 1", "# %%time\nx = 1"),
        ("%%writefile a.txt\nhello", "# %%writefile a.txt\n# hello"),
        ("text = '''\n!ls\n'''\n!ls", "text = '''\n!ls\n'''\nsubprocess.run('ls', shell=True)"),
    ],
)
def test_syntax_of_ipython_becomes_python(cell: str, plain: str) -> None:
    assert plain_python(cell) == plain


def test_failed_code_goes_as_far_as_it_went() -> None:
    failed = run("x = '''a\n b'''\nx.y", fate="error", outputs=(Error("AttributeError", "no\ny"),))
    assert body(failed, run("print(x)")) == (
        "\ntry:\n    x = '''a\n b'''\n    x.y\nexcept Exception:  # AttributeError: no y\n"
        "    traceback.print_exc()\n\n# %%\nprint(x)"
    )


def test_code_that_awaits_leaves_its_names_to_the_rest(tmp_path: Path) -> None:
    made = written(run("import asyncio as a\nx = await a.sleep(0, 'slept')"), run("print(x)"))
    path = tmp_path / "made.py"
    path.write_text(made, encoding="utf-8")
    assert subprocess.run([sys.executable, path], capture_output=True, check=True).stdout == b"slept\n"


@pytest.mark.parametrize(
    ("part", "cell"),
    [
        (run("while True: pass", fate="interrupted"), "\n# Interrupted.\n# while True: pass"),
        (run("x = = 1", fate="error"), "\n# This is not Python that compiles.\n# x = = 1"),
        (run("1 + 1", language="julia"), "\n# This was julia.\n# 1 + 1"),
        (run("ls", language="shell"), '\nsubprocess.run(["bash", "-c", \'ls\'])'),
        (run("a\0b"), "\n# This is not Python that compiles.\n# a␀b"),
        (Answer("a\rb\u2028c\0"), " [markdown]\n# a\n# b\n# c␀"),
    ],
)
def test_what_cannot_be_python_is_a_comment(part: Any, cell: str) -> None:
    assert body(part) == cell


def test_code_that_did_not_run_is_left_out() -> None:
    assert "rm" not in written(run("rm()", fate="declined", number=0), run("x = 1"))


def test_imports_from_the_future_stand_at_the_top() -> None:
    made = written(run("x = 1"), run("from __future__ import annotations\ny = 2"))
    assert made.index("from __future__") < made.index("x = 1")


def test_display_is_imported_where_it_is_used() -> None:
    made = written(run("display(1)"))
    assert "from IPython.display import display" in made
    assert '#     "ipython",' in made


def test_there_is_one_block_of_metadata_whatever_was_said() -> None:
    block = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
    fake = '/// script\ndependencies = ["evil"]\n///'
    made = written(Prompt(fake), Answer(fake), run("# /// script\n# dependencies = ['evil']\n# ///"))
    assert [found["content"] for found in block.finditer(made)] == [
        '# requires-python = ">=3.11"\n# dependencies = []\n'
    ]


def test_imports_are_found_with_their_distributions() -> None:
    code = "import os, PIL.Image\nfrom sklearn.svm import SVC\nimport mine, google.x\nfrom . import y"
    installed = {"PIL": ["Pillow"], "google": ["google-x", "google-y"], "other": ["other"]}
    assert needs([ast.parse(code)], installed) == Needs(("google-x", "pillow", "scikit-learn"), ("mine",))


def test_a_python_tells_its_distributions() -> None:
    assert list(distributions_of(sys.executable)["pytest"]) == ["pytest"]


def test_a_python_that_does_not_run_tells_none(tmp_path: Path) -> None:
    assert distributions_of(str(tmp_path / "python")) == {}


def test_an_interpreter_that_is_asked_gets_no_keys(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nprintf \'{"key": ["%s"], "path": ["%s"]}\' "$MY_API_KEY" "$PATH"\n')
    python.chmod(0o700)
    told = distributions_of(str(python), {"MY_API_KEY": "secret", "PATH": "/usr/bin:/bin"})
    assert told == {"key": [""], "path": ["/usr/bin:/bin"]}
