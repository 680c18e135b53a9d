"""The program as a word in a pipeline: what it asks, what it prints, how it ends."""

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from terp import __version__
from terp_cli.line.help import help_text
from tests.cli.running import TIMEOUT_S, Result, Terp, said, to, without_tier
from tests.loopback import Call, Http, Loopback, Scripted, Stalled


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


def test_the_version(terp: Terp) -> None:
    assert terp("--version") == Result(0, f"terp {__version__}\n", "")


def test_the_help_is_that_of_the_tables_of_flags(terp: Terp) -> None:
    assert terp("-h") == terp("--help") == Result(0, help_text(), "")


def test_two_dependent_runs_end_in_an_answer_alone_on_stdout(terp: Terp) -> None:
    script: list[Scripted] = [["I compute.", Call(code="a = 41")], Call(code="print(a + 1)"), "It is 42."]
    result = terp.asked(script, "-y", "what", "is", "it?")
    assert (result.code, result.out) == (0, "It is 42.\n")
    assert without_tier(result.notes) == (
        "I compute.\n[python]\na = 41\n[variables] +a int\n\n[python]\nprint(a + 1)\n[output]\n42\n"
    )
    assert said(result.requests[0])[-1] == ("user", "what is it?")
    assert said(result.requests[2])[-1] == ("tool", "42")


@pytest.mark.parametrize("words", [("",), (" ", "")])
def test_words_that_are_empty_are_a_mistake_of_the_caller(terp: Terp, words: tuple[str, ...]) -> None:
    assert terp(*words) == Result(2, "", "terp: the prompt is empty.\n")


def test_files_that_terp_writes_are_not_results_of_the_code(terp: Terp) -> None:
    notes = terp.cwd / "notes.txt"
    script: list[Scripted] = [Call(code="open('a.txt', 'w').close()"), Call(code="2"), "done"]
    with Loopback(script) as server, notes.open("w") as stderr:
        command = [sys.executable, "-m", "terp_cli", *to(server), "-y", "--record", "r.jsonl", "go"]
        subprocess.run(
            command,
            cwd=terp.cwd,
            env=terp.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            timeout=TIMEOUT_S,
            check=True,
        )
    named = [line for line in notes.read_text().splitlines() if line.startswith(("[created", "[modified"))]
    assert named == ["[created] a.txt"]


def test_a_missing_attachment_is_told_before_any_request(terp: Terp) -> None:
    result = terp.asked(["never"], "-f", "none.csv", "look")
    assert result == Result(2, "", "terp: there is no file 'none.csv' to attach.\n", [])


def test_files_of_a_run_are_collected(terp: Terp) -> None:
    script: list[Scripted] = [Call(code="open('a.txt', 'w').write('x')"), "done"]
    result = terp.asked(script, "-y", "--out", "here", "make it")
    assert (terp.cwd / "here/a.txt").read_text() == "x"
    assert f"[collected] {terp.cwd}/here/a.txt" in result.notes


def test_a_json_result_says_everything(terp: Terp) -> None:
    result = terp.asked([Call(code="6 * 7"), "It is 42."], "-y", "--output-format", "json", "go")
    told = json.loads(result.out)
    assert (told["stop_reason"], told["answer"]) == ("done", "It is 42.")
    run = {"language": "python", "code": "6 * 7", "status": "ok", "output": "42\n"}
    assert told["code_log"] == [{**run, "changes": [], "stopped_at": None}]
    assert told["usage"]["input_tokens"] == 20
    assert result.notes == ""


def test_a_json_stream_ends_with_how_it_ended(terp: Terp) -> None:
    result = terp.asked(["hello"], "--output-format", "stream-json", "go")
    events = [json.loads(line) for line in result.out.splitlines()]
    assert events[0]["event"] == "turn_started"
    assert (events[-1]["event"], events[-1]["answer"]) == ("turn_finished", "hello")


