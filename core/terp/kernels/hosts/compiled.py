"""The kernel of compiled languages: each cell is a whole program, and no state is kept."""

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ipykernel.connect import get_connection_file

from terp.kernels.hosts.kernel import CellFailure, HostCell, serve
from terp.kernels.hosts.program import Program, ProgramKernel
from terp.kernels.hosts.streams import Printer
from terp.text.dataclasses import dataclass
from terp.text.files import make_private


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiled language: the name of the source file, and the command lines that compile and run it.

    `{program}` is the compiler, `{folder}` its folder, `{cwd}` the user's directory, `{main}` the name of the
    class to run. The code is compiled in an empty folder. A program whose output is `buffered` would show it
    only at its end.
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
        "main.go", ("{program}", "build", "-o", "main", "main.go"), ("./main",), ".go", "text/x-go"
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
    """Return the name of the class with a Java program's `main`."""
    found = _PUBLIC_CLASS.search(code) or _CLASS.search(code)
    return found[1] if found else "Main"


# The first errors of a compiler are worth reading; later ones often follow from them.
_MOST_LINES = 200


class CompiledKernel(ProgramKernel):
    """Compiles each cell in a new folder and runs the program in the user's directory."""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._compiler: Compiler = COMPILERS[self.language]
        self.describe(self._compiler.mimetype, self._compiler.extension)
        self._folder = Path(get_connection_file()).parent
        self._running: Program | None = None
        self._line_by_line = shutil.which("stdbuf") if self._compiler.buffered else None

    def run(self, cell: HostCell) -> CellFailure | None:
        """Compile and run a cell; compiler errors or the exit status are the failure."""
        # A program may have deleted all temporary files.
        folder = Path(tempfile.mkdtemp(prefix="cell-", dir=make_private(self._folder)))
        try:
            return self._compile(cell, folder) or self._execute(cell, folder)
        except OSError as error:
            return CellFailure("ProgramNotStarted", f"{error.filename or self.program}: {error.strerror}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def stop(self) -> None:
        """Kill the running program."""
        # Another thread may unset it at any time.
        if (running := self._running) is not None:
            running.kill()

    def _compile(self, cell: HostCell, folder: Path) -> CellFailure | None:
        source = folder / self._filled([self._compiler.source], cell)[0]
        source.write_text(cell.code, encoding="utf-8", errors="replace")
        if not self._compiler.compile:
            return None
        texts: list[str] = []
        listening = HostCell(
            "", Printer(lambda _, content: texts.append(str(content.get("text", "")))), allows_input=False
        )
        compiler = self._attended(listening, self._filled(self._compiler.compile, cell), str(folder))
        listening.printer.finish()
        said = "".join(texts)
        if self.interrupts:
            return CellFailure("KeyboardInterrupt", "")
        if not compiler.code:
            # Warnings.
            cell.printer.write("stderr", said)
            return None
        lines = said.strip().splitlines()[:_MOST_LINES] or [compiler.how_ended()]
        first = next((line for line in lines if "error" in line), lines[-1])
        return CellFailure("CompileError", first, tuple(lines))

    def _execute(self, cell: HostCell, folder: Path) -> CellFailure | None:
        argv = [
            str(folder / part) if part in ("./main", ".", self._compiler.source) else part
            for part in self._filled(self._compiler.run, cell)
        ]
        line_by_line = [self._line_by_line, "-oL"] if self._line_by_line else []
        program = self._attended(cell, [*line_by_line, *argv], str(Path.cwd()))
        status = program.code or 0
        if status < 0 and not self.interrupts:
            return CellFailure("ProgramKilled", f"It {program.how_ended()}.")
        return self.exit_failure(status)

    def _attended(self, cell: HostCell, argv: Sequence[str], cwd: str) -> Program:
        """Run a program to its end."""
        program = Program(argv, cwd, self.wires, cell.printer, stdin=self.stdin, ended=self.wake)
        self._running = program
        if self.interrupts:
            program.kill()
        self.attend(cell, program, lambda: False)
        self._running = None
        return program

    def _filled(self, parts: Sequence[str], cell: HostCell) -> list[str]:
        values = {
            "program": self.program,
            "folder": str(Path(self.program).parent),
            "cwd": os.getcwd(),  # noqa: PTH109 - as text
            "main": main_class(cell.code) if self.language == "java" else "",
        }
        return [part.format(**values) for part in parts]


if __name__ == "__main__":
    serve(CompiledKernel)
