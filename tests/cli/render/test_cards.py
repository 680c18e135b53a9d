"""The rows that stay of code that was asked about on a card of the prompt."""

from dataclasses import replace

from terp.events import RULE, Answered, CodeDeclined, Event
from terp.events.effects import Effect, Effects
from terp.events.outputs import Text
from tests.cli.drawing import drawn, printed, proposed


def test_code_costs_its_header_and_its_result() -> None:
    asked = [proposed("x = 1\nprint(x)"), Answered("q1", "run", "person"), *printed(Text("stdout", "1\n"))]
    assert drawn(asked, cards=True) == [
        "── python",
        "  1 │ x = 1",
        "  2 │ print(x)",
        "1",
        "✓ ran · 500 ms",
    ]


def test_declined_code_keeps_the_reason() -> None:
    asked: list[Event] = [proposed("x = 1"), CodeDeclined("c1", "use another name")]
    assert drawn(asked, cards=True)[2:] == ["✗ declined: use another name"]


def test_code_that_runs_unasked_has_no_line_on_that() -> None:
    unasked = [proposed("x = 1"), Answered("q1", "run", "auto_run"), *printed()]
    assert drawn(unasked, cards=True)[2:] == ["✓ ran · 500 ms"]


def test_notable_effects_of_code_that_a_rule_approved_are_shown() -> None:
    code = replace(proposed("x"), effects=Effects((Effect("reads"), Effect("network", ("example.org",)))))
    shown = drawn([code, Answered("q1", "run", f"{RULE}shell: ls"), *printed()], cards=True)
    assert shown[2:4] == ["expected: network: example.org", "runs by rule shell: ls"]
