"""Python, read in a closed world: what every name is, and so what every call does.

Nothing is run and nothing is followed: each expression is looked at once, in order, knowing what its
parts are. A name may be bound several times, so it is what all of its bindings have in common; the cell is
read again until every name was, where it was read, what it is in the end.

What a function or class of the cell does is told where it is defined, whether it is called or not. So a
call of it adds nothing, and neither do the methods behind operators, loops and `with`.
"""

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

from terp.analysis.effects import expressions, statements
from terp.analysis.effects.known_effects import ENVIRONMENTS, FUNCTIONS
from terp.analysis.effects.known_names import harmless, is_known, modules
from terp.analysis.effects.scopes import Binding, Scope, Walk, place_of
from terp.analysis.effects.secret_names import is_secret_name, secret_in
from terp.analysis.effects.texts import Texts
from terp.analysis.effects.values import (
    CONTENT,
    FUNCTION,
    PATH,
    UNKNOWN,
    Local,
    Ref,
    Thing,
    Value,
    element_of,
    joined,
)
from terp.events.effects import Finder

TOOL = "terp.tools"
"""The full name of whatever is a tool of the session: nobody has read what it does."""
SHIPPED = "terp.shipped"
"""Before the name of a tool that terp brings: `terp.analysis.effects.known_effects` says what each does."""
SERVERS = "terp.tools.mcp"
"""The full name of what calls the MCP servers of the session."""
_MOST_READINGS = 6
_ENTERED = {"file", "database", "archive", "instance", "content"}


