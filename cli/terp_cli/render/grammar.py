"""What markdown is to terp: CommonMark with tables, strikethrough, formulas and footnotes; HTML is text.

Nothing of a text disappears: what only defines (a link, a footnote) is a block of its own, because
where it is used may be on the screen for good before it is known.
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

from terp_cli.render import formulas

_NOTE = re.compile(r"\[\^([^\]\s]{1,60})\]:[ \t]*")
_NOTE_MARK = re.compile(r"\[\^([^\]\s]{1,60})\]")
_BREAK = re.compile(r"<br\s{0,3}/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{'|'.join(block_names)})(?=[\s/>]|\Z)|<!--", re.IGNORECASE)
# A block that begins in the middle of a paragraph must be known to end it.
_INTERRUPTS: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def parse(lines: Sequence[str], references: dict[str, Any]) -> list[SyntaxTreeNode]:
    """The blocks of some lines. Links that they define are added to `references`."""
    return SyntaxTreeNode(_parser().parse("\n".join(lines), references)).children if lines else []


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    parser.block.ruler.before("table", "formula_block", _formula_block, _INTERRUPTS)
    parser.block.ruler.at("reference", _definition)
    parser.block.ruler.before("reference", "footnote", _footnote, _INTERRUPTS)
    parser.block.ruler.before("heading", "markup", _markup, _INTERRUPTS)
    parser.inline.ruler.before("escape", "formula", _formula)
    parser.inline.ruler.before("link", "footnote_mark", _footnote_mark)
    parser.inline.ruler.before("autolink", "line_break", _line_break)
    return parser


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _goes_on(state: StateBlock, line: int, end: int) -> bool:
    return line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent


def _formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula on lines of its own; `info` is "open" while its last mark has not come."""
    first = _line(state, start)
    if state.is_code_block(start) or not (opening := formulas.block_opening(first)):
        return False
    lines = [first[len(opening.mark) :]]
    at = start + 1
    while (closed := formulas.closes(lines[-1], opening.closing)) is None and _goes_on(state, at, end):
        lines.append(_line(state, at))
        at += 1
    if closed is None and (at < end or opening.closing in "".join(lines)):
        # Something follows that cannot be part of it.
        return False
    if silent:
        return True
    if closed is not None:
        lines[-1] = lines[-1][:closed]
    token = state.push("formula_block", "", 0)
    token.info = "open" if closed is None else ""
    kept = closed is None or opening.keeps_marks
    ending = opening.closing if closed is not None else ""
    token.content = f"{opening.mark}{chr(10).join(lines)}{ending}" if kept else "\n".join(lines)
    token.map = [start, at]
    state.line = at
    return True


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Where a link leads that is named elsewhere."""
    if not reference(state, start, end, silent):
        return False
    if not silent:
        token = state.push("definition", "", 0)
        token.content = " ".join(_line(state, line) for line in range(start, state.line))
        token.map = [start, state.line]
    return True


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A footnote, up to a blank line or to the next one; `info` is its name."""
    if state.is_code_block(start) or not (found := _NOTE.match(_line(state, start))):
        return False
    if silent:
        return True
    lines = [_line(state, start)[found.end() :]]
    at = start + 1
    while _goes_on(state, at, end) and not _NOTE.match(_line(state, at)):
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


def _markup(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Lines of HTML up to a blank one, to be shown as they are."""
    if state.is_code_block(start) or not _TAG.match(_line(state, start)):
        return False
    if silent:
        return True
    at = start + 1
    while _goes_on(state, at, end):
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
        state.push("formula", "", 0).content = found.source
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
