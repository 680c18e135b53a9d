"""`AsyncInterpreter`: a conversation as an object, with its settings as attributes."""

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from terp.settings.loading import load_settings
from terp.settings.places import find_places
from terp_cli.server.access import OwnNames, token_of
from terp_cli.server.compat.accumulating import Frame, accumulate
from terp_cli.server.compat.client_settings import ClientSettings, Variables, with_value
from terp_cli.server.compat.compat import DEFAULT_HOST, DEFAULT_PORT, Compat
from terp_cli.server.compat.conversation import SharedConversation
from terp_cli.server.compat.feed import FeedReader
from terp_cli.server.compat.frames import COMPLETE, FAILED, failure_frame
from terp_cli.server.connections import ServerLimits
from terp_cli.server.interpreter.server import InterpreterServer
from terp_cli.server.opening import SettingsOpener
from terp_cli.server.sessions import Sessions
from terp_cli.server.workspaces import Workspaces


class _Value:
    """Descriptor of a setting of terp; an invalid value is refused when it is set."""

    def __init__(self, setting: str) -> None:
        self._setting = setting

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, group: Any, _: type | None = None) -> Any:
        return self if group is None else getattr(group.wanted.settings, self._setting)

    def __set__(self, group: Any, value: Any) -> None:
        group.wanted.settings = with_value(group.wanted.settings, self._setting, value, self._name)


class _Kept:
    """Descriptor of a setting without effect; it only stores its value."""

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, group: Any, _: type | None = None) -> Any:
        return self if group is None else group.kept[self._name]

    def __set__(self, group: Any, value: Any) -> None:
        group.kept[self._name] = value


class Top:
    """The settings of the conversation."""

    auto_run = _Value("auto_run")
    system_message = _Value("system_message")
    custom_instructions = _Value("instructions")
    max_output = _Value("max_output_chars")
    contribute_conversation = _Kept()
    conversation_history = _Kept()
    debug = _Kept()
    disable_telemetry = _Kept()
    highlight_active_line = _Kept()
    in_terminal_interface = _Kept()
    loop = _Kept()
    multi_line = _Kept()
    offline = _Kept()
    os = _Kept()
    plain_text_display = _Kept()
    safe_mode = _Kept()
    shrink_images = _Kept()
    speak_messages = _Kept()
    verbose = _Kept()

    def __init__(self, wanted: ClientSettings) -> None:
        self.wanted = wanted
        self.kept = wanted.kept


class Llm:
    """The settings of the model. Its key stays in this object, and is sent only to the model's provider."""

    model = _Value("model")
    temperature = _Value("temperature")
    max_tokens = _Value("max_tokens")
    context_window = _Value("context_window")
    supports_vision = _Value("supports_vision")
    supports_functions = _Value("supports_tools")
    api_base = _Value("api_base")
    api_version = _Value("api_version")
    max_budget = _Value("max_budget_usd")

    def __init__(self, wanted: ClientSettings) -> None:
        self.wanted = wanted
        self.api_key = ""


class Computer:
    """The settings of the machine; without effect here."""

    emit_images = _Kept()
    import_computer_api = _Kept()
    import_skills = _Kept()
    offline = _Kept()
    verbose = _Kept()

    def __init__(self, wanted: ClientSettings) -> None:
        self.kept = wanted.computer


class StopEvent:
    """Like an event of `asyncio`; to be set in the loop of the server."""

    def __init__(self, conversation: SharedConversation) -> None:
        self._conversation = conversation
        self._set = False
        self._stopping: set[asyncio.Task[None]] = set()

    def is_set(self) -> bool:
        """Return True if it was set, and not cleared since."""
        return self._set

    def set(self) -> None:
        """End the answer."""
        self._set = True
        task = asyncio.get_running_loop().create_task(self._conversation.end())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    def clear(self) -> None:
        """Reset the event."""
        self._set = False


class RespondThread:
    """The state of the answer, in place of Open Interpreter's thread."""

    def __init__(self, conversation: SharedConversation) -> None:
        self._conversation = conversation

    def is_alive(self) -> bool:
        """Return True while a turn is running."""
        served = self._conversation.shared.served
        return served is not None and served.turns.busy


class AsyncInterpreter(Top):
    """A conversation that all clients of the protocol share with the program that holds this object.

    Settings are attributes; those of the model are attributes of `llm`. The program may set all of them;
    clients only those that a server accepts from clients, unless this is `unsafe`. `environ` is by default
    that of this process.
    """

    def __init__(self, *, environ: Mapping[str, str] | None = None, unsafe: bool = False) -> None:
        self._environ = os.environ if environ is None else environ
        places, variables = find_places(self._environ), Variables(self._environ)
        started = load_settings({}, profile="", environ=self._environ, places=places).settings
        token, _ = token_of(self._environ)
        names = OwnNames(variables.host or DEFAULT_HOST, int(variables.port or DEFAULT_PORT))
        workspaces = Workspaces(Path.cwd(), places)
        opener = SettingsOpener(
            lambda: self.wanted.settings,
            # No client of the protocol names a profile.
            lambda _: self.wanted.settings,
            workspaces,
            self._environ,
            token,
            lambda: str(self.llm.api_key),
        )
        sessions = Sessions(opener, workspaces, ServerLimits())
        self._compat = Compat(sessions, started, variables, token, names, unsafe=unsafe)
        super().__init__(self._compat.wanted)
        self.llm = Llm(self._compat.wanted)
        self.computer = Computer(self._compat.wanted)
        self.server = InterpreterServer(self._compat, sessions, names, token)
        self.respond_thread = RespondThread(self._compat.conversation)
        self.id = variables.id or str(time.time())
        self.print = False
        self.context_mode = False
        self.acknowledged_outputs: list[str] = []
        self.stop_event = StopEvent(self._compat.conversation)
        self._own: FeedReader | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the conversation, in the protocol's form."""
        return self._compat.conversation.messages

    @messages.setter
    def messages(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self._compat.conversation.replace(messages)

    @property
    def require_acknowledge(self) -> bool:
        """True if each frame is repeated until its client acknowledges it."""
        return self._compat.feed.acknowledged

    @require_acknowledge.setter
    def require_acknowledge(self, wanted: bool) -> None:
        self._compat.feed.acknowledged = wanted

    @property
    def output_queue(self) -> Sequence[Frame]:
        """The frames that the program has not read yet with `output`."""
        return self._compat.feed.since(self._reader().at)

    @property
    def unsent_messages(self) -> Sequence[Frame]:
        """The frames that wait for a client to connect."""
        return self._compat.feed.unsent

    def accumulate(self, chunk: Frame | str | bytes) -> None:
        """Add a frame to the messages, without an answer.

        Raises:
            Misplaced: the frame is out of order or malformed.
        """
        accumulate(self.messages, chunk)

    async def input(self, chunk: Frame | str | bytes) -> None:
        """Handle a frame as if from a client; an error in it is sent as output."""
        self._reader()
        try:
            await self._compat.conversation.take(chunk)
        except FAILED as error:
            self._compat.feed.add([failure_frame(error), COMPLETE])

    async def output(self) -> Frame:
        """Return the next frame; wait for one."""
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
        """Answer the messages, and return them; `run_code` True runs the waiting code, False runs none."""
        self._reader()
        await self._compat.conversation.respond(run_code=run_code)

    def _reader(self) -> FeedReader:
        # Who never asks is no reader: frames would be kept for nobody.
        if self._own is None:
            self._own = self._compat.feed.join()
        return self._own
