"""The package `inside` as code for a request to a kernel."""

from pathlib import Path

# A finder for the package: what few cells need is compiled when it is first imported.
_LOADER = """
def load(sources, token, shell, away):
    import sys
    if "terp_home" in sys.modules:
        sys.modules["terp_home"].adopt(token)
        return
    from importlib.machinery import ModuleSpec

    class Sources:
        def find_spec(self, name, path=None, target=None):
            return ModuleSpec(name, self, is_package=name == "terp_home") if name in sources else None

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            name = module.__name__
            exec(compile(sources[name], "<" + name + ">", "exec"), module.__dict__)

    sys.meta_path.insert(0, Sources())
    import terp_home
    terp_home.install(shell, token, away)
"""


def bootstrap_code(token: str, *, away: bool = False) -> str:
    """Code that loads the package as `terp_home` into a kernel, and leaves no other name there.

    A kernel that has it gets the new `token`. For `away` see the package.
    """
    folder = Path(__file__).with_name("inside")
    sources = {_module(path.stem): path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
    # One expression: a statement would bind a name in the person's namespace.
    load = f"space['load']({sources!r}, {token!r}, get_ipython(), {away!r})"
    return f"(lambda space: (exec({_LOADER!r}, space), {load}))({{}})"


def _module(stem: str) -> str:
    return "terp_home" if stem == "__init__" else f"terp_home.{stem}"
