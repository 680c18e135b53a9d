"""A turn as JSON: one object at its end, or one line for each event."""

import json
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from terp.events import CheckFinished, Event, Noticed, TurnFinished
from terp.events.log import Record
from terp.events.wire import VERSION, to_json
from terp.secrets.redacting import redacted
from terp.secrets.scrubbing import Scrubber
from terp.secrets.seams import Seams
from terp.session.cost.tally import Tally
from terp.session.reply import CodeRun, reply_of


class StreamFront:
    """Writes every event as a line of JSON as soon as it happens, without the secrets of `scrubber`.

    The end of a piece of text in which one may begin comes with the next piece. What was `reported` before
    the turn comes first, as notices.
    """

    def __init__(
        self, lines: TextIO, scrubber: Callable[[], Scrubber] = Scrubber, reported: Sequence[str] = ()
    ) -> None:
        self._lines = lines
        self._scrubber = scrubber
        self._reported = reported

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Write one turn to its end."""
        scrubber = self._scrubber()
        seams = Seams(scrubber)
        for text in self._reported:
            write_json(self._lines, redacted(to_json(Noticed(text)), scrubber))
        async for event in events:
            for record in seams.passed(Record(0, 0.0, event)):
                write_json(self._lines, redacted(to_json(record.event), scrubber))

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """Nothing is left to say: every event is out."""


class ResultFront:
    """Writes one object when the turn is over; `facts` (the session, the model) are part of it.

    `used` gives what the whole session used by then. What was `reported` before the turn is a notice, too.

    What was said and put out is in it without the secrets of `scrubber`.
    """

    def __init__(
        self,
        result: TextIO,
        facts: Mapping[str, Any],
        scrubber: Callable[[], Scrubber] = Scrubber,
        used: Callable[[], Tally] | None = None,
        reported: Sequence[str] = (),
    ) -> None:
        self._result = result
        self._reported = reported
        self._used = used or Tally
        self._facts = facts
        self._scrubber = scrubber

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Let one turn go to its end."""
        async for _ in events:
            pass

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """Write what the turn came to."""
        told = {**result_of(events), "session_usage": usage_json(self._used())}
        told["notices"] = [*self._reported, *told["notices"]]
        clean = redacted(told, self._scrubber())
        write_json(self._result, {**clean, **self._facts, "collected": [str(p) for p in collected]})


def result_of(events: Sequence[Event]) -> dict[str, Any]:
    """What a turn came to, as one object."""
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
    """What calls of the model used, as an object; a cost of which a part is not known is null."""
    cost = used.cost_usd
    return {
        "calls": used.calls,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cached_tokens": used.cached_tokens,
        # A sum of floats has digits that nobody has paid.
        "cost_usd": None if cost is None else round(cost, 9),
        "unpriced_calls": used.unpriced,
        "seconds": used.seconds,
    }


def write_end(stream: TextIO, output_format: str, end: TurnFinished) -> None:
    """Write the end of a turn that could not begin, in either form."""
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
    told = asdict(check)
    del told["left"]
    return told


def write_json(stream: TextIO, data: Mapping[str, Any]) -> None:
    """Write one line of JSON."""
    # A program reads every character as it is; a terminal would obey some of them.
    stream.write(json.dumps(data, ensure_ascii=stream.isatty()).replace("\x7f", "\\u007f") + "\n")
    stream.flush()
