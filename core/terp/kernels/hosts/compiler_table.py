"""The languages whose code is a whole program, compiled and run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Compiler:
    """How a language is compiled and run: the name of the source file, and both command lines.

    `{program}` is the compiler, `{folder}` where it is, `{cwd}` the person's directory, `{main}` the name
    of the class that is run. Compiled is in a folder with nothing else in it. A program whose output is
    `buffered` would show it only at its end.
    """

    source: str
    compile: tuple[str, ...]
    run: tuple[str, ...]
    extension: str
    mimetype: str
    buffered: bool = False


_C = ("-I{cwd}", "-O1", "-pthread", "-o", "main")

COMPILERS: Mapping[str, Compiler] = {
    "c": Compiler("main.c", ("{program}", *_C, "main.c", "-lm"), ("./main",), ".c", "text/x-csrc", True),
    "c++": Compiler("main.cpp", ("{program}", *_C, "main.cpp"), ("./main",), ".cpp", "text/x-c++src", True),
    "go": Compiler(
        "main.go",
        ("{program}", "build", "-o", "main", "main.go"),
        ("./main",),
        ".go",
        "text/x-go",
    ),
    "rust": Compiler(
        "main.rs",
        ("{program}", "--edition", "2021", "-C", "opt-level=1", "-o", "main", "main.rs"),
        ("./main",),
        ".rs",
        "text/x-rustsrc",
    ),
    "java": Compiler(
        "{main}.java",
        ("{program}", "-d", ".", "{main}.java"),
        ("{folder}/java", "-cp", ".", "{main}"),
        ".java",
        "text/x-java",
    ),
    "applescript": Compiler(
        "main.scpt", (), ("{program}", "main.scpt"), ".applescript", "text/x-applescript"
    ),
}

_PUBLIC_CLASS = re.compile(r"\bpublic\s+(?:final\s+|abstract\s+)*(?:class|record|enum|interface)\s+(\w+)")
_CLASS = re.compile(r"\bclass\s+(\w+)(?=[^{]*\{(?:(?!\bclass\b).)*\bstatic\s+void\s+main\b)", re.DOTALL)


def main_class(code: str) -> str:
    """The class that a Java program begins in."""
    found = _PUBLIC_CLASS.search(code) or _CLASS.search(code)
    return found[1] if found else "Main"
