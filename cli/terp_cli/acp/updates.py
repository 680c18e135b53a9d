"""The events of a session as updates for an editor: text, and tool calls with code, output and diffs."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from acp import helpers, schema

from terp import events as on
from terp.analysis.edits import spelled_edits
from terp.events import outputs as out
from terp.events.changes import delta_line, described_files, file_groups, stopped_line
from terp.events.performed import account_of
from terp.text.fences import fenced
from terp_cli.fronts.plain import PlainFront
from terp_cli.render.run_text import RunText
from terp_cli.render.sentences import effects_line
from terp_cli.terminal.sanitise import lookalikes, visible

OfCode = (
    on.CodeDelta | on.CodeProposed | on.CodeTyped | on.CodeDeclined | on.CodeRejected | on.CodeStarted
    | on.Printed | on.LateOutput | on.CodeFinished | on.JobChanged
)  # fmt: skip
Content = list[helpers.ToolCallContentVariant]
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
# Each update has the whole output again.
_MOST_CHARS, _MOST_SHOWN, _LONGEST_TITLE = 16_000, 20, 80
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")
_NO_TITLE = re.compile(r"\s*(#|import\b|from\b|%|$)")


@dataclass(slots=True)
class ToolCallView:
    """A tool call as an editor shows it. `diffs` are by path, `shown` are displays by id."""

    id: str
    title: str = "Writing code"
    kind: schema.ToolKind = "execute"
    raw: dict[str, str] = field(default_factory=dict)
    heads: Content = field(default_factory=list)
    diffs: dict[str, Content] = field(default_factory=dict)
    places: dict[str, int | None] = field(default_factory=dict)
    shown: dict[str, Content] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _text: RunText = field(default_factory=RunText)
    _printed: str = ""
    _left_out: int = 0

    def update(self, status: schema.ToolCallStatus | None = None) -> schema.ToolCallProgress:
        """Return all of the call."""
        places = [schema.ToolCallLocation(path=path, line=line) for path, line in self.places.items()]
        return helpers.update_tool_call(
            self.id,
            title=self.title,
            kind=self.kind,
            status=status,
            content=self._content(),
            locations=places[:_MOST_SHOWN],
            raw_input=self.raw or None,
        )

    def code(self, language: str, code: str) -> None:
        """Take code that runs, or would run."""
        lines = code.strip().split("\n")
        first = next((line.strip() for line in lines if not _NO_TITLE.match(line)), lines[0])[:_LONGEST_TITLE]
        self.title = visible(first if language == "python" else f"{language}: {first}")
        self.heads = [_said(fenced(visible(code), language))]

    def propose(self, event: on.CodeProposed) -> None:
        """Take the code, with its expected effects and edits."""
        cwd, effects = event.cwd, event.effects
        edits = spelled_edits(event.language, event.code, cwd)
        self.code(event.language, event.code)
        self._text, self.kind = RunText(cwd), _kind_of(effects.kinds, edits=bool(edits))
        tier = "no sandbox" if event.tier == "none" else f"sandbox: {event.tier}"
        lines = [f"! {line}." for line in lookalikes(event.code)]
        lines += [f"Expected: {effects_line(effects, edits)}. In {event.place or cwd}, {tier}."]
        lines += [f"You are still asked: {event.asks}."] if event.asks else []
        self.heads.append(_said("\n".join(lines)))
        self.diffs, self.places = {}, {}
        for one in edits:
            self._change(_full(one.path, cwd), one.diff)
        touched = [*effects.targets("reads"), *effects.targets("writes"), *effects.targets("deletes")]
        for target in touched:
            if not re.search(r"[{}*?]", target):
                self.places.setdefault(_full(target, cwd), None)
        self.raw = {"language": event.language, "code": event.code, "digest": event.digest, "cwd": cwd}

    def add(self, output: out.Output) -> None:
        """Add an output: text to the text, a display by itself or in place of the one with its id."""
        if isinstance(output, out.Clear):
            self._printed, self._left_out = "", 0
            self.shown.clear()
        elif isinstance(output, out.Display | out.DisplayUpdate) and (content := _content_of(output)):
            self.shown[output.display_id or f"#{len(self.shown)}"] = content
        else:
            self._print(self._text.add(output))

    def finish(self, event: on.CodeFinished) -> None:
        """Take the end of the run: its files, its note and the changes of variables."""
        self._print(self._text.rest())
        for one in event.files:
            if one.here and one.action != "deleted":
                self._change(one.here, "" if one.host else one.diff)
            if new := _new_file(one):
                self.diffs[one.path] = new
        self.notes += [
            *(f"{group[0].action} {described_files(group, event.cwd)}" for group in file_groups(event.files)),
            event.note,
            account_of(event.effects, event.files, event.cwd),
            f"Stopped at {stopped_line(event.stopped_at)}" if event.stopped_at else "",
            delta_line(event.changes, event.more_changes),
        ]
        if self._left_out and event.output_path:
            self.shown["#output"] = [_link(event.output_path)]

    def _change(self, path: str, diff: str) -> None:
        hunk = _HUNK.search(diff)
        self.places[path] = int(hunk[1]) if hunk else self.places.get(path)
        if diff:
            self.diffs[path] = _hunks(path, diff)

    def _content(self) -> Content:
        cut = f"[… {self._left_out:,} characters before …]\n" if self._left_out else ""
        printed = [_said(fenced(cut + self._printed, "console"))] if self._printed.strip() else []
        shown = list(self.shown.values())[-_MOST_SHOWN:]
        notes = "\n".join(f"- {visible(note)}" for note in self.notes if note)
        parts = [self.heads, *self.diffs.values(), printed, *shown, [_said(notes)] if notes else []]
        return [one for part in parts for one in part]

    def _print(self, text: str) -> None:
        self._left_out += max(0, len(self._printed) + len(text) - _MOST_CHARS)
        self._printed = (self._printed + text)[-_MOST_CHARS:]


class Updates:
    """Converts events to updates. While it `replays`, prompts and errors of turns are among them."""

    def __init__(self) -> None:
        self.calls: dict[str, ToolCallView] = {}
        self.dirty: dict[str, ToolCallView] = {}
        """Running calls with output that was not sent yet."""
        self.replays = False
        self._notes = io.StringIO()
        # The words for all other events, and the check that none is forgotten.
        self._plain = PlainFront(self._notes, self._notes)

    def flush(self) -> Iterator[helpers.SessionUpdate]:
        """Yield the output so far of running calls."""
        dirty, self.dirty = self.dirty, {}
        yield from (call.update() for call in dirty.values())

    def of(self, event: on.Event) -> Iterator[helpers.SessionUpdate]:
        """Yield the updates for an event."""
        if isinstance(event, OfCode):
            if event.call_id not in self.calls:
                call = self.calls[event.call_id] = ToolCallView(event.call_id)
                yield helpers.start_tool_call(call.id, call.title, kind="execute", status="pending")
            if status := self._of_code(self.calls[event.call_id], event):
                self.dirty.pop(event.call_id, None)
                yield self.calls[event.call_id].update(status)
            return
        match event:
            case on.TextDelta(text=text):
                yield helpers.update_agent_message_text(text)
            case on.ReasoningDelta(text=text):
                yield helpers.update_agent_thought_text(text)
            case on.TurnStarted(prompt=prompt) if self.replays:
                yield helpers.update_user_message_text(prompt)
            case on.TurnFinished(reason=reason) if reason == "done" or not self.replays:
                return
            case _:
                self._plain.take(event)
                if text := self._notes.getvalue().strip():
                    yield helpers.update_agent_message_text(f"\n\n*{text}*\n\n")
                self._notes.seek(self._notes.truncate(0))

    def _of_code(self, call: ToolCallView, event: OfCode) -> schema.ToolCallStatus | None:
        """Take an event of a call; return the call's status if it must be sent at once."""
        status: schema.ToolCallStatus | None = None
        match event:
            case on.CodeDelta():
                return None
            case on.CodeProposed():
                call.propose(event)
                status = "pending"
            case on.CodeTyped(language=language, code=code):
                call.code(language, code)
                status = "pending"
            case on.CodeStarted():
                status = "in_progress"
            case on.CodeDeclined(reason=reason) | on.CodeRejected(reason=reason):
                call.notes.append(f"Not run: {reason}" if reason else "Not run.")
                status = "failed"
            case on.CodeFinished(status=end):
                call.finish(event)
                status = "completed" if end == "ok" else "failed"
            case on.Printed(output=output) | on.LateOutput(output=output):
                call.add(output)
            case on.JobChanged(job=job, state=state):
                call.notes.append(f"Job {job}: {state}.")
            case _:
                assert_never(event)
        self.dirty[call.id] = call
        return status


