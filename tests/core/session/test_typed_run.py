"""Code that the person typed themselves."""

from contextlib import aclosing
from pathlib import Path

import pytest

from terp.errors import KernelStartFailed, UnknownLanguage
from terp.events import CodeFinished, CodeRejected, CodeStarted, CodeTyped, Event, Noticed, Printed
from terp.events.messages import User
from terp.events.outputs import Text
from terp.kernels.jupyter.local import LocalKernels
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, collect
from tests.core.sessions import open_session
from tests.core.store.keeping import again, kept


async def typed(session: Session, code: str, language: str = "python") -> list[Event]:
    async with aclosing(session.run(language, code)) as events:
        return [event async for event in events]


async def test_it_runs_without_a_question_and_without_the_model(tmp_path: Path) -> None:
    model = ScriptedModel()
    # The person would decline, if they were asked.
    events = await typed(open_session(tmp_path, model, person=ScriptedPerson()), "1+1")
    finished = events[-1]
    assert isinstance(finished, CodeFinished)
    assert events[:-1] == [
        CodeTyped("typed1", "python", "1+1"),
        CodeStarted("typed1", 1),
        Printed("typed1", Text("stdout", "1+1\n")),
    ]
    assert model.requests == []


async def test_the_model_is_told_with_the_next_message_once(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("a", "b"))
    await typed(session, "1+1")
    await collect(session, "what now?")
    await collect(session, "and now?")
    told = [message.text for message in session.history if isinstance(message, User)]
    assert told == [
        "what now?\n\n[Before this message I ran this myself:]\n```python\n1+1\n```\n[Its result:]\n1+1",
        "and now?",
    ]


async def test_a_kernel_that_does_not_start_is_said(tmp_path: Path) -> None:
    class Broken(EchoKernel):
        async def start(self) -> None:
            raise KernelStartFailed("No kernel.", "Install one.")

    events = await typed(open_session(tmp_path, ScriptedModel(), Broken()), "1+1")
    assert events == [
        CodeTyped("typed1", "python", "1+1"),
        CodeRejected("typed1", "No kernel."),
        Noticed("No kernel.", "Install one."),
    ]


async def test_an_unknown_language_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownLanguage):
        await typed(open_session(tmp_path, ScriptedModel()), "x", "klingon")


async def test_what_ran_before_terp_ended_is_told_after_it_in_its_order(tmp_path: Path) -> None:
    before = kept(tmp_path / "s")
    await typed(before, "x = 1")
    await before.aclose()
    session = again(tmp_path / "s", "a", "b")
    await typed(session, "y = 2")
    await collect(session, "what now?")
    await collect(session, "and now?")
    await session.aclose()
    first, second = (message.text for message in session.history if isinstance(message, User))
    typed_before, resumed, typed_since = first.split("\n\n")[1:]
    assert ("x = 1" in typed_before, "The kernel is new" in resumed, "y = 2" in typed_since) == (True,) * 3
    assert second == "and now?"


@pytest.mark.parametrize("code", ["!sed -i s/old/new/ notes.txt", "%%bash\necho new > ./notes.txt"])
async def test_a_text_file_that_the_shell_changed_has_its_diff(tmp_path: Path, code: str) -> None:
    (tmp_path / "notes.txt").write_text("old\n")
    session = open_session(tmp_path / "session", ScriptedModel(), LocalKernels(str(tmp_path)))
    try:
        finished = (await typed(session, code))[-1]
    finally:
        await session.aclose()
    assert isinstance(finished, CodeFinished)
    assert [(one.added, one.removed, one.diff) for one in finished.files] == [
        (1, 1, "@@ -1 +1 @@\n-old\n+new")
    ]