class Reader:
    """Reads one cell. `value` and the tables of names are for `calls`, `methods` and `statements`."""

    def __init__(self, walk: Walk, lines: list[str], known: Mapping[str, str], cwd: str) -> None:
        self.walk = walk
        self.texts = Texts(walk, lines, self.value)
        self.find = Finder()
        self._known = known
        self._cwd = cwd
        self._values: dict[ast.AST, Value | None] = {}
        self._names: dict[tuple[Scope, str], Value | None] | None = None
        self._given: dict[tuple[Scope, str], Value | None] = {}
        self._shadowed: dict[str, bool] = {}
        self._read: list[tuple[tuple[Scope, str], Value | None]] = []
        self.imported = walk.imported | {path.partition(".")[0] for path in known.values()}

    def read(self) -> Finder:
        """The account of the whole cell."""
        gives = self.walk.gives
        for _ in range(_MOST_READINGS):
            self.find = Finder()
            self._read.clear()
            self._given = {}
            for node, scope in self.walk.order:
                if isinstance(node, ast.expr):
                    self._values[node] = expressions.value_of(self, node)
                else:
                    statements.look_at(self, node, scope)
                if node in gives:
                    self._give(gives[node], scope)
            if all(self._given.get(name, value) == value for name, value in self._read):
                return self.find
            self._names = self._given
        self.find.doubt("the names are too entangled to follow", (1, 0))
        return self.find

    def _give(self, names: list[tuple[str, Binding]], scope: Scope) -> None:
        for name, binding in names:
            # Names that a declaration puts elsewhere are found there.
            owner = scope.elsewhere.get(name, scope)
            owner = owner if name in owner.names else owner.around
            key = (owner, name)
            if key not in self._given:
                self._given[key] = _of_parts(owner.names.get(name, ()))
            self._given[key] = joined(self._given[key], self._bound_by(binding))

    def value(self, node: ast.AST) -> Value | None:
        """What an expression is, as far as is known yet; None is what nothing is known of yet."""
        return self._values.get(node)

    def doubt(self, node: ast.AST, what: str) -> Thing:
        """Something that is not known; what comes of it is not told again."""
        self.find.doubt(what, place_of(node))
        return UNKNOWN

    def secret(self, text: str, node: ast.AST) -> None:
        """Tell if a text names a file of secrets."""
        if found := secret_in(text):
            self.find.add("secrets", found, place_of(node))

    def _bound_by(self, binding: Binding) -> Value | None:
        node = binding.node
        value = self.value(node) if node is not None else None
        match binding.how:
            case "import":
                known = is_known(binding.path) and not self.shadowed(binding.path)
                value = Ref(binding.path) if known else UNKNOWN
            case "def" if node is not None:
                value = Local(node)
            case "self" | "part":
                value = CONTENT if binding.how == "part" else Thing("instance")
            case "element":
                value = element_of(value)
            case "entered":
                is_same = value is None or (isinstance(value, Thing) and value.kind in _ENTERED)
                value = value if is_same else CONTENT
        return value

    def shadowed(self, path: str) -> bool:
        """Whether a file of the working directory would be imported in place of a known module."""
        top = path.partition(".")[0]
        if top not in self._shadowed:
            folder = Path(self._cwd) if self._cwd else None
            self._shadowed[top] = folder is not None and _has_module(folder, top)
        return self._shadowed[top]

    def variable(self, name: str, *, exact: bool, node: ast.AST) -> None:
        """Tell if an environment variable of this name is a secret; one that is computed may be any."""
        if not exact or is_secret_name(name):
            self.find.add("secrets", f"${name}", place_of(node))

    def name(self, node: ast.Name, scope: Scope) -> Value | None:
        """What a name is that is read."""
        found = scope.find(node.id)
        if found and not (node in self.walk.early and found[0].kind in ("module", "class")):
            owner, bindings = found
            key = (owner, node.id)
            # In the first reading a name is what it was made until here; later, what it was in the end.
            names = self._names if self._names is not None else self._given
            given = names[key] if key in names else _of_parts(bindings)
            self._read.append((key, given))
            return self.mentioned(node, given)
        if self._known.get(node.id) == TOOL:
            return self.doubt(node, f"{'calls' if node in self.walk.called else 'passes on'} tool {node.id}")
        if self._known.get(node.id) == SERVERS:
            return self.doubt(node, f"has an MCP server do what `{node.id}` names")
        if node.id in self._known:
            return self.mentioned(node, _from_kernel(self._known[node.id]))
        if is_known(f"builtins.{node.id}"):
            return self.mentioned(node, Ref(f"builtins.{node.id}"))
        return self.doubt(node, f"`{node.id}` is not known")

    def mentioned(self, node: ast.expr, value: Value | None) -> Value | None:
        """Tell what a known function would do that is passed on instead of called."""
        if not isinstance(value, Ref) or node in self.walk.based:
            return value
        path = value.path
        if path in ENVIRONMENTS:
            if node not in self.walk.itemised:
                self.find.add("secrets", "all environment variables", place_of(node))
            return Thing("environment")
        if node in self.walk.called or path in harmless():
            return value
        short = path.removeprefix("builtins.")
        for row in FUNCTIONS.get(path, ()):
            self.find.add(row.kind, f"what `{short}` is given", place_of(node))
        if path not in FUNCTIONS:
            self.doubt(node, f"passes on `{short}`")
        return value

    @property
    def has_paths(self) -> bool:
        """Whether any object of the cell can be a path: somebody must have imported them."""
        return "pathlib" in self.imported

    def callable(self, value: Value | None) -> bool:
        """Whether calling this runs nothing but what is told anyway."""
        return value == FUNCTION or isinstance(value, Local | Ref)


def _of_parts(bindings: Sequence[Binding]) -> Value | None:
    """What parameters are, and all that is bound by no statement of its own."""
    value: Value | None = None
    for binding in bindings:
        if binding.how in ("part", "self"):
            value = joined(value, CONTENT if binding.how == "part" else Thing("instance"))
    return value


def _from_kernel(path: str) -> Value:
    """What a name of the kernel is that has this full name, or is an instance of it."""
    if path == FUNCTION.kind:
        return FUNCTION
    if path in FUNCTIONS and path.startswith(SHIPPED):
        return Ref(path)
    if path in modules() or (path.startswith("builtins.") and path in harmless()):
        return Ref(path)
    if path in ("pathlib.Path", "pathlib.PosixPath"):
        return PATH
    return CONTENT if path in harmless() else UNKNOWN


def _has_module(folder: Path, name: str) -> bool:
    try:
        files = [folder / f"{name}{suffix}" for suffix in (".py", ".pyc", ".so", ".abi3.so")]
        return any(file.is_file() for file in [*files, folder / name / "__init__.py"])
    except (OSError, ValueError):
        return False
