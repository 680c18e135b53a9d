"""A story as Markdown."""

from collections.abc import Iterator

from terp.events.outputs import Display, Output
from terp.events.run_log import LoggedRun
from terp.store.export.story import Answer, Part, Prompt, ReasoningPart, Remark, Rendered, Story
from terp.store.export.words import folded, not_run, output_text, unfinished
from terp.text import pictures
from terp.text.dataclasses import dataclass, field
from terp.text.fences import fenced, quoted
from terp.text.plain import mended


def transcript(story: Story, stem: str) -> Rendered:
    """Return the transcript; pictures lie in the folder `{stem}_files` and are linked from it."""
    pages = _Pages(f"{stem}_files")
    blocks = [f"# {mended(story.title)}"]
    for part in story.parts:
        blocks += pages.blocks(part)
    return Rendered("\n\n".join(blocks) + "\n", pages.beside)


@dataclass(slots=True)
class _Pages:
    folder: str
    beside: dict[str, bytes] = field(default_factory=dict)

    def blocks(self, part: Part) -> Iterator[str]:
        """Yield the blocks of one part."""
        match part:
            case Prompt(text=text, attachments=attachments):
                yield quoted(mended(text))
                if attachments:
                    yield f"*attached: {', '.join(attachments)}*"
            case ReasoningPart(text=text):
                yield folded(text)
            case Answer(text=text):
                yield mended(text)
            case Remark(text=text):
                yield f"*{mended(text)}*"
            case LoggedRun():
                yield from self._run(part)

    def _run(self, run: LoggedRun) -> Iterator[str]:
        if not run.ran:
            yield f"*{not_run(run)}*"
        yield fenced(mended(run.code), run.language)
        text: list[str] = []
        for output in run.outputs:
            if link := self._picture(output):
                yield from _shown(text)
                text = []
                yield link
            else:
                shown = output_text(output, run)
                text.append(shown if shown.endswith("\n") else f"{shown}\n")
        yield from _shown(text)
        if how := unfinished(run):
            yield f"*{how}*"

    def _picture(self, output: Output) -> str:
        if not isinstance(output, Display):
            return ""
        found = pictures.raster(output.data)
        svg = output.data.get("image/svg+xml")
        if found is not None:
            extension, content = pictures.EXTENSIONS[found[0]], found[1]
        elif isinstance(svg, str):
            extension, content = "svg", mended(svg).encode()
        else:
            return ""
        name = f"{self.folder}/{len(self.beside) + 1}.{extension}"
        self.beside[name] = content
        # Angle brackets: the name of the file may hold spaces and brackets.
        return f"![picture {len(self.beside)}](<{name}>)"


def _shown(text: list[str]) -> Iterator[str]:
    if (joined := "".join(text)).strip():
        yield fenced(joined, "text")
