"""`terp cost`, and limits of money in a pipeline."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from terp.events import UsageReported
from terp.session.cost.ledger import Ledger
from tests.cli.running import Result, Terp
from tests.loopback import Call

NOON = 1_795_348_800.0
PRICED = ("--input-price", "100000", "--output-price", "100000")
ONE = {"calls": 1, "input_tokens": 1_000, "output_tokens": 20, "cached_tokens": 400, "unpriced_calls": 0}


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


def note(terp: Terp, profile: str, model: str, usd: float | None, days: int = 0) -> None:
    ledger = Ledger(terp.home / "usage", lambda: NOON + days * 86_400)
    ledger.add(profile, "s1", UsageReported(1_000, 20, 400, usd, model, 1.5))


@pytest.fixture
def spent(terp: Terp) -> Terp:
    note(terp, "work", "openai/a", 0.5, -40)
    note(terp, "work", "openai/a", 0.25)
    note(terp, "work", "openai/a", 1.0, 1)
    note(terp, "work", "openai/b", 0.125)
    note(terp, "default", "mine/llama", None)
    return terp


def test_a_month_is_told_by_profile_and_model(spent: Terp) -> None:
    result = spent("cost", "month", "2026-11")
    assert result.out.splitlines() == [
        "profile   model       requests  sent   cached  received  seconds  cost",
        "default   mine/llama  1         1,000  400     20        1.5      not known",
        "work      openai/a    2         2,000  800     40        3.0      $1.25",
        "work      openai/b    1         1,000  400     20        1.5      $0.1250",
        "together              4         4,000  1,600   80        6.0      $1.38, and 1 request not known",
    ]


def test_days_and_months_have_their_sums(spent: Terp) -> None:
    days = [line.split() for line in spent("cost", "days", "2026-11").out.splitlines()]
    assert [(line[0], line[1], line[-1]) for line in days[1:-1]] == [
        ("2026-11-22", "default", "known"),
        ("2026-11-22", "work", "$0.3750"),
        ("2026-11-23", "work", "$1.00"),
    ]
    months = [line.split() for line in spent("cost", "all").out.splitlines()]
    assert [(line[0], line[1], line[2]) for line in months[1:-1]] == [
        ("2026-10", "work", "1"),
        ("2026-11", "default", "1"),
        ("2026-11", "work", "3"),
    ]


def test_json_has_the_rows_and_their_sum(spent: Terp) -> None:
    told = json.loads(spent("cost", "month", "2026-10", "--json").out)
    one = {**ONE, "cost_usd": 0.5, "seconds": 1.5}
    assert told == {"version": 1, "rows": [{"profile": "work", "model": "openai/a", **one}], "total": one}
    unknown = json.loads(spent("cost", "month", "2026-11", "--json").out)["total"]
    assert (unknown["cost_usd"], unknown["unpriced_calls"]) == (None, 1)


def test_a_month_without_calls_and_one_that_is_none_are_told(terp: Terp) -> None:
    assert terp("cost") == Result(0, "", "terp: no model was called in that time.\n")
    wrong = terp("cost", "month", "2026-13")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.notes.startswith("terp: terp cost: '2026-13' is no month, such as 20")


def test_a_file_that_cannot_be_read_is_named(terp: Terp) -> None:
    month = time.strftime("%Y-%m")
    (terp.home / "usage" / f"{month}.jsonl").mkdir(parents=True)
    result = terp("cost")
    assert (result.code, result.out) == (1, "")
    assert result.notes == (
        f"terp: What was spent cannot be read: Is a directory ({terp.home}/usage/{month}.jsonl).\n"
    )


def total(terp: Terp) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(terp("cost", "--json").out)["total"]
    return found


def test_a_call_that_the_budget_does_not_allow_is_never_sent(terp: Terp) -> None:
    result = terp.asked(["never"], "-y", "--max-budget", "1", *PRICED, "hi")
    assert (result.code, result.out, result.requests) == (4, "", [])
    assert result.notes.startswith(
        "terp: Stopped: $0.00 of $1.00 is spent (max_budget), and the next request would cost about $"
    )
    assert result.notes.endswith(" or more. Raise --max-budget to continue.\n")
    assert total(terp)["calls"] == 0


def test_a_session_that_goes_on_has_spent_what_it_had_spent(terp: Terp) -> None:
    prices = ("--input-price", "0", "--output-price", "100000")
    first = terp.asked([[Call(code="1")], "ok"], "-y", "--json", *prices, "hi")
    again = terp.asked(["more"], "-y", "-c", "--json", *prices, "and?")
    used = [json.loads(result.out) for result in (first, again)]
    assert [one["usage"]["cost_usd"] for one in used] == [1.0, 0.5]
    assert [one["session_usage"]["cost_usd"] for one in used] == [1.0, 1.5]
    over = terp.asked(["never"], "-y", "-c", "--json", "--max-budget", "1.5", *prices, "and?")
    assert (over.code, over.requests, json.loads(over.out)["stop_reason"]) == (4, [], "max_budget")
    assert total(terp)["cost_usd"] == 1.5


def test_what_a_profile_may_cost_in_a_month_counts_for_all_its_sessions(terp: Terp) -> None:
    (terp.home / "profiles").mkdir()
    (terp.home / "profiles" / "work.yaml").write_text("max_month_usd: 1\n")
    prices = ("--input-price", "0", "--output-price", "100000")
    codes = [terp.asked(["ok"], "-p", "work", *prices, "hi").code for _ in range(2)]
    over = terp.asked(["never"], "-p", "work", *prices, "hi")
    other = terp.asked(["ok"], *prices, "hi")
    assert (codes, over.code, over.requests, other.code) == ([0, 0], 4, [], 0)
    assert "$1.00 of $1.00 is spent by the profile 'work' this month (max_month_usd)" in over.notes
