"""What the model reads of a run."""

import base64
import re
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events.error_text import misplaced
from terp.events.outputs import (
    Clear,
    Display,
    DisplayUpdate,
    Error,
    FileChange,
    Omitted,
    Output,
    RunEnded,
    StoppedAt,
    Text,
    VariableChange,
)
from terp.session.observation import Observation
from terp.text.plain import HeadTail, Lines, settled

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\rIHDR" + struct.pack(">II", 640, 480)).decode()


def told(*outputs: Output, ended: RunEnded | None = None, limit: int = 2000, path: str = "") -> str:
    observation = Observation(limit, "/home/me/project")
    for output in outputs:
        observation.add(output)
    return observation.text(ended or RunEnded("ok"), path)


def test_text_comes_without_colours() -> None:
    assert told(Text("stdout", "\x1b[31mred\x1b[0m \x1b]0;title\x07end\n")) == "red end"


def test_a_progress_bar_is_its_last_state() -> None:
    assert told(Text("stderr", "\r 10%"), Text("stderr", "\r 50%"), Text("stderr", "\r100%\n")) == "100%"


def test_a_carriage_return_before_a_newline_erases_nothing() -> None:
    assert told(Text("stdout", "one\r\ntwo\r\n")) == "one\ntwo"


def test_backspaces_erase() -> None:
    assert settled("abc\x08\x08d") == "ad"


def test_pip_noise_is_left_out_by_line() -> None:
    first, second = (f"Requirement already satisfied: {name} in x\n" for name in ("pandas", "numpy"))
    assert told(Text("stdout", first + second + "KEEP\n")) == f"{first}KEEP"


def test_head_and_tail_are_kept_and_the_rest_counted() -> None:
    text = told(Text("stdout", "H" * 10 + "x" * 5000 + "T" * 10), limit=1000, path="/s/c1.txt")
    assert text.startswith("H" * 10)
    assert text.endswith("T" * 10 + "\n[this output stays in /s/c1.txt]")
    assert "[… 4,021 characters left out …]" in text


def test_a_figure_that_is_shown_and_saved_is_one_picture_with_the_path_of_its_file() -> None:
    saved = "/home/me/project/charts/plot.png"
    shown = Display(
        {"image/png": PNG}, metadata={"terp": {"saved": saved}}, path="/sessions/a/outputs/1-1.png"
    )
    ended = RunEnded(
        "ok", files=(FileChange(saved, "created"), FileChange("/home/me/project/t.csv", "created"))
    )
    told_of = told(shown, ended=ended)
    assert told_of == "[image: charts/plot.png, 640×480]\n[files: created t.csv]"


def test_output_is_cut_between_lines_which_are_counted() -> None:
    lines = [f"line {number:02} {'x' * 40}\n" for number in range(50)]
    note = "[… 46 lines (2,254 characters) left out …]\n"
    text = told(Text("stdout", "".join(lines)), limit=200, path="/s/c1.txt")
    assert text == "".join([*lines[:2], note, *lines[-2:]]).rstrip("\n")


def test_output_that_is_cut_is_read_again_by_the_number_of_its_run() -> None:
    ended = RunEnded("ok", recall="out[4]")
    text = told(Text("stdout", "x" * 93_612), ended=ended, limit=200, path="/s/c1.txt")
    note = '[… 93,412 characters left out; out[4].text has all, out[4].grep("…") searches it …]'
    assert text == f"{'x' * 100}\n{note}\n{'x' * 100}"


def test_a_long_output_says_where_it_stays_when_it_is_shortened_later() -> None:
    ended = RunEnded("ok", recall="out[4]")
    text = told(Text("stdout", "x" * 900), ended=ended, path="/s/c1.txt")
    assert text == f"{'x' * 900}\n[this output stays in out[4]]"


def test_the_model_reads_what_became_of_the_variables_and_where_code_stood() -> None:
    stopped = StoppedAt(3, source="time.sleep(60)", inside="time.sleep")
    ended = RunEnded("interrupted", changes=(VariableChange("x", "new", "int"),), stopped_at=stopped)
    assert told(ended=ended) == (
        "The code printed nothing.\n[interrupted]\n"
        "[it stood at line 3 (in time.sleep): time.sleep(60)]\n[variables: +x int]"
    )


