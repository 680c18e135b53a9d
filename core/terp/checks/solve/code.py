"""Code and tests in the replies of a model; tests are split so that each can run without the others."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from terp.errors import TerpError
from terp.events.messages import Assistant
from terp.models.tool import Call, understand
from terp.text.dataclasses import dataclass
from terp.text.fences import opening_fence, unfenced

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class NoTests(TerpError):
    """A text that should consist of tests is no Python."""


def tree_of(text: str) -> ast.Module:
    """Return the tree of a text.

    Raises:
        NoTests: it is no Python.
    """
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f"line {line}: " if line else ""
        why = getattr(error, "msg", str(error)) or "it is nested too deep"
        raise NoTests(f"{where}{why}") from error


def split(text: str) -> tuple[str, ...]:
    """Return every test of `text`: an assert, a statement that contains some, or a function `test_…`.

    Each comes with the statements above it. Of an assert above that uses their variables only the expression
    is evaluated, for its effects: `assert queue.pop() == 1` removes an item.

    Raises:
        NoTests: it is no Python.
    """
    tests: list[str] = []
    above: list[ast.stmt] = []
    for statement in tree_of(text).body:
        if _is_test(statement):
            tests.append(_with(above, statement))
        above.append(statement)
    return tuple(tests)


def without_tests(text: str) -> str:
    """Return the text without its tests.

    Raises:
        SyntaxError: it is no Python.
    """
    lines = text.splitlines()
    for statement in reversed(ast.parse(text).body):
        if _is_test(statement):
            del lines[statement.lineno - 1 : statement.end_lineno]
    return "\n".join(lines)


def only_tests(text: str) -> str:
    """Return the tests of the text with their setup, without the functions and classes to be written.

    Raises:
        SyntaxError: it is no Python.
    """
    kept = [one for one in ast.parse(text).body if _is_test(one) or not isinstance(one, _DEFINITIONS)]
    return "\n".join(ast.unparse(one) for one in kept)


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the language and content of fenced blocks; a block without an end mark reaches to the end."""
    fence, lines = None, list[str]()
    for line in text.splitlines():
        if fence is None:
            fence = opening_fence(line.strip())
        elif fence.is_closed_by(line.strip()):
            yield fence.language.lower(), "".join(f"{one}\n" for one in lines)
            fence, lines = None, []
        else:
            lines.append(line)
    if fence is not None:
        yield fence.language.lower(), "".join(f"{one}\n" for one in lines)


def parsed(text: str) -> ast.Module | None:
    """Return the tree of a text; None if it is no Python."""
    with suppress(NoTests):
        return tree_of(text)
    return None


def names_in(text: str) -> frozenset[str]:
    """Return the names of functions, classes and methods in Python code; none if it is no Python."""
    nodes = ast.walk(parsed(text) or ast.Module([], []))
    return frozenset(node.name for node in nodes if isinstance(node, _DEFINITIONS))


def names_used(code: str) -> frozenset[str]:
    """Return the names and attributes that a test uses."""
    return frozenset(_used(ast.parse(code)))


@dataclass(frozen=True, slots=True)
class Claim:
    """The equality that a test asserts, both sides as Python writes them; "" if it asserts something else."""

    subject: str = ""
    value: str = ""

    def contradicts(self, other: "Claim") -> bool:
        """Return True if the two cannot both hold."""
        return bool(self.subject) and self.subject == other.subject and self.value != other.value


def claim_of(code: str) -> Claim:
    """Return the claim of the last assert of a test, if it is an equality with a literal."""
    match ast.parse(code).body:
        case [*above, ast.Assert(test=ast.Compare(left=subject, ops=[ast.Eq()], comparators=[value]))]:
            if _is_literal(subject) and not _is_literal(value):
                subject, value = value, subject
            if _is_literal(value):
                made = "\n".join(ast.unparse(statement) for statement in above)
                return Claim(f"{made}\n{ast.unparse(subject)}", repr(ast.literal_eval(value)))
    return Claim()


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _is_test(statement: ast.stmt) -> bool:
    if isinstance(statement, _DEFINITIONS):
        return isinstance(statement, ast.FunctionDef) and _is_test_function(statement)
    return any(isinstance(node, ast.Assert) for node in ast.walk(statement))


def _is_test_function(function: ast.FunctionDef) -> bool:
    arguments = function.args
    needed = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return function.name.startswith("test") and needed == 0


def _with(above: Sequence[ast.stmt], test: ast.stmt) -> str:
    made = set(_bound(one for one in above if not _is_test(one)))
    body = [kept for one in above if (kept := _kept(one, made)) is not None] + [test]
    if isinstance(test, ast.FunctionDef):
        call = ast.Call(ast.Name(test.name, ast.Load()), [], [])
        body.append(ast.Expr(call))
    # Nodes are shared with other tests, so the tree is written out rather than kept.
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))


def _kept(statement: ast.stmt, made: set[str]) -> ast.stmt | None:
    if not _is_test(statement):
        return statement
    if isinstance(statement, ast.Assert) and made.intersection(_used(statement)):
        return ast.Expr(statement.test)
    return None


def _bound(statements: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _used(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


CODE, TEST = "code", "test"
_PYTHON = ("", "python", "py", "python3")


def code_in(reply: Assistant, wanted: frozenset[str] = frozenset(), kind: str = CODE) -> str:
    """Return the code in a reply; "" if there is none.

    It stands between `===code-start===` and `===code-end===`, in a tool call, or in a fenced block: the last
    that defines all names `wanted`, else the last one. A reply that is Python throughout is code, too.
    """
    if marked := between_marks(reply.text, kind):
        return marked
    if called := _called(reply):
        return called
    fenced = [block for language, block in blocks(reply.text) if language in _PYTHON and block.strip()]
    if fenced:
        return _best(fenced, wanted)
    return f"{reply.text.strip()}\n" if names_in(reply.text) or _has_asserts(reply.text, kind) else ""


def between_marks(text: str, kind: str) -> str:
    """Return the text between the last marks of a kind, without a fence around it; "" without marks."""
    start, end = f"==={kind}-start===", f"==={kind}-end==="
    if start not in text:
        return ""
    inner = text.rpartition(start)[2].partition(end)[0]
    code = unfenced(inner).strip("\n").rstrip()
    return f"{code}\n" if code else ""


def _called(reply: Assistant) -> str:
    read = [understand(call, ("python",)) for call in reply.calls]
    codes = [call.code for call in read if isinstance(call, Call) and call.language == "python"]
    return f"{codes[-1].rstrip()}\n" if codes else ""


def _best(fenced: Sequence[str], wanted: frozenset[str]) -> str:
    whole = [block for block in fenced if wanted and wanted <= names_in(block)]
    return (whole or fenced)[-1]


def _has_asserts(text: str, kind: str) -> bool:
    tree = parsed(text)
    return kind == TEST and tree is not None and any(isinstance(one, ast.Assert) for one in tree.body)
