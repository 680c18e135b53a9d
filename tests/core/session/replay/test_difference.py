import base64
import struct
import zlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events.outputs import Display, Error, Omitted, Output, Text
from terp.session.replay.difference import alike, difference
from tests.core.store.export.scripted import png

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def picture(encoded: str) -> Display:
    return Display({"image/png": encoded, "text/plain": "<Figure size 640x480 with 1 Axes>"})


def with_note(encoded: str, note: bytes) -> str:
    """The picture with a text chunk before its end."""
    content = base64.b64decode(encoded)
    chunk = b"tEXt" + b"Software\0" + note
    told = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return base64.b64encode(content[:-12] + told + content[-12:]).decode()


def test_the_same_is_no_difference() -> None:
    outputs: list[Output] = [Text("stdout", "a\n"), picture(png()), Error("E", "x", ("line 3",))]
    assert difference(outputs, outputs, "run 1") == ""


def test_only_what_differs_is_shown() -> None:
    then = [Text("stdout", "<A at 0x7f0000000001>\n1\n2\n")]
    now = [Text("stdout", "<A at 0x7f0000000002>\n1\n3\n")]
    expected = "--- run 1 then\n+++ run 1 now\n@@ -2,2 +2,2 @@\n 1\n-2\n+3"
    assert difference(then, now, "run 1") == expected


def test_a_line_more_does_not_hide_what_passes() -> None:
    then = [Text("stdout", "<A at 0x7f0000000001>\nend\n")]
    now = [Text("stdout", "new\n<A at 0x7f0000000002>\nend\n")]
    expected = "--- run 1 then\n+++ run 1 now\n@@ -1 +1,2 @@\n+new\n <A at 0x7f0000000001>"
    assert difference(then, now, "run 1") == expected


def test_pictures_differ_by_their_size_and_hash() -> None:
    told = difference([picture(png(8, 4))], [picture(png(9, 4))], "run 1").splitlines()
    changed = [line.rpartition(" ")[0] for line in told if line[1:].startswith("[image")]
    assert changed == ["-[image/png 8×4", "+[image/png 9×4"]


def test_what_a_picture_says_about_itself_is_no_difference() -> None:
    then, now = with_note(png(), b"Matplotlib 3.9"), with_note(png(), b"Matplotlib 3.10")
    assert difference([picture(then)], [picture(now)], "run 1") == ""


def test_stderr_is_not_in_step_with_stdout() -> None:
    out, err = Text("stdout", "a\n"), Text("stderr", "b\n")
    assert difference([out, err], [err, out], "run 1") == ""


def test_a_traceback_is_its_last_line() -> None:
    then, now = Error("ValueError", "bad", ("File /a",)), Error("ValueError", "bad", ("File /b",))
    assert difference([then], [now], "run 1") == ""
    assert "+ValueError: worse" in difference([then], [Error("ValueError", "worse")], "run 1")


def test_how_much_was_left_out_is_no_difference() -> None:
    assert difference([Omitted(10, 2, True)], [Omitted(11, 2, True)], "run 1") == ""


def test_a_long_difference_is_cut() -> None:
    now = [Text("stdout", "".join(f"{n}\n" for n in range(1000)))]
    assert difference([], now, "run 1").splitlines()[-1] == "… 803 more lines"


def test_text_is_compared_as_it_was_kept() -> None:
    then, now = [Text("stdout", "key [redacted]\n")], [Text("stdout", "key abc\n")]
    assert difference(then, now, "run 1", as_kept=lambda text: text.replace("abc", "[redacted]")) == ""


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("<A object at 0x7f12ab34cd56>", "<A object at 0x7f0000000010>"),
        ("id 6f1c1f0e-23c1-4c5e-9a55-0a5a3f0a7f10", "id 00000000-0000-4000-8000-000000000000"),
        ("wrote /tmp/tmpab12/x.csv", "wrote /tmp/tmpzz99/x.csv"),
        ("took 1.25 s", "took 0.9 s"),
        ("Wall time: 10 \u03bcs", "Wall time: 1.3 ms"),
        ("Wall time: 1min 3s", "Wall time: 850 ms"),
        (
            "59 \u00b5s ± 1 \u00b5s per loop (mean ± std. dev. of 7 runs, 10,000 loops each)",
            "1 ms ± 24 ns per loop (mean ± std. dev. of 7 runs, 1 loop each)",
        ),
        ("pid 4711", "pid 12"),
        ("at 2025-01-02 10:00:00.12", "at 2026-11-22 11:59:58.99"),
        ("day 2025-01-02", "day 2026-11-22"),
        ("time 1735800000.25", "time 1795348800.5"),
        ("time 1735800000250", "time 1795348800500"),
        ("1500000000.0", "1500000000.0015001"),
        ("1499999999.9999", "1500000000.0014"),
        ("0.30000000000000004", "0.3"),
        ("mean   0.123456", "mean 0.123457"),
        ("100%|##| 5/5 [00:01<00:00, 4.2it/s]", "100%|##| 5/5 [00:03<00:00, 9.1it/s]"),
    ],
)
def test_what_passes_is_no_difference(then: str, now: str) -> None:
    assert alike(then, now, NOW)


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("total 41", "total 42"),
        ("total 123456.78", "total 123456.79"),
        ("p = 0.5", "p = 0.6"),
        ("0.123456", "0.123458"),
        ("first 2024-01-01", "first 2024-02-01"),
        ("epoch 1535800000", "epoch 1635800000"),
        ("epoch 1535800000.5", "epoch 1635800000.5"),
        ("1500000000", "1500000000.5"),
        ("3", "3.0"),
        ("a", "b"),
        ("nan", "1.5"),
    ],
)
def test_what_does_not_pass_is_one(then: str, now: str) -> None:
    assert not alike(then, now, NOW)


@given(st.text())
def test_every_line_is_like_itself(line: str) -> None:
    assert alike(line, line, NOW)


@given(st.integers(), st.integers())
def test_whole_numbers_are_alike_only_when_equal(then: int, now: int) -> None:
    assert alike(f"n: {then:,}", f"n: {now:,}", NOW) == (then == now)


@given(st.floats(-1e300, 1e300))
def test_a_float_is_like_one_a_rounding_error_away(value: float) -> None:
    assert alike(repr(value), repr(value * (1 + 1e-12)), NOW)
