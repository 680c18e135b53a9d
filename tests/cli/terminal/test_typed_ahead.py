"""The terminal from the start of the program to its first prompt."""

import sys
from pathlib import Path

from tests.cli.running import Terp, to
from tests.cli.teletype import Teletype
from tests.loopback import Loopback


def test_what_is_typed_before_the_prompt_is_there_reaches_it_unseen(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Loopback(["You said so."]) as server:
        command = [sys.executable, "-m", "terp_cli", *to(server)]
        with Teletype(command, terp.cwd, terp.environ) as teletype:
            teletype.until_changed()
            teletype.types("hello\r")
            before_the_banner = teletype.until("/help")
            teletype.until("You said so")
            teletype.types("\x04")
            shown, code = teletype.over()
            assert (code, teletype.modes) == (0, teletype.before)
    assert "terp -c continues this conversation." in shown
    asked = server.requests[0]["messages"][-1]["content"]
    assert (asked, "hello" in before_the_banner) == ("hello", False)


def test_ctrl_d_before_the_prompt_leaves_it(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    command = [sys.executable, "-m", "terp_cli", "-m", "openai/gpt-4o", "--api-key", "none"]
    with Teletype(command, terp.cwd, terp.environ) as teletype:
        teletype.until_changed()
        teletype.types("\x04")
        _, code = teletype.over()
        assert (code, teletype.modes) == (0, teletype.before)


def test_the_terminal_is_as_before_when_there_is_no_prompt_to_come(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    command = [sys.executable, "-m", "terp_cli", "--profile", "none"]
    with Teletype(command, terp.cwd, terp.environ) as teletype:
        shown, code = teletype.over()
        assert (code, shown.count("\n"), teletype.modes) == (2, 1, teletype.before)


def test_a_session_that_cannot_be_opened_takes_the_prompt_away(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Teletype([sys.executable, "-m", "terp_cli", "-m", "gpt"], terp.cwd, terp.environ) as teletype:
        teletype.until("› ")
        shown, code = teletype.over()
        assert (code, teletype.modes) == (2, teletype.before)
    assert shown.rstrip().endswith("such as ollama/gpt, or set api_base.")


def test_what_is_told_of_the_call_comes_above_the_prompt(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    command = [sys.executable, "-m", "terp_cli", "-m", "openai/claude-9", "--api-key", "none"]
    with Teletype(command, terp.cwd, terp.environ) as teletype:
        teletype.until("› ")
        told = teletype.until("goes to openai.")
        teletype.types("\x04")
        teletype.over()
    assert told.endswith("\x1b[1Lterp: 'claude-9' looks like a model of anthropic, but goes to openai.")


def test_ctrl_c_before_the_prompt_ends_the_program_and_leaves_the_terminal_as_before(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Teletype([sys.executable, "-m", "terp_cli"], terp.cwd, terp.environ) as teletype:
        teletype.until_changed()
        teletype.types("\x03")
        _, code = teletype.over()
        assert (code, teletype.modes) == (130, teletype.before)


def test_a_session_is_picked_before_the_prompt(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Loopback(["You said so."]) as server:
        terp(*to(server), "hello")
        command = [sys.executable, "-m", "terp_cli", *to(server), "-r"]
        with Teletype(command, terp.cwd, terp.environ) as teletype:
            teletype.until("Enter takes it")
            # A key of a terminal with another encoding is no error.
            teletype.types("é", "latin-1")
            teletype.types("\x15\r")
            teletype.until("Resumed")
            teletype.types("\x04")
            _, code = teletype.over()
            assert (code, teletype.modes) == (0, teletype.before)
