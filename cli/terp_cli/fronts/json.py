"""A turn as JSON: one object at its end, or one line for each event."""

import json
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from terp.events import CheckFinished, Event, Noticed, TurnFinished
from terp.events.log import Record
from terp.events.wire import VERSION, to_json
from terp.secrets.redactor import Redactor, StreamRedactor
from terp.session.cost.budget import Tally
from terp.session.reply import CodeRun, reply_of


class StreamFront:
    """Front end that writes every event at once as a line of JSON, redacted with `redactor`.

    A secret may begin at the end of a piece of text: that end comes with the next piece. Facts `reported`
    before the turn come first, as notices.
    """

    def __init__(
        self, lines: TextIO, redactor: Callable[[], Redactor] = Redactor, reported: Sequence[str] = ()
    ) -> None:
        self._lines = lines
        self._redactor = redactor
        self._reported = reported

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Write one turn to its end."""
        redactor, stream = self._redactor(), StreamRedactor(self._redactor)
        for text in self._reported:
            write_json(self._lines, redactor.redacted_fields(to_json(Noticed(text))))
        async for event in events:
            for record in stream.passed(Record(0, 0.0, event)):
                write_json(self._lines, redactor.redacted_fields(to_json(record.event)))

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """Do nothing: every event is written."""


class ResultFront:
    """Front end that writes one object at the end of the turn, redacted with `redactor`.

    `facts` (the session, the model) are part of it, and the session's usage, which `used` returns. Facts
    `reported` before the turn are among its notices.
    """

    def __init__(
        self,
        result: TextIO,
        facts: Mapping[str, Any],
        redactor: Callable[[], Redactor] = Redactor,
        used: Callable[[], Tally] | None = None,
        reported: Sequence[str] = (),
    ) -> None:
        self._result = result
        self._reported = reported
        self._used = used or Tally
        self._facts = facts
        self._redactor = redactor

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Consume the events of one turn."""
        async for _ in events:
            pass

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """Write the result of the turn."""
        result = {**result_of(events), "session_usage": usage_json(self._used())}
        result["notices"] = [*self._reported, *result["notices"]]
        clean = self._redactor().redacted_fields(result)
        write_json(self._result, {**clean, **self._facts, "collected": [str(p) for p in collected]})


def result_of(events: Sequence[Event]) -> dict[str, Any]:
    """Return the result of a turn as one object."""
    reply = reply_of(events)
    finished = [event for event in events if isinstance(event, TurnFinished)]
    return {
        "version": VERSION,
        "stop_reason": reply.stop_reason,
        "answer": reply.text,
        "computed": dict(reply.computed),
        "error": reply.error,
        "remedy": finished[-1].remedy if finished else "",
        "notices": [event.text for event in events if isinstance(event, Noticed)],
        "code_log": [_run(run) for run in reply.code_log],
        "checks": [_check(one) for one in reply.checks],
        "files": list(reply.files),
        "images": list(reply.images),
        "usage": usage_json(reply.used),
    }


def usage_json(used: Tally) -> dict[str, Any]:
    """Return the usage of the model as an object; the cost is null if a part of it is unknown."""
    cost = used.cost_usd
    return {
        "calls": used.calls,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cached_tokens": used.cached_tokens,
        # Rounds off the error of a sum of floats.
        "cost_usd": None if cost is None else round(cost, 9),
        "unpriced_calls": used.unpriced,
        "seconds": used.seconds,
    }


def write_end(stream: TextIO, output_format: str, end: TurnFinished) -> None:
    """Write the end of a turn that could not begin, in either form of JSON."""
    write_json(stream, result_of([end]) if output_format == "json" else to_json(end))


def _run(run: CodeRun) -> dict[str, Any]:
    return {
        "language": run.language,
        "code": run.code,
        "status": run.status,
        "output": run.text,
        "changes": [asdict(change) for change in run.changes],
        "stopped_at": asdict(run.stopped_at) if run.stopped_at else None,
    }


def _check(check: CheckFinished) -> dict[str, Any]:
    result = asdict(check)
    del result["left"]
    return result


def write_facts(stream: TextIO, facts: Mapping[str, Any]) -> int:
    """Write the result of a subcommand, with the version of its form; return 0, the exit code."""
    write_json(stream, {"version": VERSION, **facts})
    return 0


def write_json(stream: TextIO, data: Mapping[str, Any]) -> None:
    """Write one line of JSON."""
    # A terminal would obey control characters.
    stream.write(json.dumps(data, ensure_ascii=stream.isatty()).replace("\x7f", "\\u007f") + "\n")
    stream.flush()
