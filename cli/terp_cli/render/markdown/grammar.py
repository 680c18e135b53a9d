"""The grammar of Markdown: CommonMark with tables, strikethrough, formulas, footnotes; HTML is text.

No part of a text disappears. A definition (of a link, a footnote) is drawn as a separate block, because
the text that uses it may be on the screen, unchangeable, before the definition arrives.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode
from rich.style import Style
from rich.text import Text

from terp.events import TextDelta
from terp_cli.render import look
from terp_cli.render.markdown import formulas
from terp_cli.terminal.sanitise import readable

_NOTE = re.compile(r"\[\^([^\]\s]{1,60})\]:[ \t]*")
_NOTE_MARK = re.compile(r"\[\^([^\]\s]{1,60})\]")
# markdown-it has cut the line from its indentation: `terp.text.fences` reads whole lines.
_FENCE = re.compile(r"`{3}|~{3}")
_BREAK = re.compile(r"<br\s{0,3}/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{'|'.join(block_names)})(?=[\s/>]|\Z)|<!--", re.IGNORECASE)
# Each bracket may make the parser look through all that follows.
_MOST_LINKS = 200
# By closing mark, indentation and end: from which line up to which none of them closes a formula.
_NO_FORMULAS = "no formulas"
# A block that begins in the middle of a paragraph must be known to end it.
_INTERRUPTS: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def parse(
    lines: Sequence[str], references: dict[str, Any], *, ascii_only: bool = False
) -> list[SyntaxTreeNode]:
    """Parse lines into blocks. Links that they define are added to `references`.

    With `ascii_only` its formulas are marked to be written in ASCII: see `is_ascii`.
    """
    # With an end to the last line a blank one at the end is seen.
    if not lines:
        return []
    source = "\n".join(lines) + "\n"
    parser = _parser(links=source.count("[") <= _MOST_LINKS, ascii_only=ascii_only)
    known = {"references": references.setdefault("references", {}), _NO_FORMULAS: {}}
    tokens = parser.parse(source, known)
    for token in tokens:
        for part in (token, *(token.children or ())):
            # Among words the brackets have a look of their own.
            part.content = part.content if part.type == "text" else bracketed(part.content)
    return SyntaxTreeNode(tokens).children


def is_ascii(formula: SyntaxTreeNode) -> bool:
    """Return True if a formula is written in ASCII."""
    return bool(formula.meta.get("ascii"))


@lru_cache(maxsize=4)
def _parser(*, links: bool, ascii_only: bool) -> MarkdownIt:
    # What is nested deeper than this is dropped, so it is not the twenty levels of CommonMark.
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 50}).enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    parser.block.ruler.before("table", "formula_block", _formula_block, _INTERRUPTS)
    parser.block.ruler.at("reference", _definition)
    parser.block.ruler.before("reference", "footnote", _footnote, _INTERRUPTS)
    parser.block.ruler.before("heading", "markup", _markup, _INTERRUPTS)
    parser.inline.ruler.before("escape", "formula", _formula)
    parser.inline.ruler.before("link", "footnote_mark", _footnote_mark)
    parser.inline.ruler.before("autolink", "line_break", _line_break)
    parser.options["ascii_only"] = ascii_only
    return parser if links else parser.disable(["link", "image"])


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _goes_on(state: StateBlock, start: int, line: int, end: int) -> bool:
    """Return True if a block that began at `start` may contain `line`."""
    if line >= end or state.isEmpty(line) or _FENCE.match(_line(state, line)):
        return False
    return state.sCount[line] >= min(state.blkIndent, state.sCount[start])


def _formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a formula on separate lines; `info` is "open" until its closing mark has come."""
    first = _line(state, start)
    if state.is_code_block(start) or not (opening := formulas.block_opening(first)):
        return False
    indent = min(state.blkIndent, state.sCount[start])
    none_until = state.env[_NO_FORMULAS].get((opening.closing, indent, end), (end, 0))
    if none_until[0] <= start < none_until[1]:
        return False
    lines = [first[len(opening.mark) :]]
    at = start + 1
    while (closed := formulas.closes(lines[-1], opening.closing)) is None and _goes_on(state, start, at, end):
        if opening.closing in lines[-1]:
            # It ends in the middle of a line. Looking on would be done again for every such line.
            break
        lines.append(_line(state, at))
        at += 1
    if closed is None and (at < end or opening.closing in lines[-1]):
        # Something follows that cannot be part of it, nor of a formula that begins in between.
        state.env[_NO_FORMULAS][opening.closing, indent, end] = (start, at)
        return False
    if silent:
        # What ends a formula looks like what begins one.
        return closed is not None or opening.mark != "$$"
    if closed is not None:
        lines[-1] = lines[-1][:closed]
        if formulas.is_prose("\n".join(lines)):
            return False
    token = state.push("formula_block", "", 0)
    token.info = "open" if closed is None else ""
    token.meta["ascii"] = state.md.options.get("ascii_only")
    kept = closed is None or opening.keeps_marks
    ending = opening.closing if closed is not None else ""
    token.content = f"{opening.mark}{chr(10).join(lines)}{ending}" if kept else "\n".join(lines)
    token.map = [start, at]
    state.line = at
    return True


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Return the target of a reference link."""
    if not reference(state, start, end, silent):
        return False
    if not silent:
        token = state.push("definition", "", 0)
        token.content = " ".join(_line(state, line) for line in range(start, state.line))
        token.map = [start, state.line]
    return True


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a footnote, up to a blank line or to the next footnote; `info` is its name."""
    if state.is_code_block(start) or not (found := _NOTE.match(_line(state, start))):
        return False
    if silent:
        return True
    lines = [_line(state, start)[found.end() :]]
    at = start + 1
    while _goes_on(state, start, at, end) and not _begins_block(state, at, end):
        lines.append(_line(state, at))
        at += 1
    token = state.push("footnote_open", "", 1)
    token.info = found[1]
    token.map = [start, at]
    inside = state.push("inline", "", 0)
    inside.content = "\n".join(lines).strip()
    inside.map = [start, at]
    inside.children = []
    state.push("footnote_close", "", -1)
    state.line = at
    return True


