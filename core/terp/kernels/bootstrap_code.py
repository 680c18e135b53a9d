"""The bootstrap as code for an `execute_request`."""

from pathlib import Path


def bootstrap_code(token: str) -> str:
    """Code that makes the module `terp_home` of `bootstrap.py` in a kernel, and no other name."""
    source = Path(__file__).with_name("bootstrap.py").read_text(encoding="utf-8")
    return (
        "(lambda home: (__import__('sys').modules.__setitem__('terp_home', home), "
        f"exec(compile({source!r}, '<terp>', 'exec'), home.__dict__), "
        f"home.install(get_ipython(), {token!r})))"
        "(type(__import__('sys'))('terp_home'))"
    )
