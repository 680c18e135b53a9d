"""`>>> code` on the input line: its completeness, the indent of its next line, and pastes of it."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

MARK, GOES_ON = ">>>", "..."
INDENT = "    "
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.)(?: |$)")
_TYPED_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?")
# Lines of IPython's syntax, which count as a statement here.
_MAGIC_LINE = re.compile(r"^([ \t]*)(?:%(?!%)|[!?]).*$", re.MULTILINE)
_LEAVES = re.compile(r"\s*(?:return|pass|break|continue|raise)\b")
_COMMENT = re.compile(r"\s*#.*$")


def is_code(message: str) -> bool:
    """Return True if a message is Python code of the user."""
    return message.startswith(MARK)


def code_of(message: str) -> str:
    """Return the code of such a message: its lines without their prompts."""
    return "\n".join(_TYPED_PROMPT.sub("", line) for line in message.split("\n"))


def code_goes_on(message: str) -> bool:
    """Return True if `>>> code` needs another line, as in Python's console.

    A block ends with an empty line. Text that cannot be Python is complete: the kernel reports the error.
    """
    code = _MAGIC_LINE.sub(r"\1pass", code_of(message))
    last = code.rsplit("\n", 1)[-1]
    if code.startswith("%%"):
        return bool(last.strip())
    try:
        return _compiled(code) is None or (last[:1].isspace() and bool(last.strip()) and _ends_in_block(code))
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return False


def indent_after(message: str) -> str:
    """Return the indent of the line after `>>> code`."""
    last = code_of(message).rsplit("\n", 1)[-1]
    indent = last[: len(last) - len(last.lstrip())]
    if _COMMENT.sub("", last).endswith(":"):
        return indent + INDENT
    return indent.removesuffix(INDENT) if _LEAVES.match(last) else indent


def at_indent(message_before: str) -> bool:
    """Return True if only white space is before the cursor on this line of `>>> code`."""
    return is_code(message_before) and not _TYPED_PROMPT.sub("", message_before.rsplit("\n", 1)[-1]).strip()


def pasted_code(pasted: str, before: str) -> str:
    """Return the text that a paste inserts after `before`: code without the prompts of a console.

    Output between several prompts is removed too, and output that is no Python.
    """
    lines = pasted.split("\n")
    starts_code = not before.strip() and is_code(pasted.lstrip())
    if not (starts_code or (is_code(before) and any(map(_PROMPT.match, lines)))):
        return pasted
    code = _without_prompts(lines)
    typed = _without_prompts([line for line in lines if _PROMPT.match(line)])
    if _is_python(typed) and (sum(is_code(line.lstrip()) for line in lines) > 1 or not _is_python(code)):
        code = typed
    return f"{MARK} {code}" if starts_code else code


def _without_prompts(lines: Sequence[str]) -> str:
    return "\n".join(_PROMPT.sub("", line, count=1) for line in lines).rstrip("\n")


def _is_python(code: str) -> bool:
    try:
        _tree(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _ends_in_block(code: str) -> bool:
    body = _tree(code).body
    return bool(body) and (hasattr(body[-1], "body") or hasattr(body[-1], "cases"))


def _tree(code: str) -> "ast.Module":
    import ast  # noqa: PLC0415  (the prompt is shown before any code)

    return ast.parse(_MAGIC_LINE.sub(r"\1pass", code))


def _compiled(code: str) -> object:
    import codeop  # noqa: PLC0415  (see above)
    from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT  # noqa: PLC0415

    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= PyCF_ALLOW_TOP_LEVEL_AWAIT
    return compiler(code, symbol="exec")
