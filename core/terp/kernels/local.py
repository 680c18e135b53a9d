"""The kernels of this machine."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from terp.errors import UnknownLanguage
from terp.events import KernelState
from terp.kernels.bootstrap_code import bootstrap_code
from terp.kernels.environment import find_python, kernel_environment
from terp.kernels.jupyter import JupyterKernel
from terp.kernels.launch import Launch, python_argv
from terp.kernels.protocol import KernelListener
from terp.languages import language_of
from terp.outputs import Output


class _Listeners:
    """Tells every listener; itself one, so that a kernel knows only that."""

    def __init__(self) -> None:
        self.all: list[KernelListener] = []

    def changed(self, language: str, state: KernelState, why: str) -> None:
        for listener in tuple(self.all):
            listener.changed(language, state, why)

    def late_output(self, run_id: str, output: Output) -> None:
        for listener in tuple(self.all):
            listener.late_output(run_id, output)


class LocalKernels:
    """Implements `Kernels` with processes of this machine, started at first use.

    `python` is the interpreter for Python code ("": the active environment's, else terp's own);
    `env_pass` names variables a kernel gets besides the harmless ones, `prelude` is code that it runs
    silently at each start. `own_files` and what is below `own_folders`, set before a kernel is asked
    for, are written by terp itself and never a result of code. Nothing of Jupyter is imported before a
    kernel is started.
    """

    def __init__(
        self,
        cwd: str = "",
        python: str = "",
        env_pass: Sequence[str] = (),
        *,
        prelude: str = "",
        start_timeout_s: float = 60.0,
        max_output_chars: int = 64_000_000,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.cwd = str(Path(cwd or Path.cwd()).absolute())
        self.python = python
        self.env_pass = tuple(env_pass)
        self.prelude = prelude
        self.start_timeout_s = start_timeout_s
        self.environ = os.environ if environ is None else environ
        self._max_output_chars = max_output_chars
        self.own_files: tuple[str, ...] = ()
        self.own_folders: tuple[str, ...] = ()
        self._listeners = _Listeners()
        self._kernels: dict[str, JupyterKernel] = {}

    @property
    def languages(self) -> Sequence[str]:
        """Main names of the languages, the default first."""
        return tuple(_LAUNCHES)

    def get(self, language: str) -> JupyterKernel:
        """The kernel for a language or an alias of it."""
        name = language_of(language, self.languages)
        if not name:
            known = ", ".join(self.languages)
            raise UnknownLanguage(f"No kernel here runs {language!r}. There is: {known}.")
        if name not in self._kernels:
            self._kernels[name] = JupyterKernel(
                name,
                self.cwd,
                lambda token: _LAUNCHES[name](self, token),
                self._listeners,
                max_output_chars=self._max_output_chars,
                own_files=self.own_files,
                own_folders=self.own_folders,
            )
        return self._kernels[name]

    def listen(self, listener: KernelListener) -> Callable[[], None]:
        """Tell `listener` what happens outside runs."""
        self._listeners.all.append(listener)
        return lambda: self._listeners.all.remove(listener) if listener in self._listeners.all else None

    async def aclose(self) -> None:
        """End every kernel."""
        for kernel in tuple(self._kernels.values()):
            await kernel.aclose()


def _launch_python(kernels: LocalKernels, token: str) -> Launch:
    interpreter = find_python(kernels.python, kernels.environ)
    return Launch(
        argv=python_argv(interpreter.path),
        cwd=kernels.cwd,
        environment=kernel_environment(kernels.environ, kernels.env_pass),
        language="python",
        why=interpreter.why,
        bootstrap=f"{bootstrap_code(token)}\n{kernels.prelude}",
        start_timeout_s=kernels.start_timeout_s,
    )


# How the kernel of each language is started, the default first; a token marks its calls home.
_LAUNCHES: Mapping[str, Callable[[LocalKernels, str], Launch]] = {"python": _launch_python}
