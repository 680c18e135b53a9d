"""Reports that code can forge, and the stacks that faulthandler writes."""

from typing import Any

import pytest

from terp.events.outputs import Held, StoppedAt, VariableChange
from terp.kernels.jupyter.reports import changes_in, failed_in, more_in, stopped_in, stopped_in_stack


def test_changes_and_places_are_read() -> None:
    row = ["new", "df", "DataFrame", [3, 2], 100]
    assert changes_in({"changes": [row]}) == (VariableChange("df", "new", "DataFrame", (3, 2), 100),)
    told = {
        "line": 3,
        "function": "f",
        "source": "x",
        "inside": "",
        "run": 2,
        "file": "",
        "values": [["i", "1"]],
    }
    assert stopped_in({"stopped": told}) == StoppedAt(3, "f", "x", run=2, values=(Held("i", "1"),))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("password", "'swordfish'"),
        ("apiKey", "'abc'"),
        ("my_llm_credential", "'abc'"),
        ("dsn", "b'abc'"),
        ("pwd", "'abc'"),
        ("x", "'Bearer abcdefgh'"),
        ("x", "'sk-abcdefghijklmnop'"),
        ("x", "'https://me:swordfish@host/a'"),
        ("x", "'Xy7Kd02mQz81LpRt55Ab'"),
        ("x", "'5f4dcc3b5aa765d61d8327deb882cf99'"),
    ],
)
def test_text_that_may_be_secret_is_told_by_type_and_length(name: str, text: str) -> None:
    told = {"values": [[name, text, "str of 9"], ["same", text, "str of 9"]]}
    assert failed_in({"failed": told})["held"] == (Held(name, "str of 9"), Held("same", "str of 9"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("species", "'setosa'"),
        ("monkey", "'abc'"),
        ("key_file", "'a.pem'"),
        ("path", "'/home/User1/Sales_2025_final.csv'"),
        ("path", "'Sales_2025_final_Q3_northern.csv'"),
        ("at", "'2026-01-01T00:00:00+00:00'"),
        ("what", "'a sentence with 12 words, or Fewer'"),
    ],
)
def test_other_text_is_told(name: str, text: str) -> None:
    assert failed_in({"failed": {"values": [[name, text, "str of 9"]]}})["held"] == (Held(name, text),)


@pytest.mark.parametrize(
    "told",
    [
        None,
        7,
        "new",
        {},
        [7],
        [["new"]],
        [["bought", "x", "int", [], 1]],
        [["new", 7, "int", [], 1]],
        [[["new"], "x", "int", [], 1]],
        [["new", "x", 7, 7, "large"]],
        [["new", "x", "int", ["a", -1], -1]],
    ],
)
def test_a_forged_report_is_read_as_far_as_it_makes_sense(told: Any) -> None:
    assert changes_in({"changes": told}) in (
        (),
        (VariableChange("x", "new"),),
        (VariableChange("x", "new", "int"),),
    )
    assert more_in({"more": told}) in (0, 7)
    assert stopped_in({"stopped": told}) is None
    assert stopped_in({"stopped": {"line": told}}) in (None, StoppedAt(7))


STACK = """Current thread 0x00007f3c (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 331 in wait
  File "/tmp/ipykernel_12/{inner}.py", line 2 in hold
  File "/tmp/ipykernel_12/7.py", line 3 in <module>
  File "/x/site-packages/IPython/core/interactiveshell.py", line 3500 in run_code
"""


def test_a_stack_tells_the_innermost_line_of_a_cell() -> None:
    code = "def hold():\n    lock.wait()\nhold()"
    found = StoppedAt(2, "hold", "lock.wait()", "wait")
    assert stopped_in_stack(STACK.format(inner=7), code) == found
    elsewhere = StoppedAt(2, "hold", inside="wait", file="an earlier run")
    assert stopped_in_stack(STACK.format(inner=6), code) == elsewhere
    assert stopped_in_stack('  File "/usr/lib/x.py", line 1 in f\n', code) is None
