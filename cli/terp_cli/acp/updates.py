"""The events of a session as updates for an editor: text, and tool calls with code, output and diffs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never

from acp.helpers import (
    SessionUpdate,
    ToolCallContentVariant,
    image_block,
    resource_link_block,
    start_tool_call,
    text_block,
    tool_content,
    tool_diff_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_tool_call,
    update_user_message_text,
)
from acp.schema import Cost, ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind, UsageUpdate

from terp import events as on
from terp.analysis.edits import spelled_edits
from terp.errors import with_remedy
from terp.events import outputs as out
from terp.events.changes import delta_line, described_files, file_groups, stopped_line
from terp.events.performed import account_of
from terp.text.fences import fenced
from terp_cli.render import sentences
from terp_cli.render.run_text import RunText
from terp_cli.render.sentences import effects_line
from terp_cli.terminal.sanitise import lookalikes, visible

OfCode = (
    on.CodeDelta | on.CodeProposed | on.CodeTyped | on.CodeDeclined | on.CodeRejected | on.CodeStarted
    | on.Printed | on.LateOutput | on.CodeFinished | on.JobChanged
)  # fmt: skip
Other = (
    on.Noticed | on.KernelChanged | on.HistoryCompacted | on.HistoryRewound | on.SessionForked
    | on.SessionResumed | on.CodeCompared | on.CheckStarted | on.CheckFinished | on.Answered | on.Asked
    | on.Progress | on.UsageReported | on.ModelCalled
)  # fmt: skip
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
# Each update has the whole output again.
_MOST_CHARS, _MOST_SHOWN, _LONGEST_TITLE = 16_000, 20, 80
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")
_PASSED_OVER = re.compile(r"\s*(#|import\b|from\b|%|$)")


@dataclass(slots=True)
class ToolCallView:
    """A tool call as an editor shows it: title, kind, places, and content in its order."""

    id: str
    cwd: str = ""
    language: str = ""
    title: str = ""
    kind: ToolKind = "execute"
    raw: dict[str, Any] = field(default_factory=dict)
    heads: list[ToolCallContentVariant] = field(default_factory=list)
    diffs: dict[str, list[ToolCallContentVariant]] = field(default_factory=dict)
    places: list[ToolCallLocation] = field(default_factory=list)
    shown: dict[str, list[ToolCallContentVariant]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _text: RunText = field(default_factory=RunText)
    _printed: str = ""
    _left_out: int = 0

    def propose(self, event: on.CodeProposed) -> None:
        """Take the code, with its expected effects and edits."""
        edits = spelled_edits(event.language, event.code, event.cwd)
        self.code(event.language, event.code)
        self.cwd, self._text = event.cwd, RunText(event.cwd)
        self.kind = _kind_of(event, edits=bool(edits))
        tier = "no sandbox" if event.tier == "none" else f"sandbox: {event.tier}"
        lines = [f"! {line}." for line in lookalikes(event.code)]
        lines += [f"Expected: {effects_line(event.effects, edits)}. In {event.place or event.cwd}, {tier}."]
        lines += [f"You are still asked: {event.asks}."] if event.asks else []
        self.heads += [_said("\n".join(lines))]
        self.diffs = {path: _hunks(path, one.diff) for one in edits for path in [_full(one.path, event.cwd)]}
        named = [
            _full(target, event.cwd)
            for kind in ("reads", "writes", "deletes")
            for target in event.effects.targets(kind)
            if not re.search(r"[{}*?]", target)
        ]
        places = [_place(_full(one.path, event.cwd), one.diff) for one in edits]
        self.places = [*places, *(_place(path) for path in dict.fromkeys(named) if path not in self.diffs)]
        self.raw = {"language": event.language, "code": event.code, "digest": event.digest, "cwd": event.cwd}

    def code(self, language: str, code: str) -> None:
        """Take code that runs, or would run."""
        self.language = language
        lines = code.strip().split("\n")
        first = next((line.strip() for line in lines if not _PASSED_OVER.match(line)), lines[0])
        cut = first if len(first) <= _LONGEST_TITLE else f"{first[:_LONGEST_TITLE]}…"
        self.title = visible(cut if language == "python" else f"{language}: {cut}")
        self.heads = [_said(fenced(visible(code), language))]

    def add(self, output: out.Output) -> None:
        """Add an output: text at the end of the text, a display of its own, or in the place of another."""
        match output:
            case out.Clear():
                self._printed, self._left_out = "", 0
                self.shown.clear()
            case out.Display(data=data, path=path, display_id=id):
                if content := _content_of(data, path):
                    self.shown[id or f"#{len(self.shown)}"] = content
                else:
                    self._print(self._text.add(output))
            case out.DisplayUpdate(data=data, path=path, display_id=id):
                if content := _content_of(data, path):
                    self.shown[id] = content
            case _:
                self._print(self._text.add(output))

    def finish(self, event: on.CodeFinished) -> None:
        """Take the end of the run: its files, its note and the changes of variables."""
        self._print(self._text.rest())
        changed = [one for one in event.files if one.diff and not one.host]
        self.diffs |= {one.path: _hunks(one.path, one.diff) for one in changed}
        self.diffs |= {one.path: found for one in event.files if (found := _new_file(one))}
        here = [one for one in event.files if one.here and one.action != "deleted"]
        known = {place.path for place in self.places}
        self.places += [_place(one.here, one.diff) for one in here if one.here not in known]
        self.notes += [
            *(f"{group[0].action} {described_files(group, event.cwd)}" for group in file_groups(event.files)),
            event.note,
            account_of(event.effects, event.files, event.cwd),
            f"Stopped at {stopped_line(event.stopped_at)}" if event.stopped_at else "",
            delta_line(event.changes, event.more_changes),
        ]
        if self._left_out and event.output_path:
            self.shown["#output"] = [_link(event.output_path)]

    @property
    def content(self) -> list[ToolCallContentVariant]:
        """All content: code, diffs, text output, displays, notes."""
        cut = f"[… {self._left_out:,} characters before …]\n" if self._left_out else ""
        notes = "\n".join(f"- {visible(note)}" for note in self.notes if note)
        return [
            *self.heads,
            *(one for hunks in self.diffs.values() for one in hunks),
            *([_said(fenced(cut + self._printed, "console"))] if self._printed.strip() else []),
            *(one for shown in list(self.shown.values())[-_MOST_SHOWN:] for one in shown),
            *([_said(notes)] if notes else []),
        ]

    def asked(self) -> ToolCallUpdate:
        """Return the call as the subject of a question."""
        return ToolCallUpdate(
            tool_call_id=self.id,
            title=self.title,
            kind=self.kind,
            content=self.content,
            locations=self.places[:_MOST_SHOWN],
            raw_input=self.raw or None,
        )

    def _print(self, text: str) -> None:
        self._printed += text
        if (over := len(self._printed) - _MOST_CHARS) > 0:
            self._left_out += over
            self._printed = self._printed[over:]


class Updates:
    """Converts events to updates. `dirty` are calls whose output is not sent yet; `flush` yields theirs."""

    def __init__(self) -> None:
        self.calls: dict[str, ToolCallView] = {}
        self.dirty: dict[str, ToolCallView] = {}
        self.replays = False
        """True while earlier events are shown again: prompts are part of them. Can be set."""

    def flush(self) -> Iterator[SessionUpdate]:
        """Yield the output so far of running calls."""
        dirty, self.dirty = self.dirty, {}
        for call in dirty.values():
            yield update_tool_call(call.id, content=call.content)

    def of(self, event: on.Event) -> Iterator[SessionUpdate]:
        """Yield the updates for an event."""
        match event:
            case (
                on.CodeDelta() | on.CodeProposed() | on.CodeTyped() | on.CodeDeclined() | on.CodeRejected()
                | on.CodeStarted() | on.Printed() | on.LateOutput() | on.CodeFinished() | on.JobChanged()
            ):  # fmt: skip
                yield from self._of_code(event)
            case on.TextDelta(text=text):
                yield update_agent_message_text(text)
            case on.ReasoningDelta(text=text):
                yield update_agent_thought_text(text)
            case on.TurnStarted(prompt=prompt):
                if self.replays:
                    yield update_user_message_text(prompt)
            case on.ModelRetrying(attempt=attempt, reason=reason, delay_s=delay_s):
                yield update_agent_thought_text(f"\nRetry {attempt} in {delay_s:.0f} s: {reason}\n")
            case on.TurnFinished(error=error, remedy=remedy):
                if error and self.replays:
                    yield note(with_remedy(error, remedy))
            case _:
                if text := _sentence(event):
                    yield note(text)

    def _of_code(self, event: OfCode) -> Iterator[SessionUpdate]:
        if event.call_id not in self.calls:
            self.calls[event.call_id] = ToolCallView(event.call_id)
            yield start_tool_call(event.call_id, "Writing code", kind="execute", status="pending")
        call = self.calls[event.call_id]
        match event:
            case on.CodeDelta():
                return
            case on.CodeProposed():
                call.propose(event)
                yield _whole(call, "pending")
            case on.CodeTyped(language=language, code=code):
                call.code(language, code)
                yield _whole(call, "pending")
            case on.CodeDeclined(reason=reason) | on.CodeRejected(reason=reason):
                call.notes.append(f"Not run: {reason}" if reason else "Not run.")
                yield _whole(call, "failed")
            case on.CodeStarted():
                yield update_tool_call(call.id, status="in_progress")
            case on.Printed(output=output) | on.LateOutput(output=output):
                call.add(output)
                self.dirty[call.id] = call
            case on.CodeFinished(status=status):
                call.finish(event)
                self.dirty.pop(call.id, None)
                yield _whole(call, "completed" if status == "ok" else "failed")
            case on.JobChanged(job=job, state=state):
                call.notes += [f"Runs in the background as job {job}."] if state == "background" else []
                self.dirty[call.id] = call
            case _:
                assert_never(event)


def _whole(call: ToolCallView, status: ToolCallStatus) -> SessionUpdate:
    """Return an update with all of a call."""
    return update_tool_call(
        call.id,
        title=call.title,
        kind=call.kind,
        status=status,
        content=call.content,
        locations=call.places[:_MOST_SHOWN],
        raw_input=call.raw or None,
    )


def markdown(text: str) -> SessionUpdate:
    """Return text of terp as a part of the answer."""
    return update_agent_message_text(text)


def note(text: str) -> SessionUpdate:
    """Return a line of terp among the model's text."""
    return update_agent_message_text(f"\n\n*{visible(text)}*\n\n")