def test_an_error_is_its_own_frames_with_two_lines_around() -> None:
    traceback = (
        "\x1b[31m-----------\x1b[39m",
        "\x1b[31mZeroDivisionError\x1b[39m        Traceback (most recent call last)",
        "Cell In[1], line 5\n      1 a = 1\n      2 b = 2\n      3 c = 3\n      4 d = 4\n----> 5 f(0)\n"
        "      6 e\n",
        "File ~/.pyenv/lib/python3.11/json/decoder.py:353, in raw_decode(self)\n--> 353     raise\n",
        "File /x/site-packages/pandas/core/frame.py:9, in g()\n----> 9 raise\n",
        "File /home/me/project/mine.py:2, in h()\n      1 def h():\n----> 2     1/0\n",
        "ZeroDivisionError: division by zero",
    )
    assert told(Error("ZeroDivisionError", "division by zero", traceback)) == (
        "ZeroDivisionError        Traceback (most recent call last)\n"
        "Cell In[1], line 5\n      3 c = 3\n      4 d = 4\n----> 5 f(0)\n      6 e\n"
        "  [2 library frames]\n"
        "File /home/me/project/mine.py:2, in h()\n      1 def h():\n----> 2     1/0\n"
        "ZeroDivisionError: division by zero"
    )


def test_equal_frames_are_counted() -> None:
    call, frame = "Cell In[1], line 2\n----> 2 f()", "Cell In[1], line 1, in f()\n----> 1 def f(): f()"
    error = Error("RecursionError", "too deep", (call, *[frame] * 2_971, "RecursionError: too deep"))
    assert told(error) == f"{call}\n{frame}\n  [2,970 more equal frames]\nRecursionError: too deep"


@pytest.mark.parametrize(
    "error",
    [
        Error("FileNotFoundError", "[Errno 2] No such file or directory: '/mnt/data/iris.csv'"),
        Error("OSError", "Cannot save file into a non-existent directory: '/mnt/data'"),
    ],
)
def test_a_directory_of_other_systems_gets_a_hint(error: Error) -> None:
    hint = "/mnt/data is not used here. Files are in the working directory, /home/me/project."
    assert told(error) == f"{error.name}: {error.value}\n[{hint}]"


LIBRARY = "File /usr/lib/python3/site-packages/pandas/base.py:9\n----> 9 raise"
CAUSE = "The above exception was the direct cause of the following exception:"


def chained(first: str) -> str:
    """An error that a library has raised, and raised again in the same words for a cell."""
    blocks = (first, "KeyError: 'a'", CAUSE, "Cell In[1], line 1\n----> 1 df['a']", LIBRARY, "KeyError: 'a'")
    return told(Error("KeyError", "'a'", blocks))


def test_an_error_that_a_library_raises_again_in_the_same_words_is_told_once() -> None:
    assert chained(LIBRARY) == "Cell In[1], line 1\n----> 1 df['a']\n  [1 library frame]\nKeyError: 'a'"


def test_an_error_of_code_that_is_raised_again_is_told_with_its_cause() -> None:
    assert chained("Cell In[1], line 5\n----> 5 raise").startswith("Cell In[1], line 5")


@pytest.mark.parametrize(
    ("language", "code", "is_hinted"),
    [
        ("shell", "import pandas as pd\nprint(1)", True),
        ("shell", "ls -la | grep x", False),
        ("shell", "missing-program", False),
        ("python", "import nothing", False),
    ],
)
def test_python_that_fails_in_a_shell_is_named(language: str, code: str, *, is_hinted: bool) -> None:
    assert misplaced(language, code) == (
        "This is Python in a shell: execute it with language python." if is_hinted else ""
    )


def test_an_error_without_a_traceback_is_its_name_and_message() -> None:
    assert told(Error("KeyError", "'Species'")) == "KeyError: 'Species'"


def test_output_before_an_error_is_kept() -> None:
    text = told(Text("stdout", "before"), Error("E", "x"), ended=RunEnded("error"))
    assert text == "before\nE: x"


def test_text_pictures_and_text_stay_in_order() -> None:
    text = told(
        Text("stdout", "A\n"),
        Display({"image/png": PNG, "text/plain": "<Figure>"}, path="/s/1.png"),
        Text("stdout", "B\n"),
        Display({"image/png": PNG}),
    )
    assert text == "A\n[image: /s/1.png, 640×480]\nB\n[image: image/png, 640×480]"


def test_pictures_are_there_for_a_model_with_vision() -> None:
    observation = Observation(1000, "/")
    observation.add(Display({"image/png": PNG}))
    assert [(image.mime, image.data) for image in observation.images] == [("image/png", PNG)]


