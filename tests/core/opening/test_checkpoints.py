"""Checkpoints of a session with a real kernel: saved, offered, and loaded in sandboxes."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

import terp
from terp.errors import KernelError, SessionError, SettingsError
from terp.events import Asked, Noticed, Progress
from terp.opening.chat_session import ChatSession, checkpoints_of, offer_checkpoint
from terp.person import AutoRun
from terp.store.checkpointing import is_weaker, limit_of
from terp.testing import ScriptedModel, ScriptedPerson, call, collect
from tests.core.opening.test_session import home_of, surroundings

HOSTILE = """
class Evil:
    def __reduce__(self):
        import builtins
        return builtins.open, ({!r}, 'w')
evil = Evil()
number = 7
"""


# Its state is a call, made while it is loaded.
SLOW = """
class Slow:
    def __reduce__(self):
        import subprocess
        return subprocess.call, (["sh", "-c", "touch loading; exec sleep 60"],)
slow = Slow()
number = 7
"""


def opened(
    tmp_path: Path, *codes: str, answers: tuple[Any, ...] = (), **settings: Any
) -> AbstractAsyncContextManager[ChatSession]:
    """The session in a folder of its own, new or resumed, whose model runs these pieces of code."""
    replies = [reply for code in codes for reply in ([call(code)], "done")]
    return terp.open(
        model=ScriptedModel(*replies),
        person=ScriptedPerson(*["run"] * len(codes), *answers) if answers or codes else AutoRun(),
        cwd=tmp_path,
        keep=home_of(tmp_path) / "sessions" / "2026-11-28-00000001",
        environ=surroundings(tmp_path),
        **settings,
    )


def notices(session: ChatSession) -> list[str]:
    return [
        one.event.text for one in session.log.since(session.log.resumed_at) if isinstance(one.event, Noticed)
    ]


def questions(session: ChatSession) -> list[str]:
    return [
        one.event.what for one in session.log.since(session.log.resumed_at) if isinstance(one.event, Asked)
    ]


async def shown(session: ChatSession, expression: str) -> str:
    return (await session.kernel.run(f"print({expression})")).text.strip()


async def test_a_resumed_session_offers_its_variables_and_the_model_reads_of_them(tmp_path: Path) -> None:
    async with opened(tmp_path, "items = [1, 2]; gen = (i for i in items)") as session:
        await collect(session, "go")
        saved = await checkpoints_of(session).save()
        assert saved.summary() == "items · 1 not kept: gen"
    async with opened(tmp_path, answers=(True,)) as session:
        result = await offer_checkpoint(session)
        assert result.startswith("Restored from the checkpoint of ")
        assert questions(session) == ["Restore items · 1 not kept: gen?"]
        assert await shown(session, "sum(items)") == "3"
        await collect(session, "more")
        text = str(session.history)
        assert "Python variables were restored from a checkpoint: items (list). Not restored: gen." in text
        assert "these variables are gone: gen;" in text


async def test_without_consent_nothing_is_loaded(tmp_path: Path) -> None:
    async with opened(tmp_path, "x = 1") as session:
        await collect(session, "go")
        await checkpoints_of(session).save()
    async with opened(tmp_path, answers=(False,)) as session:
        assert await offer_checkpoint(session) == "/checkpoint load restores them later."
        assert await shown(session, "'x' in globals()") == "False"


async def test_a_name_is_listed_and_read_by_a_program_before_code_mentions_it(tmp_path: Path) -> None:
    async with opened(tmp_path, "n = {'a': 2}") as session:
        await collect(session, "go")
        await checkpoints_of(session).save()
        await session.kernel.restart()
        await checkpoints_of(session).load()
        variable = (await session.kernel.variables())["n"]
        assert (variable.type, variable.head) == ("dict", "in the checkpoint, loaded at its first use")
        # The first completion imports jedi: on a busy machine terp does not wait until it has.
        while not (completed := await session.kernels.get("python").complete("n", 1)):
            pass
        assert "n" in completed
        assert await session.kernel.get("n") == {"a": 2}


async def test_an_automatic_checkpoint_is_saved_after_each_turn(tmp_path: Path) -> None:
    async with opened(tmp_path, "x = 1", "x += 1; big = bytes(2_000)", checkpoint="1500B") as session:
        await collect(session, "one")
        first = checkpoints_of(session).store.read("auto")
        await collect(session, "two")
        second = checkpoints_of(session).store.read("auto")
        assert first.names["x"]["digest"] != second.names["x"]["digest"]
        assert notices(session)[-1] == "Not in the checkpoint: big (there is no room for it)."


async def test_a_checkpoint_is_reported_while_it_is_saved(tmp_path: Path) -> None:
    async with opened(tmp_path, "x = 1") as session:
        await collect(session, "go")
        await checkpoints_of(session).save()
        reported = [one.event for one in session.log.since(0) if isinstance(one.event, Progress)]
    saved = [(one.done, one.total) for one in reported if one.what == "Saving the checkpoint"]
    assert (saved[0], saved[-1]) == ((0, 0), (1, 1))


async def test_by_default_nothing_is_saved(tmp_path: Path) -> None:
    async with opened(tmp_path, "x = 1") as session:
        await collect(session, "one")
        assert checkpoints_of(session).store.all() == []


@pytest.mark.parametrize("accepts", [True, False])
async def test_code_from_a_sandbox_is_loaded_outside_only_after_a_question(
    tmp_path: Path, accepts: bool
) -> None:
    escaped = tmp_path / "escaped"
    async with opened(tmp_path, HOSTILE.format(str(escaped)), sandbox="workspace") as session:
        if session.kernels.get("python").tier == "none":
            pytest.skip("no sandbox works here")
        await collect(session, "go")
        await checkpoints_of(session).save()
    async with opened(tmp_path, answers=(True, accepts), sandbox="off") as session:
        await offer_checkpoint(session)
        assert await shown(session, "number") == "7"
        assert not escaped.exists()
        await session.kernel.run("evil")
        assert escaped.exists() is accepts
        assert "2 values of the checkpoint are code from the sandbox 'bubblewrap'" in questions(session)[1]


async def test_where_nobody_allows_code_of_a_sandbox_the_result_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path, "items = [1]", sandbox="workspace") as session:
        if session.kernels.get("python").tier == "none":
            pytest.skip("no sandbox works here")
        await collect(session, "go")
        await checkpoints_of(session).save()
    async with opened(tmp_path, sandbox="off") as session:
        result = await offer_checkpoint(session)
        assert result == (
            "Nothing was restored: all is code from the sandbox 'bubblewrap', which was not allowed. "
            "/checkpoint load asks again."
        )


async def test_the_same_sandbox_needs_no_question_and_cannot_write_the_objects(tmp_path: Path) -> None:
    async with opened(tmp_path, "pair = (1, 2)", sandbox="workspace") as session:
        if session.kernels.get("python").tier == "none":
            pytest.skip("no sandbox works here")
        await collect(session, "go")
        checkpoints = checkpoints_of(session)
        await checkpoints.save()
        with pytest.raises(SessionError, match="The kernel cannot read the checkpoint"):
            await checkpoints.load()
        await session.kernel.restart()
        await checkpoints.load()
        assert await shown(session, "pair") == "(1, 2)"
        key = home_of(tmp_path) / "checkpoint.key"
        assert key.exists()
        for code in (f"open({str(key)!r})", f"open({str(checkpoints.store.folder / 'last.json')!r}, 'a')"):
            assert (await session.kernel.run(code)).status == "error"


async def test_an_interrupt_while_a_value_loads_stops_the_code_that_needs_it(tmp_path: Path) -> None:
    async with opened(tmp_path, SLOW) as session:
        await collect(session, "go")
        await checkpoints_of(session).save()
    async with opened(tmp_path, answers=(True,)) as session:
        await offer_checkpoint(session)
        run = asyncio.create_task(session.kernel.run(f"open('{tmp_path}/ran', 'w'); slow"))
        while not (tmp_path / "loading").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await session.kernel.interrupt()
        assert ((await run).status, (tmp_path / "ran").exists()) == ("interrupted", False)
        assert await shown(session, "number") == "7"


async def test_a_removed_checkpoint_leaves_the_values_that_were_restored_from_it(tmp_path: Path) -> None:
    async with opened(tmp_path, "x = [41]") as session:
        await collect(session, "go")
        await checkpoints_of(session).save()
    async with opened(tmp_path, answers=(True,)) as session:
        await offer_checkpoint(session)
        await checkpoints_of(session).drop("last")
        assert await shown(session, "x") == "[41]"


async def test_a_changed_checkpoint_is_not_offered(tmp_path: Path) -> None:
    async with opened(tmp_path, "x = 1") as session:
        await collect(session, "go")
        await checkpoints_of(session).save()
        path = checkpoints_of(session).store.folder / "last.json"
        path.write_bytes(path.read_bytes().replace(b'"none"', b'"safe"'))
    async with opened(tmp_path, answers=(True,)) as session:
        result = await offer_checkpoint(session)
        assert result.startswith("The checkpoint 'last' was changed by something other than terp")
        assert result.endswith("/checkpoint drop last removes it.")


async def test_an_interrupted_save_leaves_the_former_one(tmp_path: Path) -> None:
    slow = "class Slow:\n    def __getstate__(self):\n        import time; time.sleep(3)\n        return {}"
    async with opened(tmp_path, "x = 1", f"{slow}\nx = Slow()") as session:
        checkpoints = checkpoints_of(session)
        await collect(session, "go")
        first = await checkpoints.save()
        await collect(session, "slow")
        saving = asyncio.create_task(checkpoints.save())
        # It has begun then.
        await asyncio.sleep(0)
        await session.interrupt()
        with pytest.raises(KernelError, match="Interrupted"):
            await saving
        assert checkpoints.store.read("last") == first


async def test_an_interrupted_save_stops_the_code_of_a_value(tmp_path: Path) -> None:
    code = f"open('{tmp_path}/begun', 'w'); import time; time.sleep(600)"
    async with opened(tmp_path, f"class Slow:\n    def __getstate__(self): {code}\nx = Slow()") as session:
        await collect(session, "go")
        saving = asyncio.create_task(checkpoints_of(session).save())
        while not (tmp_path / "begun").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await session.interrupt()
        with pytest.raises(KernelError, match="Interrupted"):
            await saving
        assert await shown(session, "40 + 2") == "42"


@pytest.mark.parametrize(
    ("now", "then", "weaker"),
    [
        ("none", "none", False),
        ("bubblewrap", "none", False),
        ("none", "bubblewrap", True),
        ("Landlock", "bubblewrap", True),
        ("bubblewrap", "bubblewrap", False),
        ("bubblewrap without network", "bubblewrap", False),
        ("bubblewrap", "bubblewrap without network", True),
        ("bubblewrap", "bubblewrap, effects held", True),
        ("bubblewrap, effects held", "bubblewrap", False),
        ("bubblewrap without network", "bubblewrap without network, effects held", True),
    ],
)
def test_a_sandbox_that_may_allow_more_is_weaker(now: str, then: str, weaker: bool) -> None:
    assert is_weaker(now, then) is weaker


@pytest.mark.parametrize(
    ("setting", "size"), [("off", 0), ("auto", 10**9), ("5GB", 5 * 10**9), ("1.5 m", 1_500_000)]
)
def test_a_size_is_read_with_its_unit(setting: str, size: int) -> None:
    assert limit_of(setting) == size


def test_another_word_is_refused() -> None:
    with pytest.raises(SettingsError, match="checkpoint: 'on' must be auto, off, or a size"):
        limit_of("on")
