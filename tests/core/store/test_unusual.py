"""What is kept when something is out of the ordinary: two at once, damage, an end without a turn."""

import asyncio
import stat
from pathlib import Path

import pytest

from terp.events import CodeProposed, Noticed, TurnFinished
from terp.events.outputs import Display
from terp.store.catalogue import Catalogue
from terp.store.journal import DAMAGED, NAME
from terp.store.reading import read
from terp.testing import EchoKernel, collect
from terp.testing import call as call_of
from tests.core.sessions import of
from tests.core.store.keeping import SECRET, again, kept, lines


async def talked(folder: Path) -> None:
    session = kept(folder, "hello", [call_of("1 + 1", id="a")], "it is 2")
    for prompt in ("hi", "what is 1 + 1?"):
        await collect(session, prompt)
    await session.aclose()


async def test_what_is_undone_in_a_resumed_session_stays_undone(tmp_path: Path) -> None:
    await talked(tmp_path / "s")
    session = again(tmp_path / "s")
    session.rewind.undo()
    await session.aclose()
    assert [turn.prompt for turn in read(tmp_path / "s").history.turns] == ["hi"]


async def test_a_summary_in_a_resumed_session_is_not_paid_for_twice(tmp_path: Path) -> None:
    await talked(tmp_path / "s")
    session = again(tmp_path / "s", "a summary")
    await session.compact()
    await session.aclose()
    assert tuple(read(tmp_path / "s").history) == session.history


async def test_a_conversation_that_was_put_in_its_place_is_kept(tmp_path: Path) -> None:
    await talked(tmp_path / "s")
    session = again(tmp_path / "s")
    session.history = session.history[:2]
    await session.aclose()
    assert len(read(tmp_path / "s").history.messages) == 2


async def test_two_new_sessions_in_one_folder_do_not_mix(tmp_path: Path) -> None:
    one, other = kept(tmp_path / "s", "1"), kept(tmp_path / "s", "2")
    await collect(one, "a")
    await one.aclose()
    before = lines(tmp_path / "s")
    seen = await collect(other, "b")
    await other.aclose()
    assert lines(tmp_path / "s") == before
    assert "is not stored" in of(Noticed, seen)[0].text


async def test_a_new_session_in_a_folder_that_is_in_use_goes_on_in_memory(tmp_path: Path) -> None:
    one, other = kept(tmp_path / "s", "1"), kept(tmp_path / "s", "2")
    await collect(one, "a")
    seen = await collect(other, "b")
    assert "is not stored" in of(Noticed, seen)[0].text
    await one.aclose()
    await other.aclose()


@pytest.mark.parametrize("name", [b"model_called", b"code_started", b"turn_finished"])
async def test_damage_inside_a_line_is_no_crash(tmp_path: Path, name: bytes) -> None:
    await talked(tmp_path / "s")
    path = tmp_path / "s" / NAME
    at = path.read_bytes().rindex(b'{"event":"' + name) + 12 + len(name)
    content = bytearray(path.read_bytes())
    content[at : at + 4] = b"####"
    path.write_bytes(content)
    assert read(tmp_path / "s").header.id == "s"


async def test_what_is_put_aside_is_for_the_owner_alone(tmp_path: Path) -> None:
    await talked(tmp_path / "s")
    with (tmp_path / "s" / NAME).open("ab") as file:
        file.write(b"\0\0\n\0\n")
    session = again(tmp_path / "s", "1")
    await collect(session, "more")
    await session.aclose()
    assert stat.S_IMODE((tmp_path / "s" / DAMAGED).stat().st_mode) == 0o600


async def test_only_paths_of_its_files_are_others_in_a_fork(tmp_path: Path) -> None:
    beside = f"open('{tmp_path / 's'}tatistics.csv')"
    session = kept(tmp_path / "s", [call_of(beside, id="a")], "1")
    await collect(session, "go")
    copy = session.rewind.fork()
    await session.aclose()
    proposed = [record.event for record in read(tmp_path / copy).events.records]
    assert [event.code for event in of(CodeProposed, proposed)] == [beside]


def test_a_search_for_nothing_finds_nothing(tmp_path: Path) -> None:
    asyncio.run(talked(tmp_path / "s"))
    assert list(Catalogue(tmp_path).search([])) == []


async def test_an_object_that_looks_like_a_picture_keeps_no_secret(tmp_path: Path) -> None:
    shown = Display({"application/json": {"mime": "text/plain", "data": SECRET}})
    kernel = EchoKernel({"x": [shown]})
    session = kept(tmp_path / "s", [call_of("x", id="a")], "1", kernels=kernel)
    await collect(session, "go")
    await session.aclose()
    assert SECRET.encode() not in (tmp_path / "s" / NAME).read_bytes()


async def test_an_output_that_is_nested_too_deeply_to_be_written_ends_no_turn(tmp_path: Path) -> None:
    nested: object = 1
    for _ in range(20_000):
        nested = [nested]
    kernel = EchoKernel({"x": [Display({"application/json": nested})]})
    session = kept(tmp_path / "s", [call_of("x", id="a")], "1", kernels=kernel)
    seen = await collect(session, "go")
    await session.aclose()
    assert seen[-1] == TurnFinished("done", "1")
    assert [event.text for event in of(Noticed, seen)] == [
        "An output of this session is not stored: it is nested too deeply."
    ]
    assert tuple(read(tmp_path / "s").history) == session.history
