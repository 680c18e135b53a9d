"""Stored sessions, found and removed."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from terp.errors import SessionError, SessionInUse
from terp.session.session import Session
from terp.store.catalogue import Catalogue
from terp.store.folders import is_due
from terp.store.keeping import resumed
from terp.store.reading import read
from terp.testing import collect
from tests.core.store.keeping import again, kept, redactor


def make(sessions: Path, name: str, *prompts: str, used: float = 0.0) -> Path:
    async def scenario() -> None:
        session = kept(sessions / name, *("answer to " + prompt for prompt in prompts))
        for prompt in prompts:
            await collect(session, prompt)
        await session.aclose()

    asyncio.run(scenario())
    os.utime(sessions / name / "events.jsonl", (used, used))
    return sessions / name


A, B = "2025-11-20-aaaa0000", "2025-11-21-abbb1111"


def two(sessions: Path) -> Catalogue:
    make(sessions, A, "first\nof all", "more", used=1000.0)
    make(sessions, B, "second", used=2000.0)
    (sessions / "2025-11-22-empty").mkdir()
    (sessions / "file").touch()
    return Catalogue(sessions)


def test_a_title_that_was_given_goes_before_the_first_prompt(tmp_path: Path) -> None:
    catalogue = two(tmp_path)
    catalogue.rename(tmp_path / A, "Prices\nof it")
    catalogue.rename(tmp_path / B, "Sales")
    catalogue.rename(tmp_path / B, "")
    assert [entry.title for entry in catalogue.listed()] == ["second", "Prices of it"]


def test_the_session_that_was_used_last_comes_first(tmp_path: Path) -> None:
    entries = two(tmp_path).listed()
    assert [(entry.id, entry.title, entry.turns, entry.cwd) for entry in entries] == [
        (B, "second", 1, "/somewhere"),
        (A, "first", 2, "/somewhere"),
    ]


def test_what_was_said_before_a_reset_is_a_session_of_its_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        session = kept(tmp_path / A, "one", "two")
        await collect(session, "important analysis")
        session.rewind.reset(copy=True)
        await collect(session, "something else")
        await session.aclose()

    asyncio.run(scenario())
    catalogue = Catalogue(tmp_path)
    new, old = catalogue.listed()
    assert [(entry.title, entry.turns) for entry in (new, old)] == [
        ("something else", 1),
        ("important analysis", 1),
    ]
    assert [found.entry.id for found in catalogue.search(["important"])] == [old.id]
    assert (new.id, old.forked_from) == (A, A)


def test_sessions_belong_to_a_directory(tmp_path: Path) -> None:
    catalogue = two(tmp_path)
    assert catalogue.listed("/elsewhere") == []
    assert catalogue.last("/somewhere").name == B
    with pytest.raises(SessionError, match="There is no session of /elsewhere"):
        catalogue.last("/elsewhere")


@pytest.mark.parametrize("name", [A, "2025-11-20", "aaaa0000", "aa"])
def test_a_session_is_found_by_the_beginning_of_its_id(tmp_path: Path, name: str) -> None:
    assert two(tmp_path).find(name).name == A


def test_an_id_that_fits_several_is_told(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=f"More than one session begins with 'a': {B}, {A}"):
        two(tmp_path).find("a")


def test_turns_are_counted_as_they_are_now(tmp_path: Path) -> None:
    async def scenario() -> Session:
        session = kept(tmp_path / A, "1", "2", "3", "a summary", "4")
        for prompt in ("a", "b", "c"):
            await collect(session, prompt)
        await session.compact()
        await collect(session, "d")
        session.rewind.undo()
        await session.aclose()
        return session

    session = asyncio.run(scenario())
    assert (
        Catalogue(tmp_path).listed()[0].turns == len(session.turns) == len(read(tmp_path / A).history.turns)
    )


def test_all_words_must_have_been_said(tmp_path: Path) -> None:
    catalogue = two(tmp_path)
    assert [found.line for found in catalogue.search(["ANSWER", "of all"])] == ["answer to first of all"]
    assert list(catalogue.search(["first", "second"])) == []


def test_words_of_turns_that_were_summed_up_are_found(tmp_path: Path) -> None:
    async def scenario() -> None:
        session = kept(tmp_path / A, "an answer on petals", "2", "a summary")
        await collect(session, "a")
        await collect(session, "b")
        await session.compact()
        await session.aclose()

    asyncio.run(scenario())
    assert [found.line for found in Catalogue(tmp_path).search(["petals"])] == ["an answer on petals"]


def test_the_oldest_sessions_make_room(tmp_path: Path) -> None:
    catalogue = two(tmp_path)
    size = sum(path.stat().st_size for path in (tmp_path / B).rglob("*"))
    pruned = catalogue.prune(size, now=10.0)
    assert (pruned.removed, pruned.left) == (
        (A,),
        sum(path.stat().st_size for path in (tmp_path / B).rglob("*")),
    )
    assert [entry.id for entry in catalogue.listed()] == [B]


def test_a_session_that_is_open_is_never_removed(tmp_path: Path) -> None:
    async def scenario() -> None:
        session = kept(tmp_path / A, "hello")
        await collect(session, "hi")
        catalogue = Catalogue(tmp_path)
        assert catalogue.listed()[0].open
        assert catalogue.prune(0).removed == ()
        with pytest.raises(SessionInUse, match=f"is open \\(process {os.getpid()}\\)"):
            catalogue.remove(tmp_path / A)
        await session.aclose()
        assert catalogue.prune(0).removed == (A,)

    asyncio.run(scenario())


@pytest.mark.parametrize("how", ["remove", "prune"])
def test_a_session_that_is_being_removed_cannot_be_opened(tmp_path: Path, how: str) -> None:
    found: list[str] = []

    def opening(folder: Path) -> None:
        with pytest.raises(SessionError) as failure:
            resumed(folder, redactor)
        found.append(failure.value.message)
        shutil.rmtree(folder)

    folder = make(tmp_path, A, "hi")
    catalogue = Catalogue(tmp_path, clear=opening)
    if how == "remove":
        catalogue.remove(folder)
    else:
        catalogue.prune(0)
    assert found == [f"The session {A} cannot be read: No such file or directory."]
    assert not folder.exists()


@pytest.mark.parametrize("how", ["remove", "prune"])
def test_the_working_directory_that_was_made_for_a_session_goes_with_it(tmp_path: Path, how: str) -> None:
    folder, work = make(tmp_path / "sessions", A, "hi"), tmp_path / "work"
    (work / A).mkdir(parents=True)
    (work / A / "big").write_bytes(bytes(5_000))
    (work / B).mkdir()
    catalogue = Catalogue(tmp_path / "sessions", work)
    if how == "remove":
        catalogue.remove(folder)
    else:
        assert catalogue.prune(4_999).freed > 5_000
    assert [path.name for path in work.iterdir()] == [B]


def test_a_folder_that_has_just_been_made_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / A).mkdir()
    catalogue, made = Catalogue(tmp_path), (tmp_path / A).stat().st_mtime
    assert catalogue.prune(-1, now=made + 60).removed == ()
    assert catalogue.prune(-1, now=made + 100_000).removed == (A,)


def test_somebody_looks_once_a_day(tmp_path: Path) -> None:
    assert (is_due(tmp_path), is_due(tmp_path), is_due(tmp_path / "missing")) == (True, False, False)


def test_a_session_that_went_on_is_listed_as_it_is_now(tmp_path: Path) -> None:
    catalogue = two(tmp_path)
    catalogue.listed()

    async def scenario() -> None:
        session = again(tmp_path / A, "an answer")
        await collect(session, "third")
        await session.aclose()

    asyncio.run(scenario())
    assert [(entry.id, entry.turns) for entry in catalogue.listed()] == [(A, 3), (B, 1)]
