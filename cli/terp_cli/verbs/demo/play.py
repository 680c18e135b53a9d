"""`terp demo`, played: a recorded model, a real kernel, and a person where there is one."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from terp.errors import TerpError
from terp.events import CodeProposed, Event, Noticed
from terp.events.messages import Message
from terp.events.model import Chunk, Model, ModelWrapper
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.models.adapters.discovery import keyed_models
from terp.models.recording.models import ReplayModel
from terp.person import AutoRun, Choice, Consent, Decline, Person, Run
from terp.secrets.keys import with_keys
from terp.session.reply import reply_of
from terp.session.session import Session
from terp.settings import Settings
from terp.store.places import new_place
from terp_cli.fronts.front_end import FrontEnd
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.oneshot import OneShotPrompt, one_shot
from terp_cli.line.stopping import Stopping
from terp_cli.repl.keeping import SessionOpener, folder_of, person_beside
from terp_cli.repl.repl import run_conversation
from terp_cli.repl.terminal_ui import TerminalUI, terminal_ui_of
from terp_cli.terminal.sanitise import one_line
from terp_cli.verbs.demo import (
    CONTINUES,
    FAREWELL,
    INTRODUCTION,
    PROMPT,
    RECORDING,
    TO_BEGIN,
    TO_TRY,
    lacking,
    new_folder,
    picture,
)

# Six characters at a time: about as fast as a model writes.
_PACE_S = 0.012


def demo(call: Invocation) -> int:
    """Play the tour (`terp demo`); return the exit code.

    Raises:
        TerpError: a package that the tour needs is not installed.
    """
    if missing := lacking():
        raise TerpError(missing)
    settings = call.settings()
    model = settings.model or next((one.model for one in keyed_models(with_keys(call.environ))), "")
    stays = bool(model) and call.talks
    ui = terminal_ui_of(call, settings, once=not stays) if call.draws else None
    folder = new_folder(call.cwd)
    if stays and ui is not None and ui.person is not None:
        # No request is sent before the user asks something.
        settings = replace(settings, model=model, titles="off", python=sys.executable, code=True)
        return asyncio.run(play_and_stay(call, settings, folder, ui, ui.person))
    # Without a user the tour runs unasked: all of its code ships with terp.
    person = (ui.person if ui else person_beside(call, settings)) or AutoRun()
    front = ui.front if ui else call.front({"model": "recording"})
    code = asyncio.run(play(folder, folder_of(call), person, front, call.stopping, says=call.notes))
    if not code:
        call.notes.write(f"\n{TO_BEGIN}\n")
    return code


async def play_and_stay(
    call: Invocation, settings: Settings, folder: Path, ui: TerminalUI, user: Person
) -> int:
    """Play the tour as a conversation that continues with the model of `settings`; return the exit code."""
    person = OneTrack(user)
    opener = SessionOpener(call, settings, person, folder)
    session = await opener.open(new_place(folder_of(call), str(folder), call.secrets))

    def ended() -> None:
        session.log.append(Noticed(CONTINUES.format(model=session.model.name), TO_TRY))

    session.model = person.tour = TourModel(session.model, ended)
    call.notes.write(f"{INTRODUCTION}\n\n> {PROMPT}\n")
    call.notes.flush()
    return await run_conversation(opener, session, ui, OneShotPrompt(PROMPT))


class TourModel(ModelWrapper):
    """The recorded model of the tour, and after its last reply the inner one."""

    def __init__(self, inner: Model, ended: Callable[[], object], pace_s: float = _PACE_S) -> None:
        """`ended` is called after the last recorded reply, whose chunks come `pace_s` seconds apart."""
        super().__init__(inner)
        self._recording = ReplayModel(
            RECORDING, "sequence", name="recording", pace=partial(asyncio.sleep, pace_s)
        )
        self._left = len(RECORDING.read_text(encoding="utf-8").splitlines())
        self._ended = ended

    @property
    def plays(self) -> bool:
        """True while recorded replies are left."""
        return self._left > 0

    def end(self) -> None:
        """Let the inner model answer from now on."""
        self._left = 0

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Yield the next recorded reply, or that of the inner model."""
        is_tour = self.plays
        chunks = (self._recording if is_tour else self._inner).stream(messages, tools)
        self._left -= is_tour
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk
        if is_tour and not self.plays:
            self._ended()


async def play(
    folder: Path, artifacts: Path, person: Person, front: FrontEnd, stopping: Stopping, *, says: TextIO
) -> int:
    """Play the tour in `folder` and write its introduction and the picture's path to `says`.

    The kernel is terp's own Python, in which the demo's packages were looked for.
    """
    pace = partial(asyncio.sleep, _PACE_S) if says.isatty() else None
    model = ReplayModel(RECORDING, "sequence", name="recording", pace=pace)
    kernels = LocalKernels(str(folder), KernelOptions(python=sys.executable, languages=("python",)))
    session = Session(model, kernels, OneTrack(person), folder=artifacts)
    says.write(f"{INTRODUCTION}\n\n> {PROMPT}\n")
    says.flush()
    return await one_shot(session, OneShotPrompt(PROMPT), WithPicture(front, folder, says), stopping)


class OneTrack:
    """A person for a recorded model, which cannot react: declined code ends the tour.

    After `tour`, if there is one, another model answers, and can react.
    """

    tour: "TourModel | None" = None

    def __init__(self, person: Person) -> None:
        self._person = person

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the person's decision; a refusal ends the tour."""
        decision = await self._person.approve(proposed)
        if not isinstance(decision, Decline) or not (self.tour is None or self.tour.plays):
            return decision
        if self.tour is not None:
            self.tour.end()
        return Decline(decision.reason, stop=True)

    async def allow(self, request: Consent) -> bool | Decline:
        """Return the person's consent."""
        return await self._person.allow(request)

    async def choose(self, choice: Choice) -> str | Decline:
        """Return the person's choice."""
        return await self._person.choose(choice)

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Return the line that the person types."""
        return await self._person.type_in(prompt, secret=secret)


class WithPicture:
    """A front end that writes the path of the picture at the end, or why there is none."""

    def __init__(self, front: FrontEnd, folder: Path, says: TextIO) -> None:
        self._front, self._folder, self._says = front, folder, says

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Show the turn."""
        await self._front.show(events)

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """End the turn, then name the picture."""
        self._front.finish(events, collected)
        reply = reply_of(events)
        if reply.stop_reason == "declined":
            self._says.write(f"\n{FAREWELL}\n")
        elif path := picture(reply.files, self._folder):
            self._says.write(f"\nThe picture: {one_line(str(path))}\n")
        self._says.flush()
