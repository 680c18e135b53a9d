"""The package `inside` as code for a request to a kernel."""

from pathlib import Path

# In the order of their imports.
_MODULES = ("home", "text", "values", "figures", "files", "frames", "__init__")

_LOADER = """
def load(sources, token, shell):
    import sys, types
    package = types.ModuleType("terp_home")
    package.__path__ = []
    sys.modules["terp_home"] = package
    for name, source in sources:
        inner = name != "__init__"
        module = types.ModuleType("terp_home." + name) if inner else package
        module.__package__ = "terp_home"
        sys.modules[module.__name__] = module
        exec(compile(source, "<terp_home." + name + ">", "exec"), module.__dict__)
    package.install(shell, token)
"""


def bootstrap_code(token: str) -> str:
    """Code that loads the package as `terp_home` into a kernel, and leaves no other name there."""
    folder = Path(__file__).with_name("inside")
    sources = [(name, (folder / f"{name}.py").read_text(encoding="utf-8")) for name in _MODULES]
    # One expression: a statement would bind a name in the person's namespace.
    load = f"space['load']({sources!r}, {token!r}, get_ipython())"
    return f"(lambda space: (exec({_LOADER!r}, space), {load}))({{}})"
