"""Sessions that are kept in a store of somebody's own."""

from pathlib import Path

import pytest

import terp
from terp.errors import SessionError
from terp.events import Event, Noticed
from terp.person import AutoRun
from terp.session.session import Session
from terp.store.lines import keep_lines
from terp.testing import EchoKernel, ScriptedModel, collect
from tests.core.sessions import of
from tests.core.store.keeping import SECRET
from tests.loopback import Loopback


class Listed:
    """Lines in memory, which fail once there are `most` pieces of them."""

    def __init__(self, most: int = 1_000) -> None:
        self.pieces: list[bytes] = []
        self.most = most
        self.closed = 0

    def append(self, lines: bytes) -> None:
        if len(self.pieces) == self.most:
            raise LookupError("the table is gone")
        self.pieces.append(lines)

    def sync(self) -> None:
        """Memory is as safe as it gets."""

    def close(self) -> None:
        self.closed += 1


def session(tmp_path: Path, lines: Listed, *replies: str) -> Session:
    kept = keep_lines("monday", lines, b"".join(lines.pieces), environ={"DB_PASSWORD": SECRET})
    return Session(ScriptedModel(*replies), EchoKernel(), AutoRun(), folder=tmp_path / "files", keeper=kept)


async def talk(tmp_path: Path, lines: Listed, prompt: str) -> tuple[Session, list[Event]]:
    going_on = session(tmp_path, lines, "well")
    await collect(going_on, prompt)
    await going_on.aclose()
    return going_on, [record.event for record in going_on.log.since(0)]


async def test_a_session_goes_on_with_the_lines_that_come_back(tmp_path: Path) -> None:
    lines = Listed()
    first, _ = await talk(tmp_path, lines, "hi")
    second, _ = await talk(tmp_path, lines, "and now?")
    assert second.history[:2] == first.history
    assert [turn.prompt for turn in second.turns] == ["hi", "and now?"]
    assert lines.closed == 2


async def test_nothing_is_kept_before_the_first_turn(tmp_path: Path) -> None:
    lines = Listed()
    await session(tmp_path, lines).aclose()
    assert (lines.pieces, lines.closed) == ([], 1)


async def test_a_store_that_fails_is_told_once_and_the_session_goes_on(tmp_path: Path) -> None:
    _, events = await talk(tmp_path, Listed(most=2), "hi")
    assert of(Noticed, events) == [
        Noticed(
            "This session is not stored any further: LookupError: the table is gone (monday).",
            "It continues in memory.",
        )
    ]


async def test_secrets_are_not_kept(tmp_path: Path) -> None:
    lines = Listed()
    await talk(tmp_path, lines, f"it is {SECRET}")
    assert (b"it is" in b"".join(lines.pieces), SECRET.encode() in b"".join(lines.pieces)) == (True, False)


async def test_a_session_in_such_a_store_has_no_copy(tmp_path: Path) -> None:
    going_on = session(tmp_path, Listed(), "hello")
    await collect(going_on, "hi")
    with pytest.raises(SessionError, match="cannot copy sessions"):
        going_on.rewind.fork()
    await going_on.aclose()


async def test_damaged_lines_are_not_gone_on_with(tmp_path: Path) -> None:
    lines = Listed()
    await talk(tmp_path, lines, "hi")
    lines.pieces.insert(1, b"{")
    with pytest.raises(SessionError, match="The session monday cannot be resumed"):
        session(tmp_path, lines)


def test_a_chat_is_kept_where_it_is_told(tmp_path: Path) -> None:
    lines = Listed()
    environ = {"TERP_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    kept = keep_lines("x", lines)
    with (
        Loopback(["hello"]) as server,
        terp.open(model="openai/x", api_base=server.url, environ=environ, keep=kept) as chat,
    ):
        chat("hi")
    assert b'"hello"' in b"".join(lines.pieces)
    assert list((tmp_path / "home").rglob("events.jsonl")) == []
