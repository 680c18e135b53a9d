"""What programs of the shell read comes from the person, and else is at its end at once."""

import shutil
import sys
from pathlib import Path

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import InputRequest, Text
from terp.kernels.hosts.askpass import is_secret
from terp.kernels.hosts.terminal import can_detect_reads
from tests.core.kernels.running import interrupted_at, ran, ran_with

pytestmark = pytest.mark.skipif(
    not can_detect_reads(), reason="this system does not tell in which call a process sleeps"
)
PYTHON = sys.executable


async def test_a_line_comes_from_the_person(shell: Kernel) -> None:
    run = await ran_with(shell, "read -p 'name? ' name; echo \"hi $name\"", "Ann  Ü")
    assert run.outputs == [Text("stderr", "name? "), InputRequest(""), Text("stdout", "hi Ann  Ü\n")]


async def test_a_password_is_asked_as_a_secret(shell: Kernel) -> None:
    run = await ran_with(shell, "read -s -p 'word? ' word; echo $word", "open")
    assert (run.questions, run.stdout) == ([InputRequest("", secret=True)], "open\n")


async def test_lines_are_typed_until_the_end_of_file(shell: Kernel) -> None:
    run = await ran_with(shell, "cat | tr a-z A-Z", "one", "two", None)
    assert run.stdout == "ONE\nTWO\n"
    assert run.questions == [InputRequest("cat reads a line: ")] * 3


async def test_a_program_below_the_shell_may_ask(shell: Kernel) -> None:
    run = await ran_with(shell, f"{PYTHON} -c 'print(input(\"n? \") * 2)'", "ab")
    assert (run.stdout, run.questions) == ("n? abab\n", [InputRequest("")])


async def test_an_empty_line_and_odd_keys_arrive_as_typed(shell: Kernel) -> None:
    typed = "a\x03b\x7fc\x11\x1a\td"
    lines = ["\n", f"{typed}\n"]
    code = f"{PYTHON} -c 'import sys; print([line for line in sys.stdin])'"
    assert (await ran_with(shell, code, "", typed, None)).stdout == f"{lines}\n"


async def test_after_the_end_of_file_nobody_is_asked_again_in_the_cell(shell: Kernel) -> None:
    run = await ran_with(shell, "read a; read b; cat; echo at the end", None)
    assert (len(run.questions), run.stdout) == (1, "at the end\n")
    assert len((await ran_with(shell, "read a", "x")).questions) == 1


async def test_what_one_cell_left_unread_is_not_read_by_the_next(shell: Kernel) -> None:
    await ran_with(shell, "head -c 1", "more than one")
    assert (await ran_with(shell, "read x; echo [$x]", "mine")).stdout == "[mine]\n"


async def test_a_program_that_does_not_read_is_not_asked_for(shell: Kernel) -> None:
    assert (await ran_with(shell, "printf 'wait: '; sleep 0.5; echo")).questions == []


async def test_jobs_read_nothing(shell: Kernel) -> None:
    assert (await ran_with(shell, "cat & wait; echo done")).stdout == "done\n"


@pytest.mark.parametrize("variable", ["SUDO_ASKPASS", "SSH_ASKPASS", "GIT_ASKPASS"])
async def test_a_password_program_asks_the_person(shell: Kernel, variable: str) -> None:
    run = await ran_with(shell, f'"${variable}" "Password for me:"', "s3cret")
    assert (run.stdout, run.questions) == ("s3cret\n", [InputRequest("Password for me:", secret=True)])


async def test_a_password_that_nobody_gives_is_a_failure(shell: Kernel) -> None:
    run = await ran_with(shell, '"$SUDO_ASKPASS" Password:', None)
    assert (run.stdout, run.error) == ("", "ExitStatus 1")


async def test_sudo_is_told_to_ask_there(shell: Kernel, tmp_path: Path) -> None:
    fake = tmp_path / "sudo"
    fake.write_text(
        '#!/bin/sh\n[ "$1" = -A ] && shift && echo "$("$SUDO_ASKPASS" "[sudo] password:")" ran "$@"\n'
    )
    fake.chmod(0o700)
    run = await ran_with(shell, f"PATH={tmp_path}:$PATH; sudo id -u", "pass")
    assert run.stdout == "pass ran id -u\n"
    await ran(shell, "PATH=${PATH#*:}")


def test_names_and_yes_or_no_are_no_secrets() -> None:
    prompts = ("Password: ", "Username for 'https://host': ", "Are you sure (yes/no/[fingerprint])? ")
    assert [is_secret(prompt) for prompt in prompts] == [True, False, False]


async def test_a_program_that_insists_on_a_terminal_gets_one(shell: Kernel) -> None:
    code = f"pty {PYTHON} -c 'import sys; print(sys.stdin.isatty(), sys.stdout.isatty(), input(\"q? \"))'"
    run = await ran_with(shell, code, "yes")
    assert (run.stdout, run.questions) == ("q? yes\nTrue True yes\n", [InputRequest("")])


async def test_a_password_is_asked_on_such_a_terminal(shell: Kernel) -> None:
    run = await ran_with(shell, f"pty {PYTHON} -c 'import getpass; print(getpass.getpass())'", "word")
    assert (run.stdout, run.questions) == ("Password: \nword\n", [InputRequest("", secret=True)])


async def test_its_exit_status_is_that_of_the_program(shell: Kernel) -> None:
    assert (await ran(shell, "pty sh -c 'echo a; exit 3'")).error == "ExitStatus 3"
    run = await ran(shell, "pty no-such-program")
    assert (run.error, run.stdout) == ("ExitStatus 127", "pty: no-such-program: No such file or directory\n")
    assert (await ran(shell, "pty")).stderr == "pty: name a command to run on a terminal: pty COMMAND...\n"


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
async def test_git_asks_for_a_name_and_a_password(shell: Kernel) -> None:
    run = await ran_with(
        shell, "printf 'protocol=https\\nhost=example.org\\n\\n' | git credential fill", "me", "pw"
    )
    assert run.stdout.endswith("username=me\npassword=pw\n")
    assert [question.secret for question in run.questions] == [False, True]


async def test_an_interrupt_ends_what_runs_on_a_terminal_and_its_cell(shell: Kernel) -> None:
    run = await interrupted_at(shell, "pty sh -c 'echo begun; exec sleep 60'; echo not this", "begun")
    assert (run.stdout, run.stderr, run.ended.status) == ("begun\n", "", "interrupted")


async def test_an_interrupt_ends_a_program_that_asks_for_a_password(shell: Kernel) -> None:
    code = 'echo begun; "$SSH_ASKPASS" "Password: "; echo not this'
    run = await interrupted_at(shell, code, "begun")
    assert (run.stdout, run.stderr, run.ended.status) == ("begun\n", "", "interrupted")
