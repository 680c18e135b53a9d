"""`terp --detach`, `terp attach` and `terp ps`: a session that outlives the windows that show it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from terp_cli.fronts.detached import session_at
from terp_cli.terminal.detached import end, state_of
from tests.cli.running import Result, Terp, to
from tests.cli.teletype import Teletype
from tests.loopback import Call, Loopback

ID = re.compile(r"\d{4}-\d\d-\d\d-[0-9a-f]+")
NOTE = "terp: terp attach last shows this session; terp ps lists the detached ones.\n"


@pytest.fixture
def terp(tmp_path: Path) -> Iterator[Terp]:
    terp = Terp(tmp_path)
    yield terp
    for one in json.loads(terp("ps", "--json").out)["detached"]:
        if not one["state"].startswith("ended"):
            terp("ps", "stop", one["id"])


def detached(terp: Terp, server: Loopback, *arguments: str) -> str:
    """Detach a session in the working directory; return its id."""
    result = terp("--detach", "--sandbox", "off", *to(server), *arguments)
    assert (result.code, result.notes) == (0, NOTE)
    return result.out.strip()


def window(terp: Terp, *arguments: str) -> Teletype:
    command = [sys.executable, "-m", "terp_cli", *(arguments or ("attach", "last"))]
    return Teletype(command, terp.cwd, terp.environ)


def state(terp: Terp) -> list[tuple[str, str, int]]:
    found = json.loads(terp("ps", "--json").out)["detached"]
    return [(one["id"], one["state"], one["windows"]) for one in found]


def test_its_question_waits_until_a_window_shows_it(terp: Terp) -> None:
    with Loopback([[Call(code="x = 41")], "It is there."]) as server:
        name = detached(terp, server, "make x")
        with window(terp) as shown:
            shown.until("make x")
            shown.until("Run this")
            # It counts as a question after a moment, and each look takes longer than that.
            found = state(terp)
            while found == [(name, "running: make x", 1)]:
                found = state(terp)
            assert found == [(name, "asks", 1)]
            shown.types("y")
            shown.until("It is there.")


def test_a_closed_window_ends_nothing_and_another_shows_the_last_rows_again(terp: Terp) -> None:
    with Loopback(["First answer."]) as server:
        detached(terp, server, "hello")
        with window(terp) as first:
            first.until("First answer")
            first.types(">>> x = 40 + 2\r\r")
            first.until("+x")
        with window(terp) as second:
            assert "▌ hello" in re.sub(r"\x1b\[[0-9;]*m", "", second.until("First answer"))
            second.types(">>> print('x is', x)\r\r")
            second.until("x is 42")


@pytest.mark.parametrize("keys", ["/detach\r", "\x1a"], ids=["command", "Ctrl-Z"])
def test_a_user_can_leave_its_window(terp: Terp, keys: str) -> None:
    with Loopback(["An answer."]) as server:
        name = detached(terp, server, "hello")
        with window(terp) as shown:
            shown.until("An answer")
            shown.types(keys)
            left, code = shown.over()
            assert (shown.modes, code) == (shown.before, 0)
        assert left.endswith("terp: The session continues: terp attach last shows it again.\r\n")
        assert state(terp) == [(name, "waiting", 0)]


def test_ctrl_z_leaves_its_window_at_a_question(terp: Terp) -> None:
    with Loopback([[Call(code="x = 41")], "Well."]) as server:
        name = detached(terp, server, "make x")
        with window(terp) as shown:
            shown.until("Run this")
            shown.types("\x1a")
            shown.over()
        assert [(one, windows) for one, _, windows in state(terp)] == [(name, 0)]


def test_a_second_window_takes_its_session_from_the_first(terp: Terp) -> None:
    with Loopback(["An answer."]) as server:
        detached(terp, server, "hello")
        with window(terp) as first:
            first.until("An answer")
            with window(terp) as second:
                second.until("An answer")
                left, _ = first.over()
    assert left.endswith("\r\x1b[Jterp: Another window shows the session now.\r\n")


def test_a_program_that_does_not_end_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "x.sock"
    hosts = (
        "import asyncio, signal, sys\nfrom pathlib import Path\n"
        "from terp_cli.terminal.detached import TerminalHost\n"
        # The program inherits this.
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        f"host = TerminalHost(Path({str(path)!r}), (80, 24), ends_s=0.1)\n"
        f"asyncio.run(host.run([sys.executable, '-c', 'import signal; signal.pause()']))"
    )
    with subprocess.Popen([sys.executable, "-c", hosts], stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"ready\n"
        end(path)
        assert host.wait(20) == 0
    assert json.loads(path.with_suffix(".ended").read_text())["state"] == "ended with exit code -9"


def test_a_session_that_ends_is_never_listed_as_killed(tmp_path: Path) -> None:
    path = tmp_path / "x.sock"
    code = (
        "import asyncio, json, os, socket, struct\n"
        "host = socket.socket(socket.AF_UNIX); host.connect(os.environ['TERP_DETACHED'].partition(':')[2])\n"
        "facts = json.dumps({'session': 'one', 'state': 'waiting'}).encode()\n"
        "host.sendall(struct.pack('!cI', b'R', len(facts)) + facts); host.close()\n"
    )
    hosts = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from terp_cli.terminal.detached import TerminalHost\n"
        f"asyncio.run(TerminalHost(Path({str(path)!r}), (80, 24)).run([sys.executable, '-c', {code!r}]))"
    )
    for _ in range(5):
        with subprocess.Popen([sys.executable, "-c", hosts]) as host:
            seen = set[str]()
            while host.poll() is None:
                found = session_at(path)
                seen |= {found.state} if found else set()
        assert "killed" not in seen
        assert sorted(one.name for one in tmp_path.iterdir()) == ["x.ended"]


def test_a_socket_with_a_long_path_leaves_no_descriptor_open(tmp_path: Path) -> None:
    path = tmp_path / ("long" * 30) / "x.sock"
    path.parent.mkdir()
    open_before = []
    for _ in range(3):
        with pytest.raises(FileNotFoundError):
            state_of(path)
        open_before.append(len(os.listdir("/proc/self/fd")))  # noqa: PTH208
    assert open_before[2] == open_before[0]


def test_without_a_prompt_its_window_is_this_one(terp: Terp) -> None:
    with Loopback(["An answer."]) as server:
        with window(terp, "--detach", *to(server)) as shown:
            shown.until_changed()
            shown.types("hello\r")
            shown.until("An answer")
        assert [state for _, state, _ in state(terp)] == ["waiting"]


def test_keys_typed_before_it_is_shown_arrive_as_typed(terp: Terp) -> None:
    with Loopback(["First.", "Second."]) as server:
        detached(terp, server, "hello")
        with window(terp) as shown:
            shown.until_changed()
            shown.types("again\r")
            shown.until("Second.")
    assert server.requests[-1]["messages"][-1]["content"] == "again"


def test_stop_ends_it_and_its_conversation_can_be_resumed(terp: Terp) -> None:
    with Loopback(["An answer."]) as server:
        name = detached(terp, server, "hello")
        assert terp("ps", "stop", name[:10]) == Result(
            0, f"Ended {name}; terp -r {name} continues its conversation.\n", ""
        )
    assert terp("ps") == Result(0, "", "terp: there are no detached sessions; terp --detach starts one.\n")
    assert terp("sessions").out.startswith(name)


def test_a_resumed_session_whose_window_was_left_can_be_stopped(terp: Terp) -> None:
    with Loopback(["An answer."]) as server:
        name = detached(terp, server, "hello")
        while state(terp) != [(name, "waiting", 0)]:
            pass
        terp("ps", "stop", name)
        with window(terp, "--detach", "-c", *to(server)) as shown:
            shown.until("An answer")
            shown.types("/detach\r")
            shown.over()
    assert terp("ps", "stop", name).code == 0


def test_a_session_without_an_id_yet_can_be_stopped(terp: Terp) -> None:
    (terp.cwd / ".terp").mkdir()
    (terp.cwd / ".terp/profile.yaml").write_text("max_steps: 5\n")
    with window(terp, "--detach", "--sandbox", "off", "--model", "openai/x") as shown:
        shown.until("Trust it")
        assert terp("ps", "stop", "last") == Result(0, "Ended a session that had not started.\n", "")


def test_a_session_that_ended_unseen_is_listed_once(terp: Terp) -> None:
    with Loopback(["An answer."]) as server:
        name = detached(terp, server, "hello")
        holder = int((terp.home / "sessions" / name / "lock").read_text().split()[0])
        os.kill(holder, signal.SIGTERM)
        while not list((terp.home / "detached").glob("*.ended")):
            os.sched_yield()
    assert terp("ps").out.startswith(f"{name}  ended with exit code 143 · ")
    assert terp("ps").out == ""


def kill_host(terp: Terp) -> None:
    """End the host, as a restart of the machine does."""
    [host] = [
        one
        for one in psutil.process_iter(["cmdline"])
        if str(terp.home / "detached") in " ".join(one.info["cmdline"] or ())
    ]
    host.kill()
    host.wait()


def test_a_session_whose_host_was_killed_is_listed_once(terp: Terp) -> None:
    with Loopback(["An answer."]) as server:
        name = detached(terp, server, "hello")
        kill_host(terp)
    assert (terp("ps").out, terp("ps").out) == (f"{name}  killed · hello · terp -r {name}\n", "")
    assert list((terp.home / "detached").iterdir()) == []


def test_who_names_a_killed_session_is_told_how_it_continues(terp: Terp) -> None:
    with Loopback(["An answer."]) as server:
        name = detached(terp, server, "hello")
        kill_host(terp)
    said = f"terp: The session {name} has ended. terp -r {name} continues its conversation.\n"
    assert terp("ps", "stop", name) == Result(1, "", said)
    with window(terp, "attach", name) as shown:
        assert shown.over() == (said.replace("\n", "\r\n"), 1)


def test_the_next_start_says_that_a_session_has_ended(terp: Terp) -> None:
    with Loopback(["An answer."]) as server:
        detached(terp, server, "hello")
        kill_host(terp)
        with window(terp, "--sandbox", "off", *to(server)) as shown:
            assert "waits for you" not in shown.until("A detached session has ended: terp ps")


def test_a_window_says_that_the_host_of_its_session_was_killed(terp: Terp) -> None:
    with Loopback(["An answer."]) as server:
        name = detached(terp, server, "hello")
        with window(terp) as shown:
            shown.until("An answer")
            kill_host(terp)
            text, code = shown.over()
    assert text.endswith(f"terp: The session was killed. terp -r {name} continues its conversation.\r\n")
    assert (code, terp("ps").out) == (1, "")


def test_attach_lists_detached_sessions(terp: Terp) -> None:
    with Loopback(["An answer."]) as server:
        name = detached(terp, server, "hello")
        terp.environ["JUPYTER_RUNTIME_DIR"] = str(terp.home)
        assert terp("attach").out.startswith(f"terp attach {name}  ")


def test_nothing_is_attached_where_nothing_runs(terp: Terp) -> None:
    with window(terp) as shown:
        text, code = shown.over()
    assert (text, code) == ("terp: There is no detached session. terp --detach starts one.\r\n", 1)


@pytest.mark.parametrize(
    ("arguments", "data", "problem"),
    [
        (("--detach", "x"), "data", "--detach cannot read stdin; attach a file with -f."),
        (
            ("--detach", "--max-steps", "x", "y"),
            None,
            '--max-steps is "x", must be a whole number, 0 or more.',
        ),
        (("attach", "last"), None, "terp attach shows a session on a terminal, and there is none."),
    ],
)
def test_a_mistake_is_reported_where_it_was_made(
    terp: Terp, arguments: tuple[str, ...], data: str | None, problem: str
) -> None:
    assert terp(*arguments, data=data) == Result(2, "", f"terp: {problem}\n")
