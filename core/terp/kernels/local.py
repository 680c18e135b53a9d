"""The kernels of this machine."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from terp.errors import SettingsError, UnknownLanguage
from terp.events import KernelState
from terp.kernels.connection import Way
from terp.kernels.environment import find_python
from terp.kernels.jupyter import JupyterKernel
from terp.kernels.launch import Launch
from terp.kernels.options import KernelOptions
from terp.kernels.protocol import Kernel, KernelListener, KnownLanguage
from terp.kernels.runtimes import python as python_runtime
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.kernels.runtimes.table import best_runtimes
from terp.languages import language_of
from terp.outputs import Output
from terp.pythons.interpreter import Interpreter
from terp.sandbox.confinement import Confinement, Wish


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

    `interpreter` is the Python for the next start of its kernel, once that was decided, and `functions` gives
    code for that start beside the `prelude` of the options: what is known by then. `own_files` and what
    is below `own_folders`, set before a kernel is asked for, are written by terp itself and never a result of
    code. Nothing of Jupyter is imported before a kernel is started.
    """

    def __init__(
        self,
        cwd: str = "",
        options: KernelOptions | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        confinement: Confinement | None = None,
    ) -> None:
        self.cwd = str(Path(cwd or Path.cwd()).absolute())
        self.options = options or KernelOptions()
        self.environ = os.environ if environ is None else environ
        self.confinement = confinement or Confinement(Wish(), self.cwd, self.environ)
        self.interpreter: Interpreter | None = None
        self.functions: Callable[[], str] = str
        self.own_files: tuple[str, ...] = ()
        self.own_folders: tuple[str, ...] = ()
        self._listeners = _Listeners()
        self._kernels: dict[str, Kernel] = {}

    @property
    def network(self) -> bool:
        """Whether code has the network, where it is confined."""
        return self.confinement.network

    @property
    def languages(self) -> Sequence[str]:
        """What models are offered, the default first: what is here, or of that what was chosen."""
        return tuple(self._here)

    def known(self) -> Sequence[KnownLanguage]:
        """Every language of the table."""
        names: dict[tuple[Runtime, str], list[str]] = {}
        for name, row in best_runtimes(self._machine()).items():
            names.setdefault(row, []).append(name)
        return [
            KnownLanguage(tuple(theirs), found, row.remedy, row.keeps_state, row.tested, row.tells_variables)
            for (row, found), theirs in names.items()
        ]

    @property
    def stateless(self) -> Sequence[str]:
        """Those of `languages` in which every run begins anew."""
        return tuple(name for name, row in self._here.items() if not row.keeps_state)

    def get(self, language: str) -> Kernel:
        """The kernel for a language or an alias of it."""
        name = language_of(language, self.languages)
        if not name:
            known = ", ".join(self.languages)
            raise UnknownLanguage(f"No kernel here runs {language!r}. There is: {known}.")
        return self._kernel(self._here[name])

    def jupyter(self, language: str, way: Callable[[str], Way]) -> JupyterKernel:
        """A kernel with what these kernels have in common: one process of this machine is confined here."""

        def confined(token: str) -> Way:
            made = way(token)
            if not isinstance(made, Launch):
                return made
            return replace(made, confined=self.confinement.now(made.needs, language))

        kernel = JupyterKernel(
            language,
            self.cwd,
            confined,
            self._listeners,
            max_output_chars=self.options.max_output_chars,
            own_files=self.own_files,
            own_folders=self.own_folders,
        )
        kernel.next_tier = lambda: self.confinement.what
        return kernel

    def listen(self, listener: KernelListener) -> Callable[[], None]:
        """Tell `listener` what happens outside runs."""
        self._listeners.all.append(listener)
        return lambda: self._listeners.all.remove(listener) if listener in self._listeners.all else None

    async def aclose(self) -> None:
        """End every kernel."""
        for kernel in tuple(self._kernels.values()):
            await kernel.aclose()

    @property
    def python(self) -> Interpreter:
        """The Python that runs the code: as decided, else what is configured or active, else terp's own."""
        return self.interpreter or find_python(self.options.python, self.environ)

    def python_kernel(self) -> Kernel:
        """The kernel of languages that run inside Python, also where Python itself is not offered."""
        return self._kernel(python_runtime.runtime())

    def _kernel(self, runtime: Runtime) -> Kernel:
        if runtime.language not in self._kernels:
            self._kernels[runtime.language] = runtime.make(self)
        return self._kernels[runtime.language]

    def _machine(self) -> Machine:
        network = self.confinement.network or not self.confinement.wanted
        return Machine(self.environ, self.python.path, self.options.shell, network=network)

    @cached_property
    def _here(self) -> Mapping[str, Runtime]:
        known = best_runtimes(self._machine())
        chosen = [language_of(name, tuple(known)) or name for name in self.options.languages] or tuple(known)
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise SettingsError(
                [f"languages: terp runs no {name!r}; it runs {', '.join(known)}." for name in unknown]
            )
        return {name: known[name][0] for name in chosen if known[name][1]}
