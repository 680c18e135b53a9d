from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.session.replay.passing import alike

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


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
