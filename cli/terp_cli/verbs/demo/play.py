"""`terp demo`, played: a recorded model, a real kernel, and a person where there is one."""

import asyncio
import sys
from collections.abc import AsyncIterable, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

from terp.errors import TerpError
from terp.events import CodeProposed, Event
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.models.recording.models import ReplayModel
from terp.person import AutoRun, Choice, Consent, Decline, Person, Run
from terp.session.reply import reply_of
from terp.session.session import Session
from terp_cli.fronts.front_end import FrontEnd
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.oneshot import OneShotPrompt, one_shot
from terp_cli.line.stopping import Stopping
from terp_cli.repl.keeping import folder_of, person_beside
from terp_cli.repl.terminal_ui import terminal_ui_of
from terp_cli.terminal.sanitise import one_line
from terp_cli.verbs.demo import FAREWELL, INTRODUCTION, PROMPT, RECORDING, lacking, new_folder, picture

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
    ui = terminal_ui_of(call, settings, once=True)
    # Without a user the tour runs unasked: all of its code ships with terp.
    person = (ui.person if ui else person_beside(call, settings)) or AutoRun()
    front = ui.front if ui else call.front({"model": "recording"})
    folder = new_folder(call.cwd)
    return asyncio.run(play(folder, folder_of(call), person, front, call.stopping, says=call.notes))


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
    """A person for a recorded model, which cannot react: declined code ends the tour."""

    def __init__(self, person: Person) -> None:
        self._person = person

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the person's decision; a refusal ends the tour."""
        decision = await self._person.approve(proposed)
        return Decline(decision.reason, stop=True) if isinstance(decision, Decline) else decision

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
