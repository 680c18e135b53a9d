"""Languages whose code is compiled and run as a whole."""

import os
from collections.abc import AsyncGenerator

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import Error, FileChange
from terp.kernels.jupyter.files import FileWatch, LocalFiles
from terp.kernels.jupyter.kernel import JupyterKernel
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.runtimes.programs import COMPILED, compiler_launch
from terp.kernels.runtimes.runtime import Machine
from tests.core.kernels.running import Listener, interrupted_at, ran, ran_with

HELLO = {
    "c": '#include <stdio.h>\nint main() { puts("hello ü"); }',
    "c++": '#include <iostream>\nint main() { std::cout << "hello ü\\n"; }',
    "go": 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("hello ü") }',
    "rust": 'fn main() { println!("hello ü"); }',
    "java": "class A {}\n\nclass Hello { public static void main(String[] a) {"
    ' System.out.println("hello ü"); } }',
}
WRONG = {
    "c": 'int main() { int x = "s" return 0; }',
    "c++": "int main() { nothing(); }",
    "go": "package main\n\nfunc main() { x := 1 }",
    "rust": 'fn main() { let x: i32 = "s"; }',
    "java": 'public class A { int x = "s"; }',
}


def compiler_of(name: str) -> str:
    programs = next(row.programs for row in COMPILED if row.name == name)
    return Machine(os.environ).which(*programs)


class CompilingKernels:
    """One kernel for each compiled language, started at first use."""

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.all: dict[str, Kernel] = {}

    def get(self, name: str) -> Kernel:
        compiler = compiler_of(name)
        if not compiler:
            pytest.skip(f"no compiler for {name}")
        if name not in self.all:
            launch = compiler_launch(name, compiler, LocalKernels(self.cwd))
            self.all[name] = JupyterKernel(
                name, self.cwd, lambda _: launch, Listener(), LocalFiles(FileWatch())
            )
        return self.all[name]


@pytest.fixture(scope="module")
async def compiling(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[CompilingKernels, None]:
    kernels = CompilingKernels(str(tmp_path_factory.mktemp("compiled")))
    yield kernels
    for kernel in kernels.all.values():
        await kernel.aclose()


@pytest.mark.parametrize("name", HELLO)
async def test_a_program_is_compiled_and_run(compiling: CompilingKernels, name: str) -> None:
    run = await ran(compiling.get(name), HELLO[name])
    assert (run.stdout, run.stderr, run.ended.status) == ("hello ü\n", "", "ok")


@pytest.mark.parametrize("name", WRONG)
async def test_what_the_compiler_says_is_the_error(compiling: CompilingKernels, name: str) -> None:
    run = await ran(compiling.get(name), WRONG[name])
    error = next(item for item in run.items if isinstance(item, Error))
    private = [line for line in error.traceback if "terp-k-" in line]
    assert (error.name, run.stderr, private) == ("CompileError", "", [])


async def test_the_exit_status_is_the_error(compiling: CompilingKernels) -> None:
    assert (await ran(compiling.get("c"), "int main() { return 3; }")).error == "ExitStatus 3"


async def test_a_crash_is_named(compiling: CompilingKernels) -> None:
    run = await ran(compiling.get("c"), "int main() { int *p = 0; return *(volatile int *)p; }")
    assert run.error == "ProgramKilled It was ended by SIGSEGV."


async def test_warnings_do_not_stop_a_program(compiling: CompilingKernels) -> None:
    run = await ran(compiling.get("c"), 'int main() { puts("x"); }')
    assert (run.stdout, "main.c" in run.stderr, run.ended.status) == ("x\n", True, "ok")


async def test_a_line_is_seen_before_the_program_ends_and_an_interrupt_ends_it(
    compiling: CompilingKernels,
) -> None:
    code = '#include <stdio.h>\nint main() { puts("on"); for (;;); }'
    assert (await interrupted_at(compiling.get("c"), code, "on")).ended.status == "interrupted"


async def test_a_program_may_ask_the_person(compiling: CompilingKernels) -> None:
    code = (
        '#include <stdio.h>\nint main() { char n[9]; printf("Name? "); scanf("%8s", n); printf("hi %s", n); }'
    )
    run = await ran_with(compiling.get("c"), code, "Ada")
    assert (run.stdout, len(run.questions)) == ("Name? hi Ada", 1)


async def test_a_program_runs_in_the_persons_directory(compiling: CompilingKernels) -> None:
    code = '#include <stdio.h>\nint main() { FILE *f = fopen("made.txt", "w"); fputs("1", f); fclose(f); }'
    run = await ran(compiling.get("c"), code)
    assert run.ended.files == (FileChange(f"{compiling.cwd}/made.txt", "created", 1),)


async def test_a_program_may_remove_the_temporary_files_of_its_own_kernel(
    compiling: CompilingKernels,
) -> None:
    code = (
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int count, char **words) {"
        ' char line[500]; sprintf(line, "rm -rf $(dirname $(dirname %s))", words[0]); return system(line); }'
    )
    await ran(compiling.get("c"), code)
    assert (await ran(compiling.get("c"), HELLO["c"])).stdout == "hello ü\n"


async def test_compiled_languages_are_said_to_keep_nothing() -> None:
    known = {language.names[0]: language.keeps_state for language in LocalKernels(environ={}).known()}
    assert {name: known[name] for name in ("c", "c++", "go", "rust", "ruby")} == {
        "c": False,
        "c++": False,
        "go": False,
        "rust": False,
        "ruby": True,
    }
