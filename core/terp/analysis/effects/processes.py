"""Programs that Python starts: the command is looked at as the shell would."""

import ast
import shlex
from typing import TYPE_CHECKING

from terp.analysis.effects.shell import tell_command, tell_script
from terp.analysis.effects.shell_words import Word
from terp.analysis.effects.texts import Told, argument_of, has_more
from terp.analysis.effects.values import CONTENT, Value

if TYPE_CHECKING:
    from terp.analysis.effects.python import Reader

_BY_SHELL = frozenset(
    str.split("""
        os.system os.popen subprocess.getoutput subprocess.getstatusoutput asyncio.create_subprocess_shell
    """)
)
_BY_WORDS = frozenset({"asyncio.create_subprocess_exec"})


def started(reader: "Reader", node: ast.Call, path: str) -> Value:
    """Tell the command that a call starts, and what that does."""
    by_shell = path in _BY_SHELL or _is_set(node, "shell")
    argument = argument_of(node, 0, "args") or argument_of(node, 0, "cmd") or argument_of(node, 0, "command")
    if path in _BY_WORDS and node.args:
        argument = ast.copy_location(ast.List(elts=node.args, ctx=ast.Load()), node)
    at = (node.lineno, node.col_offset)
    if argument is None or has_more(node) or argument_of(node, 99, "executable") is not None:
        reader.find.add("subprocess", reader.texts.source(node), at)
        reader.doubt(node, "the command is computed")
        return CONTENT
    words, certain = _literal(reader, argument)
    if not certain:
        reader.doubt(node, "the command may have grown since it was written")
    if not by_shell and isinstance(words, ast.List | ast.Tuple):
        told = [reader.texts.one(word) for word in words.elts]
        reader.find.add("subprocess", _joined(told), at)
        tell_command([_word(one) for one in told], reader.find, at)
        return CONTENT
    one = reader.texts.one(argument)
    reader.find.add("subprocess", one.text, at)
    if not one.exact:
        reader.doubt(node, f"the command `{one.text}` is computed")
    elif by_shell:
        tell_script(one.text, reader.find, at[0])
    else:
        tell_command([Word(one.text)], reader.find, at)
    return CONTENT


def _literal(reader: "Reader", argument: ast.expr) -> tuple[ast.expr, bool]:
    """The list a name stands for, or the expression as it is; and whether it is that when it is run."""
    if not isinstance(argument, ast.Name):
        return argument, True
    found = reader.walk.scope_of[argument].find(argument.id)
    if found is None or len(found[1]) != 1 or found[1][0].how != "value":
        return argument, True
    value = found[1][0].node
    if not isinstance(value, ast.List | ast.Tuple):
        return argument, True
    return value, isinstance(value, ast.Tuple) or reader.texts.uses[argument.id] == 1


def _is_set(node: ast.Call, name: str) -> bool:
    return any(
        keyword.arg == name and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for keyword in node.keywords
    )


def _word(told: Told) -> Word:
    return Word(told.text, plain=told.exact)


def _joined(told: list[Told]) -> str:
    return " ".join(shlex.quote(one.text) if one.exact else one.text for one in told)