def test_a_page_is_named_by_its_file() -> None:
    assert told(Display({"text/html": "<script>"}, path="/s/c1-1.html")) == "[html: /s/c1-1.html]"


@pytest.mark.parametrize(
    ("kind", "data", "read"),
    [
        ("text/markdown", "| a |\n|---|\n| 1 |", "| a |\n|---|\n| 1 |"),
        ("text/latex", "$x^2$", "$x^2$"),
        ("application/json", {"größe": [1, None]}, '{"größe": [1, null]}'),
    ],
)
def test_a_display_without_text_of_its_own_is_read_as_its_content(kind: str, data: object, read: str) -> None:
    plain = "<IPython.core.display.Whatever object>"
    assert told(Display({"text/plain": plain, kind: data})) == read


def test_an_object_without_a_readable_form_is_named() -> None:
    assert told(Display({"application/x-odd": "…"})) == "[an object that is shown as application/x-odd]"


def test_cleared_output_is_gone_at_once_or_with_the_next() -> None:
    assert told(Text("stdout", "a\n"), Clear(), Text("stdout", "b\n")) == "b"
    assert told(Text("stdout", "a\n"), Clear(wait=True)) == "a"
    assert told(Text("stdout", "a\n"), Clear(wait=True), Text("stdout", "b\n")) == "b"


def test_a_display_that_was_updated_is_told_as_it_ended() -> None:
    updates = [DisplayUpdate("d", {"text/plain": f"{n}%"}) for n in range(100)]
    assert told(Display({"text/plain": "0%"}, display_id="d"), *updates) == "0%\n99%"


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (RunEnded("ok"), "The code ran; it has no output."),
        (RunEnded("ok", "None"), "The code ran; it has no output, and its last expression is None."),
        (RunEnded("ok", "4"), "The code ran; its last expression, silenced with ';', is 4"),
        (RunEnded("interrupted"), "The code printed nothing.\n[interrupted]"),
        (RunEnded("timeout", note="timed out after 2 s"), "The code printed nothing.\n[timed out after 2 s]"),
    ],
)
def test_silence_is_told_in_words(ended: RunEnded, words: str) -> None:
    assert told(ended=ended) == words


def test_files_are_listed() -> None:
    ended = RunEnded("ok", files=(FileChange("/a", "created"), FileChange("/b", "modified")))
    assert told(ended=ended).endswith("[files: created /a, modified /b]")


def test_files_below_the_directory_in_which_the_run_left_the_kernel_are_named_from_there() -> None:
    files = (FileChange("/w/sub/a", "moved", source="/w/b"), FileChange("/w/subs", "deleted"))
    text = Observation(8_000, "/w").text(RunEnded("ok", files=files), cwd="/w/sub")
    assert text.endswith("[files: moved /w/b to a, deleted /w/subs]")


def test_output_that_was_dropped_is_counted() -> None:
    text = told(Text("stdout", "x\n"), Omitted(1_000_000, 10, spooled=False))
    assert text == "x\n[… 1,000,000 more characters came and were not kept …]"


@given(text=st.text(alphabet="ab\n\r\x08\x1b[31m", max_size=80), cuts=st.lists(st.integers(0, 80)))
def test_lines_settle_the_same_however_the_text_was_cut(text: str, cuts: list[int]) -> None:
    def gathered(pieces: list[str]) -> str:
        lines = Lines()
        return "".join(lines.feed(piece) for piece in pieces) + lines.rest()

    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in pairwise(edges)]
    assert gathered(pieces) == gathered([text])


@given(pieces=st.lists(st.text(alphabet="ab\n", max_size=30), max_size=20), limit=st.integers(1, 60))
def test_head_and_tail_and_what_is_counted_are_the_text(pieces: list[str], limit: int) -> None:
    cut, whole = HeadTail(limit), "".join(pieces)
    for piece in pieces:
        cut.add(piece)
    if len(whole) <= limit:
        assert cut.text() == whole
        return
    found = re.fullmatch(
        r"(.*)\n\[… (?:(\d+) lines? \()?(\d+) characters\)? left out …\]\n(.*)", cut.text(), re.S
    )
    assert found
    end = len(whole) - len(found[4])
    gone = whole[end - int(found[3]) : end]
    head = whole[: end - len(gone)].removesuffix("\n")
    assert (head, gone.count("\n"), whole[end:]) == (found[1], int(found[2] or 0), found[4])
