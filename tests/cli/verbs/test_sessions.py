"""Sessions kept by the program, gone on with, listed and removed."""

import fcntl
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import TIMEOUT_S, Result, Terp, said, to, without_tier
from tests.cli.teletype import Teletype
from tests.loopback import Call, Loopback


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


def listed(terp: Terp, *flags: str) -> list[dict[str, Any]]:
    result = terp("sessions", "list", "--json", *flags)
    assert (result.code, result.notes) == (0, "")
    sessions: list[dict[str, Any]] = json.loads(result.out)["sessions"]
    return sessions


def test_a_one_shot_is_kept_and_gone_on_with(terp: Terp) -> None:
    terp.asked([Call(code="a = 1"), "It is one."], "-y", "set a to 1")
    result = terp.asked(["Still one."], "-c", "and now?")
    told = (
        "[note: This conversation was resumed. The kernel is new: these variables are gone: a; "
        "imports must be done again.]"
    )
    roles = [(role, text) for role, text in said(result.requests[0]) if role != "system"]
    assert [role for role, _ in roles] == ["user", "assistant", "tool", "assistant", "user"]
    assert (roles[0][1], roles[3][1], roles[4][1]) == ("set a to 1", "It is one.", f"and now?\n\n{told}")
    [session] = listed(terp)
    assert (session["turns"], session["title"], session["open"]) == (2, "set a to 1", False)
    told_to_person = f"terp: Resumed {session['id']}: 1 turn. The kernel is new: a is gone.\n"
    assert result == Result(0, "Still one.\n", told_to_person, result.requests)


def test_what_is_resumed_without_code_has_lost_nothing(terp: Terp) -> None:
    terp.asked(["hello"], "hi")
    result = terp.asked(["hello again"], "-c", "and?")
    assert said(result.requests[0])[1:] == [("user", "hi"), ("assistant", "hello"), ("user", "and?")]
    assert result.notes.endswith(": 1 turn.\n")


def test_there_is_nothing_to_go_on_with_in_a_directory_without_sessions(terp: Terp) -> None:
    result = terp("-c", "go on")
    assert (result.code, result.out) == (2, "")
    assert result.notes == (
        f"terp: There is no session of {terp.cwd} to resume. terp sessions --all lists all.\n"
    )


def test_an_id_can_be_shortened_and_found_from_another_directory(terp: Terp, tmp_path: Path) -> None:
    terp.asked(["hello"], "hi")
    name = listed(terp)[0]["id"]
    first, terp.cwd = terp.cwd, tmp_path / "elsewhere"
    terp.cwd.mkdir()
    assert listed(terp) == []
    result = terp.asked(["there"], "-r", name[11:15], "where?")
    assert result.notes.startswith(f"terp: the session continues in its own directory, {first}.\n")
    assert said(result.requests[0])[1] == ("user", "hi")
    assert [session["turns"] for session in listed(terp, "--all")] == [2]


def test_an_id_that_is_not_there_is_told(terp: Terp) -> None:
    result = terp("-r", "nosuch")
    told = "terp: there is no session 'nosuch'; `terp sessions` lists the ids.\n"
    assert (result.code, result.notes) == (2, told)
    result = terp("-r", "abc", "hi")
    assert result == Result(2, "", "terp: There is no session 'abc'. terp sessions --all lists them.\n")


def test_choosing_a_session_needs_a_terminal(terp: Terp) -> None:
    result = terp("--conversations")
    assert (result.code, result.out) == (2, "")
    assert "-r without an ID asks which session, on a terminal" in result.notes


def test_a_session_is_chosen_from_a_numbered_list(terp: Terp) -> None:
    for prompt in ("about apples", "about pears"):
        terp.asked(["ok"], prompt)
    with Loopback(["yes, pears"]) as server:
        keyboard, theirs = pty.openpty()
        os.write(keyboard, b"pears\n1\n")
        process = terp.start(*to(server), "--plain", "-r", "--", "which fruit?", stdin=theirs)
        out, notes = process.communicate(timeout=TIMEOUT_S)
    os.close(keyboard)
    os.close(theirs)
    assert (process.returncode, out) == (0, "yes, pears\n")
    assert said(server.requests[0])[1] == ("user", "about pears")
    assert "  1 *about pears" in notes


