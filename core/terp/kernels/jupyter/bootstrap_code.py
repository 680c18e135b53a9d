"""The package `inside` as code for a request to a kernel."""

from pathlib import Path

# A finder for the package: what few cells need is compiled when it is first imported.
_LOADER = """
def load(sources, token, session, away):
    import sys
    from importlib.machinery import ModuleSpec
    from IPython import get_ipython

    class Sources:
        __module__ = "terp_home"

        def find_spec(self, name, path=None, target=None):
            return ModuleSpec(name, self, is_package=name == "terp_home") if name in sources else None

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            name = module.__name__
            exec(compile(sources[name], "<" + name + ">", "exec"), module.__dict__)

    # A kernel of terp's own can have guests, and each of them brings this.
    if "terp_home" not in sys.modules:
        sys.meta_path.insert(0, Sources())
    import terp_home
    if session:
        terp_home.visit(get_ipython(), token, session)
    elif away and terp_home.is_at_home():
        terp_home.adopt(token)
    else:
        terp_home.install(get_ipython(), token, away)
"""


def bootstrap_code(token: str, session: str = "", *, away: bool = False) -> str:
    """Code that loads the package as `terp_home` into a kernel, and leaves no other name there.

    `session` is the id of the client where the kernel is somebody else's. One that is `away` is terp's own
    and on another machine: it outlives terp, which may come back to it, and tells of its files itself.
    """
    folder = Path(__file__).parents[1] / "inside"
    sources = {_module(path.stem): path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
    # One expression: a statement would bind a name in the person's namespace.
    load = f"space['load']({sources!r}, {token!r}, {session!r}, {away!r})"
    return f"(lambda space: (exec({_LOADER!r}, space), {load}))({{}})"


def farewell_code(session: str) -> str:
    """Code that takes the package out of a kernel of somebody else again."""
    return f"(lambda home: home and home.leave({session!r}))(__import__('sys').modules.get('terp_home'))"


def _module(stem: str) -> str:
    return "terp_home" if stem == "__init__" else f"terp_home.{stem}"
