"""What is piped into the program or named with -f, as the model and code get it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import TIMEOUT_S, Terp, said, to
from tests.loopback import Call, Loopback, Scripted


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


def test_stdin_is_the_prompt_when_there_are_no_words(terp: Terp) -> None:
    result = terp.asked(["hello"], data="what is\nthis?\n")
    assert (result.out, said(result.requests[0])[-1]) == ("hello\n", ("user", "what is\nthis?"))


def test_stdin_is_data_when_there_are_words(terp: Terp) -> None:
    script: list[Scripted] = [
        Call(code="print(len(stdin_data), open(stdin_path).read() == stdin_data)"),
        "done",
    ]
    result = terp.asked(script, "-y", "sum it", data="a,b\n1,2\n")
    prompt = said(result.requests[0])[-1][1]
    assert prompt.startswith("sum it\n\n[note: Data was piped in: 8 bytes, comma-separated values]")
    assert prompt.endswith("all 2 lines:\na,b\n1,2")
    assert said(result.requests[1])[-1] == ("tool", "8 True")
    assert list(terp.home.rglob("stdin.*")) == []


def waited_for(terp: Terp, server: Loopback, *flags: str) -> tuple[str, str]:
    """What comes out where stdin begins after terp has said that it waits."""
    process = terp.start(*to(server), *flags, "hi", stdin=subprocess.PIPE)
    assert process.stderr is not None
    first = process.stderr.readline()
    out, more = process.communicate("late", timeout=TIMEOUT_S)
    return out, first + more


def test_a_pipe_that_begins_late_is_waited_for(terp: Terp) -> None:
    with Loopback(["hello"]) as server:
        assert waited_for(terp, server, "-q", "-y") == (
            "hello\n",
            "terp: waiting for stdin (Ctrl-D ends it, -n does not read it)\n",
        )
    assert "4 bytes, text]" in said(server.requests[0])[-1][1]


def test_an_empty_pipe_is_told_and_its_names_are_bound(terp: Terp) -> None:
    script: list[Scripted] = [Call(code="print(repr(stdin_data), open(stdin_path).read() == '')"), "none"]
    result = terp.asked(script, "-y", "-q", "how many errors?", data="")
    assert (result.code, result.out, result.notes) == (0, "none\n", "")
    assert said(result.requests[0])[-1][1].startswith(
        "how many errors?\n\n[note: Data was piped in: 0 bytes]"
    )
    assert said(result.requests[1])[-1] == ("tool", "'' True")


@pytest.mark.parametrize("flag", ["-n", "--no-stdin"])
def test_an_inherited_pipe_is_left_alone_where_the_flag_says_so(terp: Terp, flag: str) -> None:
    with Loopback(["hello"]) as server:
        process = terp.start(*to(server), flag, "hi", stdin=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.read() == "hello\n"
        process.communicate(timeout=TIMEOUT_S)
    assert said(server.requests[0])[-1] == ("user", "hi")


@pytest.mark.parametrize("flags", [["--output-format", "json"], ["-qq"]])
def test_what_is_cut_is_a_fact_that_only_qq_hides(terp: Terp, flags: list[str]) -> None:
    cut = "stdin is cut: the model reads its first 23 lines of 50,000 bytes."
    args = ("--no-code", "-cw", "100", "--compact-at", "100", "--max-tokens", "40", "-q", *flags, "explain")
    result = terp.asked(["so"], *args, data="line\n" * 10_000)
    is_json = flags != ["-qq"]
    assert result.notes == (f"terp: {cut}\n" if is_json else "")
    assert not is_json or json.loads(result.out)["notices"] == [cut]


def test_an_attachment_from_elsewhere_stays_there_and_code_can_read_it(terp: Terp, tmp_path: Path) -> None:
    (tmp_path / "my data.csv").write_text("a,b\n1,2\n")
    script: list[Scripted] = [Call(code=f"print(open({str(tmp_path / 'my data.csv')!r}).read())"), "ok"]
    result = terp.asked(script, "-y", "-q", "-f", str(tmp_path / "my data.csv"), "look")
    assert said(result.requests[0])[-1] == (
        "user",
        f"look\n\n[note: Attachment: {tmp_path}/my data.csv] It is at that path, outside the working "
        "directory: 8 bytes, comma-separated values; all 2 lines:\na,b\n1,2",
    )
    assert said(result.requests[1])[-1] == ("tool", "a,b\n1,2")
    assert (list(terp.cwd.iterdir()), result.notes) == ([], "")


def test_an_attachment_alone_asks_for_a_confirmation(terp: Terp) -> None:
    (terp.cwd / "a.csv").write_text("a,b\n")
    result = terp.asked(["got it"], "-f", "a.csv", "")
    assert "Confirm" in said(result.requests[0])[-1][1]
    assert "a.csv" in said(result.requests[0])[-1][1]


def test_a_file_that_the_prompt_names_is_sent_and_the_user_reads_it(terp: Terp) -> None:
    (terp.cwd / "sales.csv").write_text("a,b\n1,2\n")
    (terp.cwd / ".env").write_text("KEY=hunter2\n")
    result = terp.asked(["3"], "Add up sales.csv with .env")
    assert said(result.requests[0])[-1][1] == (
        "Add up sales.csv with .env\n\n[note: File: sales.csv] 8 bytes, comma-separated values; all 2 lines:"
        "\na,b\n1,2\n\n[note: File: .env] 12 bytes; its name is one of secrets, so nothing of it is sent."
    )
    assert result.notes == (
        "[note] Sent with the prompt: all of sales.csv.\n[note] Not sent: .env, which may hold secrets.\n"
    )


def test_an_answer_that_is_one_block_goes_to_a_program_without_its_fence(terp: Terp) -> None:
    result = terp.asked(["```csv\na,b\n1,2\n```"], "as csv")
    assert result.out == "a,b\n1,2\n"
    assert "The answer goes to a file or a program" in said(result.requests[0])[0][1]


def test_quiet_still_names_what_was_made_and_qq_does_not(terp: Terp) -> None:
    code = "open('a.txt', 'w').write('x'); print('chatter')"
    quiet, silent = (
        terp.asked([[Call(code=code)], "done"], "-y", flag, "make it", data=None) for flag in ("-q", "-qq")
    )
    assert (quiet.out, quiet.notes) == ("done\n", "[created] a.txt\n")
    assert (silent.out, silent.notes) == ("done\n", "")


def test_a_python_that_is_not_there_is_a_mistake_before_the_model_is_asked(terp: Terp) -> None:
    result = terp.asked(["hi"], "--python", "~/nope", "hi")
    assert (result.code, result.notes, result.requests) == (2, "terp: No Python at ~/nope (--python).\n", [])


@pytest.mark.parametrize("arguments", [["hi"], ["--version"], ["--help"], ["--output-format", "json", "hi"]])
def test_a_closed_stdout_is_a_failure(terp: Terp, arguments: list[str]) -> None:
    with Loopback(["hello"]) as server:
        flags = [] if arguments[0] in ("--version", "--help") else to(server)
        command = [sys.executable, "-m", "terp_cli", *flags, *arguments]
        closed = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
        done = subprocess.run(
            closed,
            cwd=terp.cwd,
            env=terp.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        1,
        "terp: the output cannot be written: stdout is closed.\n",
    )