def usage(used: int, size: int, cost_usd: float | None) -> UsageUpdate:
    """Return the tokens of the next request, the size of the context window, and the cost of the session."""
    cost = None if cost_usd is None else Cost(amount=round(cost_usd, 9), currency="USD")
    return UsageUpdate(session_update="usage_update", used=used, size=size, cost=cost)


def _sentence(event: Other) -> str:
    """Return the sentence on an event that is neither text nor code; "" if an editor shows none."""
    text = ""
    match event:
        case on.Noticed():
            text = with_remedy(event.text, event.remedy)
        case on.KernelChanged(language=language, state=state, why=why):
            if state in ("died", "restarted", "interrupting"):
                text = f"The {language} kernel: {state}. {why}".rstrip()
        case on.HistoryCompacted():
            text = sentences.compacted(event, "{:,}".format)
        case on.HistoryRewound() | on.SessionForked() | on.SessionResumed() | on.CodeCompared():
            text = sentences.of_past(event)
        case on.CheckStarted():
            text = sentences.check_started(event)
        case on.CheckFinished():
            text = sentences.check_finished(event)
        case on.Answered(by=by, answer=answer):
            text = sentences.answered(by, answer) if by.startswith(on.RULE) else ""
        case on.Asked() | on.Progress() | on.UsageReported() | on.ModelCalled():
            # A question is a request of its own, and usage a number of the session.
            pass
        case _:
            assert_never(event)
    return text