@pytest.mark.parametrize(
    ("script", "arguments", "code", "reason"),
    [
        ([Call(code="1")], (), 3, "approval_needed"),
        ([Call(code="1"), Call(code="2")], ("-y", "--max_steps", "1"), 4, "max_steps"),
        ([Http(400)], (), 1, "rejected"),
        ([Http(503)], ("--retries", "0"), 69, "unavailable"),
        ([Http(429)], ("--retries", "0"), 75, "rate_limited"),
        ([Http(401)], (), 77, "auth"),
        ([Stalled()], ("--timeout", "0.7"), 124, "timeout"),
    ],
)
def test_each_end_has_its_code_and_its_name(
    terp: Terp, script: list[Scripted], arguments: tuple[str, ...], code: int, reason: str
) -> None:
    result = terp.asked(script, *arguments, "--output-format", "json", "go")
    assert (result.code, json.loads(result.out)["stop_reason"]) == (code, reason)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--modle", "x"), "unknown flag --modle. Did you mean --model?"),
        (("--max-steps", "x", "hi"), '--max-steps is "x", must be a whole number, 0 or more.'),
        (("-p", "nine", "hi"), "there is no profile 'nine'. Did you mean 'fine'?"),
        (
            ("-p", "fine", "hi"),
            "~/home/profiles/fine.yaml:1: unknown setting 'auto_rum'. Did you mean 'auto_run'?",
        ),
        (("--cwd", "none", "hi"), "--cwd: there is no directory 'none'."),
        ((), "there is no prompt: write it after terp, or pipe it in."),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(terp: Terp, arguments: tuple[str, ...], line: str) -> None:
    (terp.home / "profiles").mkdir()
    (terp.home / "profiles/fine.yaml").write_text("auto_rum: true\n")
    assert terp(*arguments) == Result(2, "", f"terp: {line}\n")


def test_a_wrong_call_in_json_form_has_a_result(terp: Terp) -> None:
    result = terp("--output-format", "json", "--cwd", "none", "hi")
    assert (result.code, json.loads(result.out)["stop_reason"]) == (2, "usage")


def test_the_key_on_the_command_line_is_used_with_a_warning(terp: Terp) -> None:
    with Loopback(["hello"]) as server:
        result = terp(*to(server), "--api-key", "sk-mine", "hi")
    assert server.headers[0]["Authorization"] == "Bearer sk-mine"
    assert result.notes.startswith("terp: other users of this machine can read --api-key;")


def test_endless_data_ends_with_the_time_of_the_call(terp: Terp) -> None:
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless, Loopback([]) as server:
        assert endless.stdout is not None
        process = terp.start(*to(server), "--timeout", "1", "sum it", stdin=endless.stdout.fileno())
        out, notes = process.communicate(timeout=TIMEOUT_S)
        endless.kill()
    assert (process.returncode, out, notes) == (124, "", "terp: the time given with --timeout is over.\n")
    assert [path for path in terp.home.rglob("*") if path.is_file()] == []


def begun(terp: Terp, *arguments: str) -> subprocess.Popen[str]:
    """A call that has come to an endless run."""
    process = terp.start(*arguments, "-y", "--output-format", "stream-json", "go", stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line).get("output", {}).get("text") == "ready\n":
            break
    return process


ENDLESS = Call(
    code="""
import os, time
open("pid", "w").write(str(os.getpid()))
print("ready")
while True:
    time.sleep(1)
"""
)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_run_and_its_kernel(terp: Terp, number: int, code: int) -> None:
    with Loopback([ENDLESS]) as server:
        # In a sandbox the kernel does not know its number outside.
        process = begun(terp, *to(server), "--sandbox", "off")
        os.kill(process.pid, number)
        out, notes = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, json.loads(out.splitlines()[-1])["reason"]) == (code, "interrupted")
    assert "Traceback" not in notes
    with pytest.raises(ProcessLookupError):
        os.kill(int((terp.cwd / "pid").read_text()), 0)


STUBBORN = Call(
    code="""
import time
print("ready", flush=True)
while True:
    try:
        time.sleep(1)
    except BaseException:
        pass
"""
)


def test_what_is_ended_for_good_promises_no_other_run(terp: Terp) -> None:
    with Loopback([STUBBORN]) as server:
        process = begun(terp, *to(server))
        os.kill(process.pid, signal.SIGTERM)
        out, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 143
    assert "next run" not in out


def test_a_reader_that_leaves_ends_it_quietly(terp: Terp) -> None:
    with Loopback([ENDLESS]) as server, begun(terp, *to(server)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        os.kill(process.pid, signal.SIGINT)
        assert (process.stderr.read(), process.wait(TIMEOUT_S)) == ("", 141)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full of Linux")
def test_a_full_disk_is_told_in_a_line(terp: Terp) -> None:
    with Loopback(["hello"]) as server, Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "terp_cli", *to(server), "hi"]
        ended = subprocess.run(
            command,
            cwd=terp.cwd,
            env=terp.environ,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    line = "terp: the output cannot be written: No space left on device.\n"
    assert (ended.returncode, ended.stderr) == (1, line)


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    """Our end of a terminal, and the path of the other."""
    ours, theirs = os.openpty()
    yield ours, os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def answered(terminal: int, question: bytes, answer: bytes) -> bytes:
    """Wait for a question on a terminal and type an answer; what was shown until then."""
    shown = b""
    while question not in shown:
        assert select.select([terminal], [], [], TIMEOUT_S)[0], shown
        shown += os.read(terminal, 65536)
    os.write(terminal, answer)
    return shown


def test_a_run_with_data_on_stdin_asks_on_its_terminal(terp: Terp, terminal: tuple[int, str]) -> None:
    ours, path = terminal
    with Loopback([Call(code="print(6 * 7)"), "It is 42."]) as server:
        plain = {"NO_COLOR": "1"}
        process = terp.start(*to(server), "go", stdin=subprocess.PIPE, terminal=path, environ=plain)
        assert process.stdin is not None
        process.stdin.write("data\n")
        process.stdin.flush()
        process.stdin.close()
        process.stdin = None
        shown = answered(ours, b"Run this in", b"y\r")
        out, _ = process.communicate(timeout=TIMEOUT_S)
    assert b"print(6 * 7)" in shown
    assert (process.returncode, out) == (0, "It is 42.\n")


def test_always_holds_for_the_rest_of_a_run_in_a_pipe(terp: Terp, terminal: tuple[int, str]) -> None:
    ours, path = terminal
    with Loopback([Call(code="a = 41"), Call(code="print(a + 1)"), "It is 42."]) as server:
        process = terp.start(*to(server), "go", stdin=subprocess.DEVNULL, terminal=path)
        answered(ours, b"Run this in", b"a\r")
        out, _ = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out) == (0, "It is 42.\n")