def test_a_session_that_is_open_elsewhere_is_told_with_its_process(terp: Terp) -> None:
    with Loopback(["one", "never"]) as server:
        first = [*to(server), "hi"]
        assert terp(*first).code == 0
        [session] = listed(terp)
        lock = Path(session["folder"]) / "lock"
        code = f"import fcntl; f = open({str(lock)!r}, 'r+'); fcntl.flock(f, 2); print('held'); input()"
        with subprocess.Popen(
            ["python3", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            result = terp(*to(server), "-c", "more")
            assert (result.code, f"The session {session['id']} is open in another terp" in result.notes) == (
                2,
                True,
            )
            removal = terp("sessions", "rm", session["id"])
            assert (removal.code, "is open" in removal.notes) == (1, True)
            assert listed(terp)[0]["open"]
            holder.communicate("\n")


def test_code_is_run_again_before_the_question(terp: Terp) -> None:
    terp.asked([Call(code="a = 41\nprint(a)"), "Done."], "-y", "set a")
    result = terp.asked([Call(code="print(a + 1)"), "It is 42."], "-y", "-c", "--rerun", "one more?")
    assert (result.code, result.out) == (0, "It is 42.\n")
    assert "[Run 1 of 1: the same output as before]" in result.notes
    assert said(result.requests[1])[-1] == ("tool", "42")
    assert "1 of 1 runs printed the same as before" in said(result.requests[0])[-1][1]


def test_running_again_alone_needs_no_question(terp: Terp) -> None:
    terp.asked([Call(code="print(1)"), "Done."], "-y", "go")
    result = terp("-y", "-c", "--rerun", "--model", "openai/x", "--api-base", "http://127.0.0.1:9/v1")
    assert (result.code, result.out) == (0, "1 of 1 runs printed the same as before.\n")


def test_where_nobody_approves_running_again_nothing_is_asked(terp: Terp) -> None:
    terp.asked([Call(code="a = 41"), "Done."], "-y", "set a")
    result = terp.asked(["It is gone."], "-c", "--rerun", "one more?")
    assert (result.code, result.out, result.requests) == (3, "", [])
    assert "1 not reached.\nterp: The code needs approval, and nobody is there" in result.notes


def test_running_again_needs_a_session(terp: Terp) -> None:
    result = terp("--rerun", "go")
    assert result == Result(2, "", "terp: --rerun goes with -c or -r: it runs the code of a session again.\n")


def test_a_fork_continues_on_a_copy_and_leaves_the_session_as_it_is(terp: Terp) -> None:
    terp.asked(["hello"], "hi")
    [first] = listed(terp)
    result = terp.asked(["there"], "-c", "--fork", "and?")
    assert (result.code, result.out) == (0, "there\n")
    assert said(result.requests[0])[1:] == [("user", "hi"), ("assistant", "hello"), ("user", "and?")]
    assert [(one["forked_from"], one["turns"]) for one in listed(terp)] == [(first["id"], 2), ("", 1)]


def test_a_session_that_is_open_elsewhere_can_be_forked(terp: Terp) -> None:
    terp.asked(["hello"], "hi")
    [first] = listed(terp)
    with (Path(first["folder"]) / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = terp.asked(["there"], "-r", first["id"], "--fork", "and?")
    assert (result.code, result.out) == (0, "there\n")


def test_a_fork_needs_a_session(terp: Terp) -> None:
    result = terp("--fork", "go")
    assert result == Result(2, "", "terp: --fork goes with -c or -r: it continues on a copy of a session.\n")


def test_a_home_that_cannot_be_written_keeps_nothing(terp: Terp) -> None:
    (terp.home / "sessions").touch()
    result = terp.asked(["hello"], "hi")
    assert (result.code, result.out) == (0, "hello\n")
    assert "pictures and outputs are in" in result.notes


def test_a_session_is_shown_as_it_was(terp: Terp) -> None:
    terp.asked([["I count.", Call(code="print(1)")], "It is one."], "-y", "count to one")
    [session] = listed(terp)
    result = terp("sessions", "show", session["id"])
    head, _, rest = result.out.partition("\n\n")
    assert head.splitlines()[1] == "count to one"
    code = "[python]\nprint(1)\n[expected] computes only\n"
    assert without_tier(rest) == f"> count to one\n\nI count.\n{code}[output]\n1\nIt is one.\n"
    facts = json.loads(terp("sessions", "show", session["id"], "--json").out)
    assert [message["role"] for message in facts["messages"]] == ["user", "assistant", "result", "assistant"]
    assert facts["events"][0]["event"] == "turn_started"


def test_sessions_are_searched_by_what_was_said(terp: Terp) -> None:
    terp.asked(["The capital is Canberra."], "australia?")
    terp.asked(["The capital is Vienna."], "austria?")
    found = json.loads(terp("sessions", "search", "CANBERRA", "capital", "--json").out)["sessions"]
    assert [(one["title"], one["line"]) for one in found] == [("australia?", "The capital is Canberra.")]


def test_sessions_are_removed_by_id(terp: Terp) -> None:
    terp.asked(["hello"], "hi")
    [session] = listed(terp)
    result = terp("sessions", "rm", session["id"], "0000")
    assert result == Result(
        1,
        f"Removed {session['id']}.\n",
        "terp: There is no session '0000'. terp sessions --all lists them.\n",
    )
    assert listed(terp) == []


def test_pruning_keeps_to_the_quota(terp: Terp) -> None:
    for prompt in ("first", "second"):
        terp.asked(["x" * 400_000], prompt)
    result = terp("sessions", "prune", "--session-quota-mb", "1")
    assert (result.code, [session["title"] for session in listed(terp)]) == (0, ["second"])
    assert result.out.splitlines()[1].startswith("1 session removed; those left take 0.8 MB of 1 MB")


def test_old_sessions_make_room_once_a_day_by_themselves(terp: Terp) -> None:
    terp.asked(["x" * 400_000], "first")
    (terp.home / "sessions" / ".pruned").unlink()
    terp.asked(["x" * 400_000], "second", "--session-quota-mb", "1")
    assert [session["title"] for session in listed(terp)] == ["second", "first"]
    (terp.home / "sessions" / ".pruned").unlink()
    terp.asked(["ok"], "third", "--session-quota-mb", "1")
    assert [session["title"] for session in listed(terp)] == ["third", "second"]


def test_words_that_only_begin_like_the_command_are_a_prompt(terp: Terp) -> None:
    result = terp.asked(["they are"], "sessions are long")
    assert said(result.requests[0])[-1] == ("user", "sessions are long")


@pytest.mark.parametrize(("verb", "needs"), [("show", "ID"), ("search", "WORDS"), ("rm", "ID…")])
def test_a_command_without_its_argument_says_what_it_needs(terp: Terp, verb: str, needs: str) -> None:
    assert terp("sessions", verb) == Result(2, "", f"terp: terp sessions {verb} needs {needs}.\n")


def test_the_session_that_was_left_last_goes_on_also_if_nothing_was_said_in_it(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Loopback(["one", "two"]) as server:
        terp(*to(server), "first")
        first = terp("sessions").out.split()[0]
        terp(*to(server), "second")
        command = [sys.executable, "-m", "terp_cli", *to(server), "-r", first]
        with Teletype(command, terp.cwd, terp.environ) as teletype:
            teletype.until("/help")
            teletype.types("\x04")
            shown, code = teletype.over()
    assert (code, "terp -c continues this conversation." in shown) == (0, True)
    assert terp("sessions").out.split()[0] == first
