"""`terp docs`: the pages of documentation, listed or shown."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import terp_cli
from terp.errors import SettingsError
from terp.text.wording import did_you_mean
from terp_cli.fronts.invocation import Invocation
from terp_cli.render.ansi import Palette
from terp_cli.render.markdown.markdown import MarkdownStream
from terp_cli.terminal import tty
from terp_cli.terminal.desktop import pager_of
from terp_cli.terminal.glyphs import writes_formulas
from terp_cli.terminal.rows import encode
from terp_cli.terminal.sanitise import one_line
from terp_cli.terminal.theme import theme_of

INDEX = "index"
_ENTRY = re.compile(r"- \[(?P<name>[a-z-]+)\]\([a-z-]+\.md\): (?P<about>.+)")
_LINK = re.compile(r"\[(?P<label>[^\]]+)\]\((?P<name>[a-z-]+)\.md\)")
# Longer lines of text are hard to read.
_WIDEST = 100
# Quit if the page fits on the screen, pass colours through, leave the page on the screen.
_LESS = "FRX"


def docs(call: Invocation) -> int:
    """List the pages, or show the one that is named; return the exit code."""
    name = call.line.argument.removesuffix(".md")
    if not name:
        call.out.writelines(f"{line}\n" for line in listed())
        return 0
    text = page(name)
    if not call.draws:
        call.out.write(text)
        return 0
    rendered = _rendered(text, call)
    if (pager := pager_of(os.environ, "less")) and not call.options.plain:
        _paged(rendered, pager)
    else:
        call.out.write(rendered)
    return 0


def folder() -> Path:
    """Return the folder of the pages: in the installed package, or at the root of a checkout."""
    package = Path(terp_cli.__file__).parent
    inside = package / "docs"
    return inside if inside.is_dir() else package.parent.parent / "docs"


def page_names() -> list[str]:
    """Return the names of all pages, in order."""
    return sorted(path.stem for path in folder().glob("*.md"))


def page(name: str) -> str:
    """Return the Markdown of a page.

    Raises:
        SettingsError: there is no such page; names the most similar one.
    """
    names = page_names()
    if name in names:
        return (folder() / f"{name}.md").read_text(encoding="utf-8")
    hint = did_you_mean(name, names, "terp docs lists them.", shown="terp docs {}")
    raise SettingsError([f"there is no page '{one_line(name)}'. {hint}"])


def listed() -> Iterator[str]:
    """Yield a line for each group and each page of the index."""
    lines = page(INDEX).splitlines()
    width = max(len(name) for name in page_names())
    for line in lines:
        if line.startswith("## "):
            yield f"{line[3:]}:"
        elif entry := _ENTRY.fullmatch(line):
            yield f"  {entry['name']:{width}}  {entry['about']}"
    yield ""
    yield "terp docs PAGE shows one."


def _rendered(text: str, call: Invocation) -> str:
    environ = call.terminal_environ
    columns, rows = tty.size_of(call.out)
    width = min(columns, _WIDEST)
    markdown = MarkdownStream(lambda: width, lambda: rows, ascii_only=not writes_formulas(call.out.encoding))
    theme = theme_of("auto", "unknown", environ)
    palette = Palette(tty.colours_of(environ), lambda: theme)
    lines = [*markdown.feed(_LINK.sub(_without_file, text)), *markdown.finish()]
    return "".join(f"{encode(palette.row(line))}\n" for line in lines)


def _without_file(link: re.Match[str]) -> str:
    """Return a link to a page as text that names the page, as in `terp docs NAME`."""
    label, name = link["label"], link["name"]
    return f"**{name}**" if label.lower() == name else f"{label} (`terp docs {name}`)"


def _paged(text: str, pager: list[str]) -> None:
    environ = {"LESS": _LESS, **os.environ}
    process = subprocess.Popen(pager, stdin=subprocess.PIPE, env=environ, text=True, encoding="utf-8")
    # Ctrl-C is a key of the pager, which would otherwise outlive terp and share the terminal with the shell.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.communicate(text)
    finally:
        signal.signal(signal.SIGINT, before)
