"""Conversations of elsewhere, kept as sessions."""

import json
from pathlib import Path
from typing import Any

import pytest

from terp.events import CodeFinished, CodeProposed, Printed, TextDelta, TurnFinished, TurnStarted
from terp.events.messages import Assistant, Image, Result, User
from terp.events.outputs import Display, Text
from terp.secrets.known_secrets import Secrets
from terp.settings import Settings
from terp.store.keeping import Keeper
from terp.store.places import new_place
from terp.store.reading import StoredLog, read
from terp.store.saved_messages import from_json, import_messages
from terp.testing import call
from tests.core.sessions import of

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def imported(folder: Path, messages: Any) -> StoredLog:
    """What is read back of the session that such a file becomes."""
    place = new_place(folder / "2026-01-01-0a1b2c3d", str(folder), Secrets({}, Settings()))
    assert isinstance(place.keeper, Keeper)
    import_messages(from_json(json.dumps(messages)), place.keeper, str(folder))
    return read(place.folder)


def test_text_code_and_output_become_turns_that_can_be_gone_on_with(tmp_path: Path) -> None:
    stored = imported(
        tmp_path,
        [
            {"role": "user", "type": "message", "content": "How many?"},
            {"role": "assistant", "type": "message", "content": "I count."},
            {"role": "assistant", "type": "code", "format": "python", "content": "print(3)"},
            {"role": "computer", "type": "console", "format": "active_line", "content": 1},
            {"role": "computer", "type": "console", "format": "output", "content": "3\n"},
            {"role": "assistant", "type": "message", "content": "Three."},
            {"role": "user", "type": "message", "content": "Sure?"},
            {"role": "assistant", "type": "message", "content": "Yes."},
        ],
    )
    assert list(stored.history) == [
        User("How many?"),
        Assistant("I count.", (call("print(3)", id="loaded_1"),)),
        Result("loaded_1", "3\n"),
        Assistant("Three."),
        User("Sure?"),
        Assistant("Yes."),
    ]
    assert [turn.prompt for turn in stored.history.turns] == ["How many?", "Sure?"]
    assert (stored.left_over, stored.notices, stored.last_run, stored.calls) == ((), (), 1, 1)
    events = [record.event for record in stored.events.records]
    assert of(TurnStarted, events) == [TurnStarted("How many?"), TurnStarted("Sure?")]
    assert [(one.language, one.code) for one in of(CodeProposed, events)] == [("python", "print(3)")]
    assert of(Printed, events) == [Printed("c1", Text("stdout", "3\n"))]
    assert of(TextDelta, events) == [TextDelta("I count."), TextDelta("Three."), TextDelta("Yes.")]
    assert of(TurnFinished, events) == [TurnFinished("done", "Three."), TurnFinished("done", "Yes.")]


def test_a_run_that_failed_there_is_one_that_failed(tmp_path: Path) -> None:
    stored = imported(
        tmp_path,
        [
            {"role": "user", "type": "message", "content": "go"},
            {"role": "assistant", "type": "code", "format": "python", "content": "1/0"},
            {
                "role": "computer",
                "type": "console",
                "format": "output",
                "content": "Traceback (most recent call last):\n  ...\nZeroDivisionError",
            },
        ],
    )
    [finished] = of(CodeFinished, [record.event for record in stored.events.records])
    assert (finished.status, finished.note) == (
        "error",
        "It ran elsewhere, before this conversation was imported.",
    )


def test_pictures_of_both_sides_are_kept(tmp_path: Path) -> None:
    picture = {"type": "image", "format": "base64.png", "content": PICTURE}
    stored = imported(
        tmp_path,
        [
            {"role": "user", "type": "message", "content": "like this"},
            {"role": "user", **picture},
            {"role": "assistant", "type": "code", "format": "python", "content": "plot()"},
            {"role": "computer", **picture},
        ],
    )
    messages = list(stored.history)
    assert messages[0] == User("like this", (Image("image/png", PICTURE),))
    assert isinstance(messages[2], Result)
    assert messages[2].images == (Image("image/png", PICTURE),)
    shown = [one.output for one in of(Printed, [record.event for record in stored.events.records])]
    [drawn] = [output for output in shown if isinstance(output, Display)]
    assert Path(drawn.path).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(
            [
                {"role": "user", "message": "go"},
                {
                    "role": "assistant",
                    "message": "Now.",
                    "language": "python",
                    "code": "print(1)",
                    "output": "1",
                },
            ],
            id="before 0.2",
        ),
        pytest.param(
            {
                "messages": [
                    {"role": "user", "type": "message", "content": "go"},
                    {"role": "assistant", "type": "message", "content": "Now."},
                    {"role": "assistant", "type": "code", "format": "python", "content": "print(1)"},
                    {
                        "role": "computer",
                        "type": "confirmation",
                        "format": "execution",
                        "content": {"code": "x"},
                    },
                    {"role": "computer", "type": "console", "format": "output", "content": "1"},
                ]
            },
            id="in an object, with confirmations",
        ),
    ],
)
def test_other_shapes_are_the_same_conversation(tmp_path: Path, messages: Any) -> None:
    assert list(imported(tmp_path, messages).history) == [
        User("go"),
        Assistant("Now.", (call("print(1)", id="loaded_1"),)),
        Result("loaded_1", "1"),
    ]


def test_what_begins_without_a_message_of_the_person_gets_a_turn_all_the_same(tmp_path: Path) -> None:
    stored = imported(tmp_path, [{"role": "assistant", "type": "message", "content": "As I said."}])
    assert list(stored.history) == [
        User("(earlier messages are not in the file)"),
        Assistant("As I said."),
    ]


def test_secrets_of_the_file_are_not_kept(tmp_path: Path) -> None:
    said = "my key is sk-abcdefghijklmnopqrstuvwxyz012345"
    imported(tmp_path, [{"role": "user", "type": "message", "content": said}])
    assert "abcdefgh" not in (tmp_path / "2026-01-01-0a1b2c3d/events.jsonl").read_text()