def test_declining_ends_the_call(terp: Terp, terminal: tuple[int, str]) -> None:
    ours, path = terminal
    with Loopback([Call(code="1")]) as server:
        process = terp.start(*to(server), "go", stdin=subprocess.DEVNULL, terminal=path)
        answered(ours, b"Run this in", b"n\r")
        out, notes = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out) == (3, "")
    assert without_tier(notes) == "[python]\n1\n[expected] computes only\n[not run]\nterp: Declined.\n"


def test_run_runs_code_without_a_model(terp: Terp) -> None:
    (terp.cwd / "a.py").write_text("import sys\nprint(sys.stdin is None, input('? '))\n6 * 7")
    assert terp("run", "a.py", data="typed\n") == Result(0, "False typed\n42\n", "? ")


def test_run_ends_with_1_when_the_code_fails(terp: Terp) -> None:
    result = terp("run", "-", data="1 / 0")
    assert (result.code, result.out) == (1, "")
    assert "ZeroDivisionError: division by zero" in result.notes


def test_run_refuses_a_language_that_is_not_here(terp: Terp) -> None:
    result = terp("run", "-l", "cobol", "-", data="x")
    assert (result.code, result.notes.count("\n")) == (1, 1)
    assert "cobol" in result.notes


def test_a_variable_is_written_to_stdout_in_place_of_the_answer(terp: Terp) -> None:
    code = "rows = [(1, 'a'), (2, 'b')]"
    result = terp.asked([Call(code=code), "Two rows."], "-y", "--emit", "rows:csv", "make rows")
    assert (result.code, result.out) == (0, "1,a\n2,b\n")
    assert "Two rows." in result.notes


def test_a_variable_that_is_missing_is_an_error_and_nothing_is_written(terp: Terp) -> None:
    result = terp.asked([Call(code="x = 1"), "Done."], "-y", "--emit", "sales", "go")
    assert (result.code, result.out) == (1, "")
    assert result.notes.splitlines()[-1].startswith("terp: --emit: there is no variable 'sales'.")


def test_languages_are_listed_those_that_are_here_first(terp: Terp) -> None:
    result = terp("languages")
    states = [re.split(r" {2,}", line)[1] for line in result.out.splitlines()]
    assert result.out.startswith("python")
    assert states == sorted(states)


def test_profiles_are_listed(terp: Terp) -> None:
    (terp.home / "profiles").mkdir()
    (terp.home / "profiles/mine.yaml").write_text("# My own.\nmodel: x\n")
    result = terp("profiles")
    assert [line.split()[0] for line in result.out.splitlines()] == [
        "careful", "data", "default", "demo", "explain", "fast", "local", "mine", "shell", "solve", "vision",
    ]  # fmt: skip
    assert "mine     My own. [~/home/profiles/mine.yaml]\n" in result.out


def test_the_doctor_finds_nothing_wrong_where_nothing_is(terp: Terp) -> None:
    result = terp("doctor", OPENAI_API_KEY="sk-secret")
    assert (result.code, result.notes) == (0, "")
    assert "OPENAI_API_KEY" in result.out
    assert "sk-secret" not in result.out
    assert result.out.endswith("\nNothing to repair. Lines marked - are worth knowing.\n")


def test_the_doctor_names_what_is_wrong_and_the_remedy(terp: Terp) -> None:
    (terp.home / "config.yaml").write_text("modle: x\n")
    result = terp("doctor", TERP_PYTHON="/no/such/python")
    assert result.code == 1
    assert "! config    ~/home/config.yaml:1: unknown setting 'modle'. Did you mean 'model'?" in result.out
