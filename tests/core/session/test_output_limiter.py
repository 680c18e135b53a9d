from hypothesis import given
from hypothesis import strategies as st

from terp.events.outputs import Display, Omitted, Output, Text
from terp.session import runs
from terp.session.runs import OutputLimiter


def passed(outputs: list[Output]) -> list[Output]:
    limiter = OutputLimiter()
    shown = [item for output in outputs for item in limiter.kept(output)]
    return [*shown, *limiter.ended()]


def test_ordinary_output_passes_unchanged() -> None:
    outputs: list[Output] = [Text("stdout", "a"), Display({}), Text("stderr", "b")]
    assert passed(outputs) == outputs


def test_a_flood_is_its_head_a_count_and_its_tail() -> None:
    line = "x" * 99 + "\n"
    shown = passed([Text("stdout", line * 1000)] * 50)
    texts = [output.text for output in shown if isinstance(output, Text)]
    counts = [output for output in shown if isinstance(output, Omitted)]
    assert sum(len(text) for text in texts[:-1]) == runs.HEAD
    assert len(texts[-1]) == runs.TAIL
    assert sum(count.characters for count in counts) == 5_000_000 - runs.HEAD - runs.TAIL
    assert sum(count.lines for count in counts) == (5_000_000 - runs.HEAD - runs.TAIL) // 100
    assert len(counts) < 10


@given(sizes=st.lists(st.integers(1, 400_000), max_size=12))
def test_every_character_is_shown_or_counted(sizes: list[int]) -> None:
    shown = passed([Text("stdout", "y" * size) for size in sizes])
    seen = sum(len(output.text) for output in shown if isinstance(output, Text))
    counted = sum(output.characters for output in shown if isinstance(output, Omitted))
    assert seen + counted == sum(sizes)
