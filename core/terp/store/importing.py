"""A conversation that was held elsewhere, kept as a session: it can be read, exported and gone on with."""

from collections.abc import Iterator, Sequence
from itertools import count

from terp.events import CodeFinished, CodeProposed, CodeStarted, Printed, TextDelta, TurnFinished, TurnStarted
from terp.events.log import EventLog
from terp.events.messages import Assistant, Attachment, Image, Message, Result, ToolCall, User
from terp.events.outputs import Display, Output, RunStatus, Text
from terp.session.artifacts import OUTPUTS, Artifacts
from terp.session.context.history import History
from terp.session.proposals import digest_of
from terp.store.keeping import Keeper
from terp.store.saved_messages import code_of

_WITHOUT_PROMPT = "(what was said before is not in the file)"
_NOTE = "It ran elsewhere, before this conversation was imported."
_FAILED = "Traceback (most recent call last)"


def import_messages(messages: Sequence[Message], keeper: Keeper, cwd: str) -> None:
    """Keep `messages` with `keeper`, which is closed afterwards; each message of the person begins a turn."""
    imported = _Imported(keeper, cwd)
    try:
        for message in messages:
            imported.take(message)
        imported.end_turn()
    finally:
        keeper.close()


class _Imported:
    """Goes through a conversation as a session would, without a model or a kernel."""

    def __init__(self, keeper: Keeper, cwd: str) -> None:
        self._log = EventLog(keep=keeper.event)
        self._history = History()
        self._history.watchers.append(keeper.change)
        self._artifacts = Artifacts(keeper.folder / OUTPUTS, keeper.folder)
        self._cwd = cwd
        self._runs, self._calls = count(1), count(1)
        self._open: dict[str, tuple[str, ToolCall]] = {}
        self._in_turn = False
        self._answer = ""
        keeper.begin(self._log.append, "")

    def take(self, message: Message) -> None:
        """Go on with one message."""
        if isinstance(message, User):
            self.end_turn()
            self._begin(message.text, message.images)
            return
        if not self._in_turn:
            self._begin(_WITHOUT_PROMPT, ())
        match message:
            case Assistant():
                self._reply(message)
            case Result():
                self._result(message)

    def end_turn(self) -> None:
        """The turn is over, if there is one."""
        if self._in_turn:
            self._log.append(TurnFinished("done", self._answer))
        self._in_turn, self._answer = False, ""

    def _begin(self, prompt: str, images: Sequence[Image]) -> None:
        attached = [Attachment(f"picture {number}", "", image) for number, image in enumerate(images, 1)]
        self._log.append(TurnStarted(prompt, tuple(one.name for one in attached)))
        self._history.begin(prompt, attached)
        self._in_turn = True

    def _reply(self, message: Assistant) -> None:
        if message.text:
            self._log.append(TextDelta(message.text))
        ids = [f"c{next(self._calls)}" for _ in message.calls]
        self._history.append(message, ids)
        self._answer = message.text
        self._open |= {call.id: (call_id, call) for call_id, call in zip(ids, message.calls, strict=True)}

    def _result(self, message: Result) -> None:
        call_id, call = self._open.pop(message.call_id)
        language, code = code_of(call)
        run = next(self._runs)
        self._log.append(CodeProposed(call_id, language, code, digest_of(code), self._cwd, 0, "none"))
        self._log.append(CodeStarted(call_id, run))
        for output in self._outputs(run, message):
            self._log.append(Printed(call_id, output))
        status: RunStatus = "error" if _FAILED in message.text else "ok"
        self._log.append(CodeFinished(call_id, status, 0.0, note=_NOTE))
        self._history.append(message)
        # What was said before code ran is no answer to what it put out.
        self._answer = ""

    def _outputs(self, run: int, message: Result) -> Iterator[Output]:
        yield Text("stdout", message.text)
        for image in message.images:
            yield self._artifacts.save(str(run), Display({image.mime: image.data}))
