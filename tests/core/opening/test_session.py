"""From settings to a conversation: `terp.open` with a scripted server and a real kernel."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import terp
from terp.errors import SettingsError
from terp.events import TurnFinished
from terp.person import Run
from terp.session.cost.ledger import Ledger
from terp.session.reply import TurnFailed
from terp.store.catalogue import Catalogue
from terp.testing import ScriptedPerson, collect
from tests.loopback import Call, Http, Loopback, Scripted


def home_of(tmp_path: Path) -> Path:
    """Return terp's folder: not below the working directory, which Landlock would keep read-only then."""
    return tmp_path.with_name(f"{tmp_path.name}-home")


def surroundings(tmp_path: Path) -> dict[str, str]:
    # What other languages run here must not matter.
    only = {"TERP_LANGUAGES": "python"}
    return {"TERP_HOME": str(home_of(tmp_path)), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin", **only}


def test_a_chat_runs_code_in_a_live_kernel_and_answers(tmp_path: Path) -> None:
    script: list[Scripted] = [[Call(code="a = 41")], [Call(code="print(a + 1)")], "It is 42."]
    with (
        Loopback(script) as server,
        terp.open(
            model="openai/scripted",
            api_base=server.url,
            auto_run=True,
            cwd=tmp_path,
            environ=surroundings(tmp_path),
        ) as chat,
    ):
        reply = chat("what is it?")
    assert (reply.text, reply.stop_reason) == ("It is 42.", "done")
    assert [(run.code, run.text) for run in reply.code_log] == [("a = 41", ""), ("print(a + 1)", "42\n")]
    assert server.requests[2]["messages"][-1]["content"] == "42"


def test_code_that_works_where_terp_keeps_its_files_did_not_write_them(tmp_path: Path) -> None:
    environ = surroundings(tmp_path)
    home = Path(environ["TERP_HOME"])
    home.mkdir()
    with (
        Loopback([[Call(code="print(1)")], [Call(code="print(2)")], "done"]) as server,
        terp.open(
            model="openai/scripted",
            api_base=server.url,
            auto_run=True,
            cwd=home,
            environ=environ,
            max_month_usd=1.0,
            input_price=1.0,
            output_price=1.0,
        ) as chat,
    ):
        chat("go")
    assert list(home.glob("usage/*.jsonl"))
    assert [request["messages"][-1]["content"] for request in server.requests[1:]] == ["1", "2"]


async def test_a_session_yields_events_and_asks_its_person(tmp_path: Path) -> None:
    person = ScriptedPerson(Run("2 + 2"), "run")
    with Loopback([[Call(code="1 + 1")], "four"]) as server:
        opening = terp.open(
            person=person,
            model="openai/scripted",
            api_base=server.url,
            cwd=tmp_path,
            environ=surroundings(tmp_path),
        )
        async with opening as session, aclosing(session.turn("go")) as events:
            seen = [event async for event in events]
    assert seen[-1] == TurnFinished("done", "four")
    assert [proposed.code for proposed in person.shown] == ["1 + 1", "2 + 2"]
    assert server.requests[1]["messages"][-1]["content"] == "4"


def test_without_consent_no_code_runs(tmp_path: Path) -> None:
    with (
        Loopback([[Call(code=f"open({str(tmp_path / 'ran')!r}, 'w')")]]) as server,
        terp.open(model="openai/x", api_base=server.url, environ=surroundings(tmp_path)) as chat,
        pytest.raises(TurnFailed) as failed,
    ):
        chat("go")
    assert failed.value.stop_reason == "approval_needed"
    assert not (tmp_path / "ran").exists()


def test_what_the_provider_refuses_is_raised_with_its_words(tmp_path: Path) -> None:
    refusal = Http(400, '{"error": {"message": "no such parameter"}}')
    with (
        Loopback([refusal]) as server,
        terp.open(model="openai/x", api_base=server.url, environ=surroundings(tmp_path)) as chat,
        pytest.raises(TurnFailed, match="no such parameter"),
    ):
        chat("go")


def test_an_unknown_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"terp\.open: unknown setting 'modle'"):
        terp.open(modle="x", environ=surroundings(tmp_path))  # type: ignore[call-arg]


def test_a_person_who_cannot_be_asked_is_refused_at_once(tmp_path: Path) -> None:
    nobody: Any = object()
    with pytest.raises(SettingsError, match="person has no method approve"):
        terp.open(model="x", person=nobody, environ=surroundings(tmp_path))