def _kind_of(event: on.CodeProposed, *, edits: bool) -> ToolKind:
    kinds = event.effects.kinds
    if kinds == {"reads"}:
        return "read"
    if kinds == {"network"}:
        return "fetch"
    if kinds and kinds <= {"deletes", "reads"}:
        return "delete"
    return "edit" if edits and kinds <= {"reads", "writes"} else "execute"


def _said(text: str) -> ToolCallContentVariant:
    return tool_content(text_block(text))


def _link(path: str) -> ToolCallContentVariant:
    return tool_content(resource_link_block(Path(path).name, Path(path).as_uri()))


def _content_of(data: Any, path: str) -> list[ToolCallContentVariant]:
    """Return the content for a display: a picture, Markdown or a page; empty for other text."""
    picture = next((kind for kind in _PICTURES if isinstance(data.get(kind), str)), "")
    if picture:
        uri = Path(path).as_uri() if path else None
        return [tool_content(image_block(data[picture].replace("\n", ""), picture, uri=uri))]
    if isinstance(data.get("text/markdown"), str):
        return [_said(data["text/markdown"])]
    return [_link(path)] if path else []


def _place(path: str, diff: str = "") -> ToolCallLocation:
    hunk = _HUNK.search(diff)
    return ToolCallLocation(path=path, line=int(hunk[1]) if hunk else None)


def _full(path: str, cwd: str) -> str:
    return str(Path(cwd, path).expanduser())


def _new_file(change: out.FileChange) -> list[ToolCallContentVariant]:
    """Return the content of a small text file that was created, as a diff."""
    if change.action != "created" or change.host or change.size > _MOST_CHARS:
        return []
    try:
        return [tool_diff_content(change.path, Path(change.path).read_bytes().decode())]
    except (OSError, ValueError):
        return []


def _hunks(path: str, diff: str) -> list[ToolCallContentVariant]:
    """Return the hunks of a unified diff, each as its lines before and after."""
    hunks: list[tuple[list[str], list[str]]] = []
    for line in diff.split("\n"):
        if _HUNK.match(line):
            hunks.append(([], []))
        elif hunks:
            for side, other in zip(hunks[-1], "+-", strict=True):
                if not line.startswith(other):
                    side.append(line[1:])
    texts = [("\n".join(before), "\n".join(after)) for before, after in hunks[:_MOST_SHOWN]]
    return [tool_diff_content(path, after, before) for before, after in texts]
