"""Clients that write at the same time."""

from pathlib import Path
from typing import Any

import pytest

from terp.events.messages import User
from terp_cli.server.compat.accumulating import Draft, Misplaced
from tests.cli.server.compat.speaking import Frame, speaking

START: Frame = {"role": "user", "type": "message", "start": True}
HI: Frame = {"role": "user", "type": "message", "content": "hi"}
END: Frame = {"role": "user", "type": "message", "end": True}
GO: Frame = {"role": "user", "type": "command", "content": "go"}
CODE: Frame = {"role": "assistant", "type": "code", "format": "python", "content": "x"}


def _said(text: str) -> Frame:
    return {**HI, "content": text}


async def test_two_who_write_at_once_say_two_messages(tmp_path: Path) -> None:
    """C22"""
    async with speaking(tmp_path, "one", "two") as server, server.client() as one, server.client() as two:
        await one.send(START)
        await two.send(START)
        await one.send(_said("from one"))
        await two.send(_said("from two"))
        # A client is answered in order: this says that what it sent before was taken.
        await two.send({"auth": ""})
        await two.until({"auth": True})
        await one.send(END)
        await one.until()
        await two.send(END)
        await one.until()
        asked = [request[-1] for request in server.model.requests]
    assert asked == [User("from one"), User("from two")]


async def test_what_was_begun_by_one_who_left_is_not_said(tmp_path: Path) -> None:
    """C22"""
    async with speaking(tmp_path, "ok") as server, server.client() as client:
        async with server.client() as other:
            await other.send(START, _said("half a "))
        await client.answer("whole")
        asked = [request[1:] for request in server.model.requests]
    assert asked == [[User("whole")]]


@pytest.mark.parametrize(
    ("sent", "counts"),
    [
        ([START, HI, END], [[], [], [START, HI, END]]),
        ([HI], [[HI]]),
        ([END], [[END]]),
        ([b"x"], [[b"x"]]),
        ([START, b"x", END], [[], [], [START, b"x", END]]),
        ([START, CODE, START, END], [[], [], [START, CODE], [START, END]]),
        ([START, CODE, GO], [[], [], [START, CODE, GO]]),
        ([{**GO, "start": True}, GO, END], [[], [], [{**GO, "start": True}, GO, END]]),
        ([{**GO, "start": True, "end": True}, HI], [[{**GO, "start": True, "end": True}], [HI]]),
    ],
)
def test_a_message_counts_when_it_is_whole(sent: list[Any], counts: list[Any]) -> None:
    draft = Draft()
    assert [list(draft.taken(frame)) for frame in sent] == counts


def test_a_message_of_too_many_frames_is_forgotten_also_when_they_are_empty() -> None:
    draft = Draft(longest=1_000)
    draft.taken(START)
    with pytest.raises(Misplaced, match="1,000 characters at most"):
        for _ in range(10):
            draft.taken({**HI, "content": ""})
    assert (draft.is_begun, list(draft.taken(HI))) == (False, [HI])
