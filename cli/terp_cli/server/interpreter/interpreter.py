"""`AsyncInterpreter`: a conversation as an object, and the server that shares it."""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from terp.errors import TerpError
from terp.opening.changing import Change, change_settings
from terp.session.session import Session
from terp.settings import Settings
from terp.settings.loading import load_settings
from terp.settings.places import find_places
from terp_cli.server.compat.accumulating import Frame, Misplaced, accumulate
from terp_cli.server.compat.compat import Compat
from terp_cli.server.compat.feed import Reader
from terp_cli.server.compat.frames import COMPLETE, error_frame
from terp_cli.server.compat.variables import Variables
from terp_cli.server.failures import Refused
from terp_cli.server.ground import Ground
from terp_cli.server.interpreter.attributes import Computer, Llm, Top
from terp_cli.server.interpreter.late import LateNames, LateOpener
from terp_cli.server.interpreter.server import InterpreterServer
from terp_cli.server.interpreter.stopping import RespondThread, StopEvent
from terp_cli.server.limits import ServerLimits
from terp_cli.server.sessions import Sessions
from terp_cli.server.token import token_of


class AsyncInterpreter(Top):
    """A conversation that clients of the protocol share, and its program can take part in.

    Settings are attributes, those of the model of `llm`. What a program sets here it may set; what comes over
    the wire is held to what a server takes from its clients, unless this is `unsafe`. `environ` is that of
    this process, where nothing else is given.
    """

    def __init__(self, *, environ: Mapping[str, str] | None = None, unsafe: bool = False) -> None:
        self._environ = os.environ if environ is None else environ
        places, variables = find_places(self._environ), Variables(self._environ)
        started = load_settings({}, profile="", environ=self._environ, places=places).settings
        token, _ = token_of(self._environ)
        names, limits = LateNames(variables), ServerLimits()
        ground = Ground(Path.cwd(), places)
        opener = LateOpener(
            ground, self._environ, token, lambda: self.wanted.settings, lambda: str(self.llm.api_key)
        )
        sessions = Sessions(opener, ground, limits)
        self._compat = Compat(
            sessions, started, self._change, variables, token, alone=lambda: names.alone, unsafe=unsafe
        )
        super().__init__(self._compat.wanted)
        self.llm = Llm(self._compat.wanted)
        self.computer = Computer(self._compat.wanted)
        self.server = InterpreterServer(self._compat, sessions, names, token, limits)
        self.respond_thread = RespondThread(self._compat.conversation)
        self.id = variables.id or str(time.time())
        self.print = False
        self.context_mode = False
        self.acknowledged_outputs: list[str] = []
        self.stop_event = StopEvent(self._compat.conversation)
        self._own: Reader | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What was said, as the protocol has it."""
        return self._compat.conversation.messages

    @messages.setter
    def messages(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self._compat.conversation.replace(messages)

    @property
    def require_acknowledge(self) -> bool:
        """Whether each frame is sent until its client has said that it came."""
        return self._compat.feed.acknowledged

    @require_acknowledge.setter
    def require_acknowledge(self, wanted: bool) -> None:
        self._compat.feed.acknowledged = wanted

    @property
    def output_queue(self) -> Sequence[Frame]:
        """The frames that this program has not taken yet with `output`."""
        return self._compat.feed.since(self._reader().at)

    @property
    def unsent_messages(self) -> Sequence[Frame]:
        """The frames that wait for a client to come again."""
        return self._compat.feed.unsent

    def accumulate(self, chunk: Frame | str | bytes) -> None:
        """Add a frame to the messages; nothing is answered.

        Raises:
            Misplaced: it fits nowhere.
        """
        accumulate(self.messages, chunk)

    async def input(self, chunk: Frame | str | bytes) -> None:
        """Take a frame, as from a client; what is wrong with it is put out."""
        self._reader()
        try:
            await self._compat.conversation.take(chunk)
        except Misplaced as error:
            self._tell(str(error))
        except Refused as refused:
            self._tell(refused.problem.message)
        except TerpError as error:
            self._tell(error.message)

    async def output(self) -> Frame:
        """The next frame; waits for one."""
        reader = self._reader()
        frame = await reader.next()
        reader.took()
        if "id" in frame:
            self.acknowledged_outputs.append(frame["id"])
        if self.print and frame.get("role") != "server" and isinstance(text := frame.get("content"), str):
            sys.stdout.write(text)
            sys.stdout.flush()
        return frame

    async def respond(self, run_code: bool | None = None) -> None:
        """Have the messages answered, and return at the end; `run_code` runs the code that waits, or none."""
        self._reader()
        await self._compat.conversation.respond(run_code=run_code)

    def _reader(self) -> Reader:
        # Who never asks is no reader: frames would be kept for nobody.
        if self._own is None:
            self._own = self._compat.feed.join()
        return self._own

    def _tell(self, problem: str) -> None:
        self._compat.feed.add([error_frame(problem), COMPLETE])

    async def _change(self, session: Session, before: Settings, after: Settings) -> None:
        await change_settings(session, Change(before, after), self._environ, api_key=self.llm.api_key)
