"""Other settings for a session that goes on."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import terp
from terp.errors import NoSandbox, SettingsError
from terp.events import CodeRejected, Event, TurnFinished
from terp.opening.changing import Change, change_settings, restarted_kernels
from terp.session.cost.ledger import Ledger, LedgerAccount
from terp.session.session import Session
from terp.settings import Settings
from tests.core.sessions import of
from tests.loopback import Call, Loopback, Scripted


@asynccontextmanager
async def opened(tmp_path: Path, server: Loopback) -> AsyncIterator[tuple[Session, Settings, dict[str, str]]]:
    """A session that asks `server`, its settings and its environment."""
    environ = {
        "TERP_HOME": str(tmp_path / "home"),
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
        "SHOWN": "yes",
    }
    settings = Settings(
        model="openai/scripted",
        api_base=server.url,
        auto_run=True,
        languages=("python", "html", "svg"),
        retries=0,
    )
    names = ("model", "api_base", "auto_run", "languages", "retries")
    given = {name: getattr(settings, name) for name in names}
    async with terp.open(cwd=tmp_path, environ=environ, **given) as session:
        yield session, settings, environ


async def answers(session: Session, prompt: str) -> list[Event]:
    async with aclosing(session.turn(prompt)) as events:
        return [event async for event in events]


def serving(*script: Scripted) -> Loopback:
    return Loopback(script)


def system(server: Loopback, number: int) -> str:
    return str(server.requests[number]["messages"][0]["content"])


def test_a_change_names_what_differs_and_what_has_to_wait() -> None:
    change = Change(Settings(), Settings(model="a/b", theme="dark", vi_mode=True, origins={"model": "x:1"}))
    assert (change.names, change.later) == (("model", "theme", "vi_mode"), ("theme", "vi_mode"))
    assert (change.touches(["model"]), change.touches(["theme"])) == (True, False)


async def test_the_prompt_the_limits_and_the_model_change_and_the_conversation_stays(tmp_path: Path) -> None:
    with serving("one", "two") as server:
        async with opened(tmp_path, server) as (session, before, environ):
            await answers(session, "first")
            after = replace(before, model="openai/other", instructions="In French.", max_steps=7)
            await change_settings(session, Change(before, after), environ)
            await answers(session, "second")
            assert session.resources.limits.max_steps == 7
    assert server.requests[1]["model"] == "other"
    assert "\n\nInstructions of the user:\nIn French.\n\n" in system(server, 1)
    said = [message["content"] for message in server.requests[1]["messages"]]
    assert said[1:] == ["first", "one", "second"]


async def test_what_is_spent_counts_for_the_profile_that_is_gone_over_to(tmp_path: Path) -> None:
    with serving() as server:
        async with opened(tmp_path, server) as (session, before, environ):
            session.resources.account = LedgerAccount(Ledger(tmp_path / "usage"), "default", "s1")
            change = Change(before, replace(before, profile="work"))
            assert (change.names, change.is_any) == ((), True)
            await change_settings(session, change, environ)
            assert session.resources.account.profile == "work"
            dearer = replace(before, input_price=1.0, output_price=2.0, max_turn_usd=0.5, max_month_usd=3.0)
            await change_settings(session, Change(before, dearer), environ)
            assert (session.resources.limits.max_turn_usd, session.resources.limits.max_month_usd) == (
                0.5,
                3.0,
            )
            assert session.resources.prices("openai/scripted").output_price == 2e-6


async def test_a_model_that_was_picked_since_stays(tmp_path: Path) -> None:
    with serving("one") as server:
        async with opened(tmp_path, server) as (session, before, environ):
            await change_settings(session, Change(before, replace(before, model="openai/mine")), environ)
            await change_settings(session, Change(before, replace(before, temperature=0.5)), environ)
            await answers(session, "first")
    assert (server.requests[0]["model"], server.requests[0]["temperature"]) == ("mine", 0.5)


async def test_a_kernel_that_runs_starts_anew_only_for_what_reaches_it_at_the_start(tmp_path: Path) -> None:
    script: list[Scripted] = [
        Call(code="kept = 1"),
        "done",
        Call(code="import os; print(os.environ['SHOWN'])"),
        "done",
    ]
    with serving(*script) as server:
        async with opened(tmp_path, server) as (session, before, environ):
            passes = Change(before, replace(before, env_pass=("SHOWN",)))
            assert restarted_kernels(session, passes) == ()
            await answers(session, "first")
            kernel = session.kernels.get("python")
            assert restarted_kernels(session, Change(before, replace(before, max_steps=1))) == ()
            assert restarted_kernels(session, passes) == (kernel,)
            generation = kernel.generation
            await change_settings(session, passes, environ)
            await answers(session, "second")
            assert kernel.generation == generation + 1
    assert server.requests[3]["messages"][-1]["content"] == "yes"


async def test_a_kernel_that_runs_starts_anew_to_be_held_otherwise(tmp_path: Path) -> None:
    code = Call(code="import resource; print(resource.getrlimit(resource.RLIMIT_FSIZE)[0])")
    with serving(code, "done", code, "done") as server:
        async with opened(tmp_path, server) as (session, before, environ):
            free = replace(before, sandbox="off")
            await change_settings(session, Change(before, free), environ)
            await answers(session, "first")
            kernel = session.kernels.get("python")
            limited = Change(free, replace(free, max_file_mb=7))
            assert (restarted_kernels(session, limited), limited.later) == ((kernel,), ())
            await change_settings(session, limited, environ)
            await answers(session, "second")
    told = [server.requests[at]["messages"][-1]["content"] for at in (1, 3)]
    assert told == ["-1", str(7 << 20)]


async def test_a_sandbox_that_is_required_and_not_there_changes_nothing(tmp_path: Path) -> None:
    with serving() as server:
        async with opened(tmp_path, server) as (session, before, environ):
            after = replace(before, sandbox="docker", model="openai/other")
            with pytest.raises(NoSandbox, match="no Docker daemon answers"):
                await change_settings(session, Change(before, after), environ)
            assert session.model.name == "openai/scripted"


async def test_where_no_code_is_run_there_is_no_tool_and_a_call_is_refused(tmp_path: Path) -> None:
    touches: Any = Call(code=f"open({str(tmp_path / 'ran')!r}, 'w')")
    with serving(Call(code="1 + 1"), "two", touches, "sorry") as server:
        async with opened(tmp_path, server) as (session, before, environ):
            await answers(session, "first")
            await change_settings(session, Change(before, replace(before, code=False)), environ)
            events = await answers(session, "second")
    assert ["tools" in request for request in server.requests] == [True, True, False, False]
    # Providers refuse calls in the history of a request without tools.
    roles = [message["role"] for message in server.requests[2]["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "no code is run" in system(server, 2)
    reason = "No code is run in this session, and there is no tool. Answer in words."
    assert of(CodeRejected, events) == [CodeRejected("c2", reason)]
    assert server.requests[3]["messages"][-1]["content"].endswith(f": {reason}]")
    assert not (tmp_path / "ran").exists()


async def test_a_name_without_a_provider_changes_nothing(tmp_path: Path) -> None:
    with serving("one") as server:
        async with opened(tmp_path, server) as (session, before, environ):
            after = replace(before, model="unheard-of", api_base="", instructions="In French.")
            with pytest.raises(SettingsError, match="names no provider"):
                await change_settings(session, Change(before, after), environ)
            await answers(session, "first")
    assert (server.requests[0]["model"], "French" in system(server, 0)) == ("scripted", False)


async def test_references_are_filled_from_the_next_answer_on(tmp_path: Path) -> None:
    with serving(Call(code="n = 42"), "{{n}}", "{{n:.1f}}") as server:
        async with opened(tmp_path, server) as (session, before, environ):
            first = await answers(session, "first")
            await change_settings(session, Change(before, replace(before, references=True)), environ)
            second = await answers(session, "second")
    assert [events[-1] for events in (first, second)] == [
        TurnFinished("done", "{{n}}"),
        TurnFinished("done", "42.0"),
    ]
    assert ["{{total}}" in system(server, number) for number in (1, 2)] == [False, True]
