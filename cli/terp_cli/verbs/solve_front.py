"""What `terp solve` says: what begins, what the model writes meanwhile, and the answer."""

from collections.abc import Mapping
from typing import Any, Protocol, TextIO

from terp.checks.solve import report
from terp.checks.solve.state import State
from terp.errors import StopReason, with_remedy
from terp.events import Event, ModelRetrying, Noticed, TextDelta, TurnFinished
from terp.events.log import Record
from terp.events.wire import VERSION, to_json
from terp.secrets.redacting import redacted
from terp.secrets.seams import Seams
from terp.session.session import Session
from terp_cli.fronts.call import Call
from terp_cli.fronts.json import usage_json, write_json
from terp_cli.terminal.sanitise import readable

_WIDTH = 77
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class SolveFront(Protocol):
    """Shows the work on a problem."""

    def announce(self, what: str) -> None:
        """Say what begins."""

    def show(self, event: Event) -> None:
        """Show an event meanwhile."""

    def answer(self, state: State) -> None:
        """Show the present answer."""

    def ask(self, text: str) -> None:
        """Write a question to the person."""

    def finish(
        self, state: State, reason: StopReason, error: str = "", remedy: str = "", *, shown: bool
    ) -> None:
        """All is over; `shown` is whether the answer was shown, or there is none."""


def front_of(call: Call, session: Session, facts: Mapping[str, str]) -> SolveFront:
    """What shows the work of this call, in the form that was asked for."""
    if call.options.output_format == "text":
        return TextFront(call, session)
    return JsonFront(call.out, session, facts, streams=call.options.output_format == "stream-json")


class TextFront:
    """The solution on stdout, with a report as comments below it; all else on stderr."""

    def __init__(self, call: Call, session: Session) -> None:
        self._call = call
        self._session = session
        dims = call.notes.isatty() and not (call.environ.get("NO_COLOR") or call.options.plain)
        self._dim, self._plain = (_DIM, _PLAIN) if dims else ("", "")
        self._streams = call.notes.isatty() or call.options.verbose
        self._open = False

    def announce(self, what: str) -> None:
        """Say what begins."""
        self._note(f"=== {what} ===\n")

    def show(self, event: Event) -> None:
        """The model's text as it comes, where somebody watches."""
        match event:
            case TextDelta(text=text) if self._streams and not self._call.options.quiet:
                self._call.notes.write(f"{self._dim}{readable(text)}{self._plain}")
                self._call.notes.flush()
                self._open = not text.endswith("\n")
            case TurnFinished():
                self._close()
            case Noticed(text=text, remedy=remedy):
                self._close()
                self._call.tell(with_remedy(text, remedy))
            case ModelRetrying(reason=reason):
                self._close()
                self._call.tell(reason)

    def answer(self, state: State) -> None:
        """The solution, and what is known of it as comments."""
        clean = self._session.equipment.without_secrets
        comments = "".join(f"{line}\n" for told in report.told(state).splitlines() for line in _comment(told))
        code = f"{state.code.rstrip()}\n\n" if state.code else ""
        text = clean(f"{code}{comments}")
        out = self._call.out
        out.write(readable(text) if out.isatty() else text)
        out.flush()

    def ask(self, text: str) -> None:
        """Write a question to the person."""
        self._close()
        self._call.notes.write(text)
        self._call.notes.flush()

    def finish(
        self, state: State, reason: StopReason, error: str = "", remedy: str = "", *, shown: bool
    ) -> None:
        """Show the answer, if nobody has seen it."""
        self._close()
        if not shown:
            self.answer(state)

    def _note(self, text: str) -> None:
        self._close()
        if not self._call.options.quiet:
            self._call.notes.write(readable(text))
            self._call.notes.flush()

    def _close(self) -> None:
        if self._open:
            self._call.notes.write("\n")
        self._open = False


def _comment(line: str) -> list[str]:
    """A line of the report as comments; what quotes code or errors stays one line."""
    from textwrap import wrap  # noqa: PLC0415  (once, at the end)

    if line.startswith(" ") or not line:
        return [f"# {line}".rstrip()]
    lines = wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"# {one}" for one in lines]


class JsonFront:
    """One object at the end; before it, where it `streams`, each event as a line."""

    def __init__(self, out: TextIO, session: Session, facts: Mapping[str, Any], *, streams: bool) -> None:
        self._out = out
        self._session = session
        self._facts = facts
        self._streams = streams
        self._seams = Seams(session.equipment.scrubber())

    def announce(self, what: str) -> None:
        """Nothing: the events tell."""

    def show(self, event: Event) -> None:
        """Write an event."""
        if self._streams:
            for record in self._seams.passed(Record(0, 0.0, event)):
                write_json(self._out, redacted(to_json(record.event), self._seams.scrubber))

    def answer(self, state: State) -> None:
        """Nothing: it is in the object at the end."""

    def ask(self, text: str) -> None:
        """Nothing: nobody is asked."""

    def finish(
        self, state: State, reason: StopReason, error: str = "", remedy: str = "", *, shown: bool
    ) -> None:
        """Write the result."""
        ended = {"stop_reason": reason, "error": error, "remedy": remedy}
        used = self._session.budget.used
        spent = {"cost_usd": used.cost_usd, "usage": usage_json(used)}
        told = {"version": VERSION, **ended, **report.as_json(state), **spent}
        write_json(self._out, {**redacted(told, self._seams.scrubber), **self._facts})