def _begins_block(state: StateBlock, line: int, end: int) -> bool:
    return any(rule(state, line, end, True) for rule in state.md.block.ruler.getRules("paragraph"))


def _markup(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse lines of HTML, up to a blank line; they are shown as they are."""
    if state.is_code_block(start) or not _TAG.match(_line(state, start)):
        return False
    if silent:
        return True
    at = start + 1
    while _goes_on(state, start, at, end):
        at += 1
    token = state.push("markup", "", 0)
    token.content = state.getLines(start, at, state.blkIndent, keepLastLF=False)
    token.map = [start, at]
    state.line = at
    return True


def _formula(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    found = formulas.inline_formula(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = found.source
        token.meta["ascii"] = state.md.options.get("ascii_only")
    state.pos = found.end
    return True


def _footnote_mark(state: StateInline, silent: bool) -> bool:
    found = _NOTE_MARK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("footnote_mark", "", 0).content = found[1]
    state.pos = found.end()
    return True


def _line_break(state: StateInline, silent: bool) -> bool:
    found = _BREAK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


_BEGIN, _END = chr(0xFDD0), chr(0xFDD1)
_BRACKETS = str.maketrans({_BEGIN: "‹", _END: "›"})
_MARKS = re.compile(f"([{_BEGIN}{_END}])")


def fed(delta: TextDelta) -> str:
    """Return the text of a piece of an answer; a computed value is enclosed in marks."""
    text = _MARKS.sub("\ufffd", delta.text)
    return f"{_BEGIN}{text}{_END}" if delta.reference else text


def bracketed(text: str) -> str:
    """Return a text with brackets in place of the marks around computed values."""
    return text.translate(_BRACKETS)


def words(text: str, style: Style = look.PLAIN) -> Text:
    """Return text of the model; the brackets around a value are faint."""
    shown = Text()
    for part in _MARKS.split(text):
        is_mark = _MARKS.match(part) is not None
        shown.append(bracketed(part) if is_mark else readable(part), style + look.DIM if is_mark else style)
    return shown
