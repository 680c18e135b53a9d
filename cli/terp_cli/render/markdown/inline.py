"""Inline markdown as styled text."""

from markdown_it.tree import SyntaxTreeNode
from rich.style import Style
from rich.text import Text

from terp_cli.render import look
from terp_cli.render.markdown.grammar import is_ascii, words
from terp_cli.render.math.latex import formula
from terp_cli.terminal.sanitise import readable, visible

_STYLES = {"strong": look.BOLD, "em": look.ITALIC, "s": look.STRIKE}


def inline(node: SyntaxTreeNode | None, style: Style = look.PLAIN) -> Text:
    """Return the text of an inline node; a link is followed by its address."""
    text = Text()
    if node is not None:
        for child in node.children:
            _add(text, child, style)
    return text


def _add(text: Text, node: SyntaxTreeNode, style: Style) -> None:
    match node.type:
        case "softbreak":
            text.append(" ", style)
        case "hardbreak":
            text.append("\n")
        case "strong" | "em" | "s":
            for child in node.children:
                _add(text, child, style + _STYLES[node.type])
        case "link":
            _add_link(text, node, style)
        case "image":
            text.append(f"[image: {readable(node.content)}]", style)
            text.append(f" ({visible(str(node.attrs.get('src', '')))})", style + look.DIM)
        case "text":
            text.append_text(words(node.content, style))
        case _:
            written, own = _leaf(node)
            text.append(written, style + own)


def _leaf(node: SyntaxTreeNode) -> tuple[str, Style]:
    match node.type:
        case "code_inline":
            return visible(node.content), look.INLINE_CODE
        case "formula":
            return readable(formula(node.content, ascii_only=is_ascii(node))), look.FORMULA
        case "footnote_mark":
            return f"[{readable(node.content)}]", look.DIM
        case _:
            return readable(node.content), look.PLAIN


def _add_link(text: Text, node: SyntaxTreeNode, style: Style) -> None:
    start = len(text)
    target = str(node.attrs.get("href", ""))
    for child in node.children:
        _add(text, child, look.linked(style + look.LINK, target))
    address = visible(target)
    # The words of a link may name one place while it leads to another.
    if text.plain[start:] not in (address, address.removeprefix("mailto:")):
        text.append(f" ({address})", look.linked(style + look.DIM, target))
