"""Tool calls as an editor shows them: code, output, pictures, diffs and places."""

import re
from pathlib import Path

from acp import helpers, schema

from terp import events as on
from terp.analysis.edits import spelled_edits, text_at
from terp.events import outputs as out
from terp.text.dataclasses import dataclass, field
from terp.text.fences import fenced
from terp.text.pictures import EXTENSIONS
from terp.text.plain import HeadTail
from terp_cli.render.run_text import RunText
from terp_cli.render.sentences import effects_line
from terp_cli.terminal.sanitise import lookalikes, visible

Content = list[helpers.ToolCallContentVariant]
# Each update has the whole output again.
_MOST_CHARS, _MOST_SHOWN, _LONGEST_TITLE = 16_000, 20, 80
_HUNK = re.compile(r"^@@ -\S+ \+(\d+).*\n", re.MULTILINE)
_NO_TITLE = re.compile(r"\s*(#|import\b|from\b|%|$)")


@dataclass(slots=True)
class ToolCallView:
    """A tool call as an editor shows it. `diffs` are by path, `shown` are displays by id."""

    id: str
    title: str = "Code"
    kind: schema.ToolKind = "execute"
    status: schema.ToolCallStatus = "pending"
    raw: dict[str, str] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    diffs: dict[str, Content] = field(default_factory=dict)
    places: dict[str, int | None] = field(default_factory=dict)
    shown: dict[str, Content] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _text: RunText = field(default_factory=RunText)
    _printed: HeadTail = field(default_factory=lambda: HeadTail(_MOST_CHARS))
    _whole: str = ""

    @property
    def printed(self) -> str:
        """The text that the code has put out, cut, with the path of all of it."""
        return self._printed.text(self._whole and f"all output: {self._whole}").rstrip()

    def update(self) -> schema.ToolCallProgress:
        """Return all of the call."""
        texts = [[_said(text)] for text in self.heads]
        texts += [[_said(fenced(self.printed, "console"))]] if self.printed else []
        # CodeCompanion shows a diff only if it is first.
        parts = [*self.diffs.values(), *texts] if self.kind == "edit" else [*texts, *self.diffs.values()]
        parts += list(self.shown.values())[-_MOST_SHOWN:]
        notes = [_said("\n".join(f"- {visible(note)}" for note in self.notes))] if self.notes else []
        places = [schema.ToolCallLocation(path=path, line=line) for path, line in self.places.items()]
        return helpers.update_tool_call(
            self.id,
            title=self.title,
            kind=self.kind,
            status=self.status,
            content=[*(one for part in parts for one in part), *notes],
            locations=places[:_MOST_SHOWN],
            raw_input=self.raw or None,
        )

    def code(self, language: str, code: str) -> None:
        """Take code that runs, or would run."""
        lines = code.strip().split("\n")
        first = next((line.strip() for line in lines if not _NO_TITLE.match(line)), lines[0])[:_LONGEST_TITLE]
        self.title = visible(first if language == "python" else f"{language}: {first}")
        self.heads = [fenced(visible(code), language)]

    def propose(self, event: on.CodeProposed) -> None:
        """Take the code, with its expected effects and edits."""
        cwd, effects = event.cwd, event.effects
        edits = spelled_edits(event.language, event.code, cwd)
        self.code(event.language, event.code)
        # Of a `read` or a `delete` Jupyter AI shows the paths, and neither the code nor its output.
        # Of an `edit` clients show only the diffs.
        only_edits = effects.kinds == {"writes"} and set(effects.targets("writes")) == {e.path for e in edits}
        self._text, self.kind = RunText(cwd), "edit" if only_edits else "execute"
        tier = "no sandbox" if event.tier == "none" else f"sandbox: {event.tier}"
        lines = [f"! {line}." for line in lookalikes(event.code)]
        lines += [f"Expected: {effects_line(effects, edits)}. In {event.place or cwd}, {tier}."]
        lines += [f"You are still asked: {event.asks}."] if event.asks else []
        self.heads.append("\n".join(lines))
        self.diffs, self.places = {}, {}
        for edit in edits:
            self._change(_full(edit.path, cwd), edit.diff)
        for target in (*effects.targets("reads"), *effects.targets("writes"), *effects.targets("deletes")):
            if not re.search(r"[{}*?]", target):
                self.places.setdefault(_full(target, cwd), None)
        self.raw = {"language": event.language, "command": event.code, "digest": event.digest, "cwd": cwd}

    def add(self, output: out.Output) -> None:
        """Add an output: text to the text, a display by itself or in place of the one with its id."""
        if isinstance(output, out.Clear):
            self._printed.clear()
            self.shown.clear()
        elif isinstance(output, out.Display | out.DisplayUpdate) and (content := _content_of(output)):
            key = output.display_id or f"#{len(self.shown)}"
            if output.path and key not in self.shown:
                # Terminals, and Jupyter AI, show no pictures.
                self._printed.add(self._text.add(output))
            self.shown[key] = content
        else:
            self._printed.add(self._text.add(output))

    def finish(self, event: on.CodeFinished) -> None:
        """Take the end of the run, and its files."""
        self.status = "completed" if event.status == "ok" else "failed"
        self._printed.add(self._text.rest())
        self._whole = event.output_path
        for change in event.files:
            if change.here and change.action != "deleted":
                self._change(change.here, "" if change.host else change.diff)
            new = change.action == "created" and not change.host and change.size <= _MOST_CHARS
            if new and (text := text_at(Path(change.path))) is not None:
                self.diffs[change.path] = [helpers.tool_diff_content(change.path, text)]

    def _change(self, path: str, diff: str) -> None:
        """Take the hunks of a unified diff; the call's place is at the first."""
        _, *hunks = _HUNK.split(diff)
        self.places[path] = int(hunks[0]) if hunks else self.places.get(path)
        if hunks:
            self.diffs[path] = [
                helpers.tool_diff_content(path, _side(hunk, "-"), _side(hunk, "+"))
                for hunk in hunks[1 : 2 * _MOST_SHOWN : 2]
            ]


def _side(hunk: str, other: str) -> str:
    """Return the lines of a hunk on one side: without those that begin with the sign of the other."""
    return "\n".join(line[1:] for line in hunk.rstrip("\n").split("\n") if line[:1] != other)


def _said(text: str) -> helpers.ToolCallContentVariant:
    return helpers.tool_content(helpers.text_block(text))


def _content_of(display: out.Display | out.DisplayUpdate) -> Content:
    """Return the content for a display: a picture, Markdown or a page; empty for other text."""
    data, uri = display.data, Path(display.path).as_uri() if display.path else None
    if picture := next((kind for kind in EXTENSIONS if isinstance(data.get(kind), str)), ""):
        return [helpers.tool_content(helpers.image_block(data[picture].replace("\n", ""), picture, uri=uri))]
    if isinstance(text := data.get("text/markdown"), str):
        return [_said(text)]
    return [helpers.tool_content(helpers.resource_link_block(Path(display.path).name, uri))] if uri else []


def _full(path: str, cwd: str) -> str:
    return str(Path(cwd, path).expanduser())
