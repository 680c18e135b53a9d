"""A conversation of Open Interpreter as a session of terp, from the file to the next answer."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import Terp, said

THEIRS = [
    {"role": "user", "type": "message", "content": "How many?"},
    {"role": "assistant", "type": "code", "format": "python", "content": "print(3)"},
    {"role": "computer", "type": "console", "format": "output", "content": "3"},
    {"role": "assistant", "type": "message", "content": "Three."},
]


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    terp = Terp(tmp_path)
    (terp.cwd / "theirs.json").write_text(json.dumps(THEIRS))
    return terp


def test_it_is_listed_gone_on_with_and_exported(terp: Terp) -> None:
    result = terp("sessions", "import", "theirs.json")
    told = re.fullmatch(r"4 messages imported; terp -r (\S+) resumes them\.\n", result.out)
    assert told is not None
    assert "1 turn  How many?" in terp("sessions").out
    asked = terp.asked(["Still three."], "-r", told[1], "and now?")
    assert asked.out == "Still three.\n"
    roles = [role for role, _ in said(asked.requests[0])]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    exported = terp("export", "py").out.strip()
    assert "print(3)" in Path(exported).read_text()


def test_what_was_said_before_the_last_code_is_shown_once(terp: Terp) -> None:
    said_first = {"role": "assistant", "type": "message", "content": "I count them."}
    (terp.cwd / "theirs.json").write_text(json.dumps([THEIRS[0], said_first, *THEIRS[1:-1]]))
    session = terp("sessions", "import", "theirs.json").out.split()[-3]
    shown = terp("sessions", "show", session)
    assert (shown.out + shown.notes).count("I count them.") == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "theirs.json: This is not JSON"),
        ("[]", "theirs.json holds no message."),
        ('["x"]', "theirs.json: Message 1 is not one with a role, a type and text."),
    ],
)
def test_what_is_no_conversation_is_refused(terp: Terp, text: str, problem: str) -> None:
    (terp.cwd / "theirs.json").write_text(text)
    result = terp("sessions", "import", "theirs.json")
    assert (result.code, result.notes.startswith(f"terp: {problem}")) == (2, True)
    assert terp("sessions").out == ""