async def test_the_version_of_the_python_that_runs_the_code_is_told(tmp_path: Path) -> None:
    packages = tmp_path / "venv/lib/python3.8/site-packages"
    packages.mkdir(parents=True)
    (packages / "ipykernel_launcher.py").touch()
    (tmp_path / "venv/bin").mkdir()
    (tmp_path / "venv/bin/python").touch(mode=0o755)
    with Loopback(["hello"] * 2) as server:
        for more in {}, {"VIRTUAL_ENV": str(tmp_path / "venv")}:
            environ = {**surroundings(tmp_path), **more}
            async with terp.open(
                model="openai/x", api_base=server.url, environ=environ, languages=["python"]
            ) as session:
                await collect(session, "go")
    own, other = (request["messages"][0]["content"] for request in server.requests)
    assert "Languages: python (version 3." in own
    assert "Languages: python (version 3.8)." in other


def test_text_is_no_consent_to_run_code(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"terp\.open: 'auto_run' is 'no', must be true or false\."):
        terp.open(auto_run="no", environ=surroundings(tmp_path))  # type: ignore[arg-type]


def test_all_wrong_values_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as wrong:
        terp.open(
            temperature="hot",  # type: ignore[arg-type]
            retries=True,
            max_steps=1.5,  # type: ignore[arg-type]
            max_tokens=-1,
            adapter="mine",  # type: ignore[arg-type]
            env_pass="AWS_*",
            environ=surroundings(tmp_path),
        )
    assert wrong.value.problems == (
        "terp.open: 'temperature' is 'hot', must be a number, from 0 to 2.",
        "terp.open: 'retries' is True, must be a whole number, from 0 to 20.",
        "terp.open: 'max_steps' is 1.5, must be a whole number, 0 or more.",
        "terp.open: 'max_tokens' is -1, must be a whole number, 0 or more.",
        "terp.open: 'adapter' is 'mine', must be one of auto, direct, litellm.",
        "terp.open: 'env_pass' is 'AWS_*', must be a list of names.",
    )


def test_a_conversation_is_recorded_and_replayed_without_a_server(tmp_path: Path) -> None:
    told: dict[str, Any] = {
        "model": "openai/x",
        "auto_run": True,
        "cwd": tmp_path,
        "environ": surroundings(tmp_path),
    }
    file = tmp_path / "calls.jsonl"
    with (
        Loopback([[Call(code="print(object(), 6 * 7)")], "42"]) as server,
        terp.open(api_base=server.url, record=file, **told) as chat,
    ):
        first = chat("what?")
    with terp.open(replay=file, **told) as chat:
        second = chat("what?")
    assert (second.text, second.stop_reason) == (first.text, "done")
    assert len(server.requests) == 2


def test_a_replay_costs_nothing_and_is_not_noted(tmp_path: Path) -> None:
    record = str(tmp_path / "calls.jsonl")
    common: dict[str, Any] = {"cwd": tmp_path, "environ": surroundings(tmp_path), "keep": True}
    with (
        Loopback(["hello"]) as server,
        terp.open(**common, model="openai/scripted", api_base=server.url, record=record) as chat,
    ):
        chat("hi")
    assert len(noted(tmp_path)) == 1
    with terp.open(**common, model="openai/scripted", replay=record) as chat:
        assert chat("hi").text == "hello"
    assert len(noted(tmp_path)) == 1


async def test_a_summary_and_what_is_asked_beside_are_recorded_and_replayed(tmp_path: Path) -> None:
    told: dict[str, Any] = {"model": "openai/x", "cwd": tmp_path, "environ": surroundings(tmp_path)}
    file = tmp_path / "calls.jsonl"

    async def talked(**settings: Any) -> list[Any]:
        async with terp.open(**settings, **told) as session:
            await collect(session, "one")
            await collect(session, "two")
            beside = await session.answer_aside("What is this about?")
            assert await session.compact("numbers")
            await collect(session, "three")
            return [beside.text, *session.history]

    with Loopback(["1", "2", "counting", "They count.", "3"]) as server:
        first = await talked(api_base=server.url, record=file)
        assert len(server.requests) == 5
        assert await talked(replay=file) == first
        assert len(server.requests) == 5
    assert [first[0], "They count." in str(first[1:])] == ["counting", True]


def test_a_history_too_long_is_summarised_from_the_recording_as_well(tmp_path: Path) -> None:
    told: dict[str, Any] = {"model": "openai/x", "cwd": tmp_path, "environ": surroundings(tmp_path)}
    file = tmp_path / "calls.jsonl"
    full = Http(400, '{"error": {"code": "context_length_exceeded", "message": "maximum context length"}}')
    with (
        Loopback(["1", "2" * 9_000, full, "In short.", "3"]) as server,
        terp.open(api_base=server.url, record=file, **told) as chat,
    ):
        first = [chat(prompt).text for prompt in ("one", "two", "three")]
        assert "In short." in str(server.requests[-1]["messages"])
    with terp.open(replay=file, **told) as chat:
        assert [chat(prompt).text for prompt in ("one", "two", "three")] == first
    assert len(server.requests) == 5