def _kind_of(kinds: frozenset[str], *, edits: bool) -> schema.ToolKind:
    if kinds in ({"reads"}, {"network"}):
        return "read" if "reads" in kinds else "fetch"
    if "deletes" in kinds and kinds <= {"deletes", "reads"}:
        return "delete"
    return "edit" if edits and kinds <= {"reads", "writes"} else "execute"


def _said(text: str) -> helpers.ToolCallContentVariant:
    return helpers.tool_content(helpers.text_block(text))


def _link(path: str) -> helpers.ToolCallContentVariant:
    return helpers.tool_content(helpers.resource_link_block(Path(path).name, Path(path).as_uri()))


def _content_of(display: out.Display | out.DisplayUpdate) -> Content:
    """Return the content for a display: a picture, Markdown or a page; empty for other text."""
    data, path = display.data, display.path
    picture = next((kind for kind in _PICTURES if isinstance(data.get(kind), str)), "")
    if picture:
        uri = Path(path).as_uri() if path else None
        return [helpers.tool_content(helpers.image_block(data[picture].replace("\n", ""), picture, uri=uri))]
    if isinstance(text := data.get("text/markdown"), str):
        return [_said(text)]
    return [_link(path)] if path else []


def _full(path: str, cwd: str) -> str:
    return str(Path(cwd, path).expanduser())


def _new_file(change: out.FileChange) -> Content:
    """Return the content of a small text file that was created, as a diff."""
    if change.action != "created" or change.host or change.size > _MOST_CHARS:
        return []
    try:
        return [helpers.tool_diff_content(change.path, Path(change.path).read_bytes().decode())]
    except (OSError, ValueError):
        return []


def _hunks(path: str, diff: str) -> Content:
    """Return the hunks of a unified diff, each as its lines before and after."""
    hunks = re.split(r"^@@ .*\n", diff, flags=re.MULTILINE)[1 : _MOST_SHOWN + 1]
    sides = [
        ["\n".join(line[1:] for line in hunk.rstrip("\n").split("\n") if line[:1] != other) for other in "+-"]
        for hunk in hunks
    ]
    return [helpers.tool_diff_content(path, after, before) for before, after in sides]
