"""What is allowed, given to real shells: they run nothing but what the rules name."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.analysis.rules.written import rules, verdict

# Whatever a shell would run is noted, also as a program, an expansion or a file.
_NOTING = """
PATH=/nowhere
unset -f rm 2>/dev/null
command_not_found_handle() { builtin echo "ran: $1" >> "$NOTES"; }
command_not_found_handler() { builtin echo "ran: $1" >> "$NOTES"; }
evil() { builtin echo "ran: evil" >> "$NOTES"; }
"""
PIECES = [
    *("echo", "echo x", "evil", "evil", " ", " ", ";", "&&", "||", "|", "&", "\n", "'", '"', "\\", "`", "$("),
    *(")", "(", "{", "}", "<(", ">", "<", "<<E\n", "\nE\n", "#", "!", "$x", "*", "x=", "if ", "then ", "fi"),
    *("-", "&>", "|&", "=", "~", "$'", "[", "do ", "done", "time ", "in", "eval", "\r", "\t", "\x0b", " "),
]
CODE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=10).map("".join)
ALLOWED = rules(allow=("shell: echo **", "shell: echo"))


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(code=CODE | st.tuples(st.just("echo "), CODE).map("".join))
def test_a_shell_runs_nothing_else_than_what_was_allowed(tmp_path: Path, shell: str, code: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    if verdict(ALLOWED, code) != "allow":
        return
    notes = tmp_path / "notes"
    notes.write_text("")
    (tmp_path / "cell").write_text(code, newline="")
    flags = ["--norc", "--noprofile"] if shell == "bash" else ["-f"]
    subprocess.run(
        [program, *flags, "-c", f"{_NOTING}\n. ./cell"],
        cwd=tmp_path,
        env={"NOTES": str(notes)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert notes.read_text() == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cell", "notes"]