def test_a_name_that_is_no_unicode_ends_no_conversation(tmp_path: Path) -> None:
    """File names, arguments and directories are bytes; Python keeps them as lone surrogates."""
    code = "import os; open(os.fsdecode(b'caf\\xe9.txt'), 'w').write('x')"
    with (
        Loopback([[Call(code=code)], "done", "yes"]) as server,
        terp.open(
            model="openai/x", api_base=server.url, auto_run=True, cwd=tmp_path, environ=surroundings(tmp_path)
        ) as chat,
    ):
        assert chat("write caf\udce9.txt").text == "done"
        assert chat("is it there?").text == "yes"
    prompt, _, result = (message["content"] for message in server.requests[1]["messages"][-3:])
    assert prompt == "write caf\ufffd.txt"
    assert result.startswith("1\n[") and result.endswith(": files: created caf\ufffd.txt]")


def test_nothing_is_kept_unless_it_is_asked_for(tmp_path: Path) -> None:
    with (
        Loopback(["hello"]) as server,
        terp.open(model="openai/x", api_base=server.url, environ=surroundings(tmp_path)) as chat,
    ):
        chat("hi")
    assert list(home_of(tmp_path).rglob("*.jsonl")) == []


def noted(tmp_path: Path) -> list[tuple[str, str]]:
    """Profile and model of the calls that were noted."""
    ledger = Ledger(home_of(tmp_path) / "usage")
    calls = (entry for month in ledger.months() for entry in ledger.entries(month))
    return [(entry.profile, entry.used.model) for entry in calls]


def test_what_is_used_is_noted_where_the_session_is_kept_or_a_limit_needs_it(tmp_path: Path) -> None:
    asks: list[dict[str, Any]] = [
        {},
        {"keep": True},
        {"max_month_usd": 5, "input_price": 1, "output_price": 1},
        {"profile": "careful", "keep": True},
    ]
    seen = []
    for given in asks:
        with (
            Loopback(["hello"]) as server,
            terp.open(
                model="openai/scripted",
                api_base=server.url,
                cwd=tmp_path,
                environ=surroundings(tmp_path),
                **given,
            ) as chat,
        ):
            chat("hi")
        seen.append(noted(tmp_path))
    one, careful = ("default", "openai/scripted"), ("careful", "openai/scripted")
    assert seen == [[], [one], [one, one], [one, one, careful]]


def test_a_session_can_be_kept_among_those_of_the_program(tmp_path: Path) -> None:
    with (
        Loopback(["hello"]) as server,
        terp.open(model="openai/x", api_base=server.url, environ=surroundings(tmp_path), keep=True) as chat,
    ):
        chat("hi")
    [entry] = Catalogue(home_of(tmp_path) / "sessions").listed()
    assert (entry.title, entry.turns, entry.model) == ("hi", 1, "openai/x")


def test_a_session_in_a_folder_of_ones_own_is_gone_on_with(tmp_path: Path) -> None:
    with Loopback(["hello", "again"]) as server:
        for prompt in ("hi", "and?"):
            with terp.open(
                model="openai/x",
                api_base=server.url,
                environ=surroundings(tmp_path),
                keep=tmp_path / "mine",
            ) as chat:
                chat(prompt)
    said = [message["content"] for message in server.requests[1]["messages"][1:]]
    assert said == ["hi", "hello", "and?"]


def test_a_stored_session_that_fails_to_open_is_not_locked(tmp_path: Path) -> None:
    environ, folder = surroundings(tmp_path), tmp_path / "mine"
    with Loopback(["hello", "again"]) as server:
        good = terp.open(model="openai/x", api_base=server.url, environ=environ, keep=folder)
        with good as chat:
            chat("hi")
        bad = terp.open(
            model="openai/x", api_base=server.url, languages=["klingon"], environ=environ, keep=folder
        )
        with pytest.raises(SettingsError) as failed, bad:
            pass
        with good as chat:
            assert chat("and?").text == "again"
    assert "klingon" in str(failed.value)


def test_a_chat_goes_on_until_its_check_has_passed(tmp_path: Path) -> None:
    with (
        Loopback(["Done.", [Call(code="open('made', 'w').close()")], "Now."]) as server,
        terp.open(
            model="openai/scripted",
            api_base=server.url,
            auto_run=True,
            until="test -e made",
            cwd=tmp_path,
            environ=surroundings(tmp_path),
        ) as chat,
    ):
        reply = chat("make it")
    assert (reply.text, [check.passed for check in reply.checks]) == ("Now.", [False, True])


def test_a_chat_whose_check_never_passes_has_no_answer(tmp_path: Path) -> None:
    with (
        Loopback(["Done.", "Done again."]) as server,
        terp.open(
            model="openai/scripted",
            api_base=server.url,
            until="false",
            max_revisions=1,
            cwd=tmp_path,
            environ=surroundings(tmp_path),
        ) as chat,
        pytest.raises(TurnFailed) as failed,
    ):
        chat("make it")
    assert (failed.value.stop_reason, failed.value.reply.text) == ("until_failed", "Done again.")
