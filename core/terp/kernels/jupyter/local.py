"""The kernels of this machine."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from terp.errors import KernelError, SettingsError, UnknownLanguage
from terp.events.kernel import Kernel, KernelListener, KnownLanguage, remedy_for
from terp.kernels.attached.attachment import KernelAttachment, row_of
from terp.kernels.jupyter.channels import Connector
from terp.kernels.jupyter.files import FileWatch, LocalFiles, RunFiles
from terp.kernels.jupyter.kernel import JupyterKernel, Listeners
from terp.kernels.jupyter.launch import KernelOptions, Launch
from terp.kernels.runtimes import deno, kernelspecs, pages, programs, python, shell
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import SandboxOptions
from terp.kernels.sandbox.temporary import OwnTemporary
from terp.secrets.environment import find_python, kernel_environment
from terp.settings.interpreter import Interpreter, needed_around
from terp.text.languages import language_of

_INSIDE_PYTHON = ("sql",)


def best_runtimes(machine: Machine) -> Mapping[str, tuple[Runtime, str]]:
    """Return the table of languages: for each name the best row, and the program that runs it here or "".

    In the order in which they are offered; the first is the default.
    """
    best: dict[str, tuple[Runtime, str]] = {}
    for row, found in _all_runtimes(machine):
        for name in row.names:
            if name not in best or (found and not best[name][1]):
                best[name] = (row, found)
    return best


def _all_runtimes(machine: Machine) -> Sequence[tuple[Runtime, str]]:
    """Return every way to run a language, installed or not; of two with one name the better one first."""
    ours = (
        python.runtime(),
        shell.runtime(),
        python.sql_runtime(),
        deno.runtime(),
        *programs.driven_runtimes(),
        *programs.r_runtimes(),
        *programs.compiled_runtimes(),
        *pages.runtimes(),
    )
    rows = [(row, row.find(machine)) for row in ours]
    taken = [name for row, found in rows if found for name in row.names]
    return [*rows, *((row, row.find(machine)) for row in kernelspecs.runtimes(machine, taken))]


class AttachedLanguage(JupyterKernel):
    """A kernel of another program, which terp does not restart."""

    async def restart(self) -> None:
        """Refuse.

        Raises:
            KernelError: always.
        """
        raise KernelError(
            f"Code runs in {self.place}, which terp does not restart.",
            "Restart it where it was started; /attach own takes a kernel of terp's own instead.",
        )


class LocalKernels:
    """Implements `Kernels` with processes of this machine, started at first use.

    `interpreter` is the Python of the next kernel start, once it is decided. `functions` returns more code
    for that start, after the `prelude` of the options. `own_files`, and files below `own_folders`, are terp's
    own and never a result of code; set them before the first kernel. A kernel of terp's starts within
    `starting`. Jupyter is not imported before a kernel starts.
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
        self.elsewhere = ""
        self.resumed = False
        self.environ = os.environ if environ is None else environ
        self.confinement = confinement or Confinement(SandboxOptions(), self.cwd, self.environ)
        self.interpreter: Interpreter | None = None
        self.functions: Callable[[], str] = str
        self.own_files: tuple[str, ...] = ()
        self.own_folders: tuple[str, ...] = ()
        self.starting: AbstractAsyncContextManager[Any] = nullcontext()
        self._temporary = OwnTemporary()
        self._listeners = Listeners()
        self._kernels: dict[str, Kernel] = {}
        self._attached: dict[str, KernelAttachment] = {}
        self._watches: dict[str, FileWatch] = {}

    def fresh(self) -> "LocalKernels":
        """Return new kernels with the same Python, packages and sandbox, none of them started."""
        others = LocalKernels(self.cwd, self.options, environ=self.environ, confinement=self.confinement)
        others.interpreter, others.functions = self.interpreter, self.functions
        others.own_files, others.own_folders = self.own_files, self.own_folders
        others.starting = self.starting
        return others

    @property
    def network(self) -> bool:
        """True if code in the sandbox has the network."""
        return self.confinement.network

    def environment(self, *names: str) -> dict[str, str]:
        """Return the variables for a kernel: the harmless ones, those of the options, and `names`."""
        return kernel_environment(self.environ, (*names, *self.options.env_pass))

    @property
    def languages(self) -> Sequence[str]:
        """The languages offered to models, the default first: the installed ones, or those chosen of them."""
        return tuple(self._here)

    def known(self) -> Sequence[KnownLanguage]:
        """Return every language of the table."""
        names: dict[tuple[Runtime, str], list[str]] = {}
        for name, row in best_runtimes(self._machine()).items():
            names.setdefault(row, []).append(name)
        return [
            KnownLanguage(tuple(theirs), found, row.remedy, row.keeps_state, row.tested, row.tells_variables)
            for (row, found), theirs in names.items()
        ]

    @property
    def stateless(self) -> Sequence[str]:
        """The subset of `languages` that keep no state between runs."""
        return tuple(name for name, row in self._here.items() if not row.keeps_state)

    def get(self, language: str) -> Kernel:
        """Return the kernel for a language or an alias of it."""
        name = language_of(language, self.languages)
        if not name:
            known = ", ".join(self.languages)
            raise UnknownLanguage(
                f"No kernel here runs {language!r}. There is: {known}.", remedy_for(language, self.known())
            )
        return self._kernel(self._here[name])

    @property
    def attached(self) -> Mapping[str, KernelAttachment]:
        """The kernels of other programs in which code runs, by language."""
        return self._attached

    async def attach(self, attachment: KernelAttachment) -> str:
        """Do as `begin_with`, but first end the kernel of the language, or detach it if it is not terp's.

        Raises:
            UnknownLanguage: its language is not one of those that were chosen.
        """
        await self._part_with(self._language_of(attachment))
        return self.begin_with(attachment)

    def begin_with(self, attachment: KernelAttachment) -> str:
        """Attach to a kernel of another program, and return its language.

        Before the languages were first listed, this may add a language, which becomes the default.

        Raises:
            UnknownLanguage: the languages were listed, and this language is none of them.
        """
        name = self._language_of(attachment)

        def connector(token: str) -> Connector:
            self.confinement.check_elsewhere(attachment.place)
            return attachment.connector(token, self.options.prelude if name == "python" else "")

        cwd = attachment.cwd or self.cwd
        files = self._files(cwd) if attachment.is_here else RunFiles()
        most, place = self.options.max_output_chars, attachment.place
        self._attached[name] = attachment
        self._kernels[name] = AttachedLanguage(
            name, cwd, connector, self._listeners, files, place=place, max_output_chars=most
        )
        return name

    async def detach(self, language: str) -> None:
        """Return a language to a kernel of terp's. The other program's kernel keeps running.

        Raises:
            UnknownLanguage: terp has no kernel for it.
        """
        if not best_runtimes(self._machine()).get(language, (None, ""))[1]:
            raise UnknownLanguage(f"terp itself runs no {language} here.")
        await self._part_with(language)
        self._attached.pop(language, None)

    def jupyter(
        self, language: str, launch: Callable[[str], Launch], *, provisioned: bool = False
    ) -> JupyterKernel:
        """Return a kernel that `launch` starts, given a token for its service calls; in the sandbox.

        With `provisioned` the user's kernel provisioner, if configured, starts it, without a sandbox.
        """
        provisioner = self.options.provisioner if provisioned else None

        def connector(token: str) -> Launch:
            made = launch(token)
            if provisioner is not None:
                why = f"{made.why}, started by the kernel provisioner {provisioner.name}"
                self.confinement.check_elsewhere(why)
                return replace(made, why=why, provisioner=provisioner)
            if self.confinement.wanted:
                self.confinement.temporary = self._temporary.made()
            needed = (*made.needs, *needed_around(self.cwd, self.environ, self.python))
            confined = self.confinement.now(needed, language)
            return replace(made, confined=confined, effects=kernel.effects, starting=self.starting)

        kernel = JupyterKernel(
            language,
            self.cwd,
            connector,
            self._listeners,
            self._files(self.cwd, held=lambda: self.confinement.holds and provisioner is None),
            max_output_chars=self.options.max_output_chars,
        )
        if provisioner is None:
            kernel.next_tier = lambda: self.confinement.what
        return kernel

    def _files(self, cwd: str, held: Callable[[], bool] = bool) -> RunFiles:
        """Return the file watch that all kernels of one directory share: a change is reported once."""
        if cwd not in self._watches:
            self._watches[cwd] = FileWatch(own_files=self.own_files, own_folders=self.own_folders)
        return LocalFiles(self._watches[cwd], held)

    def listen(self, listener: KernelListener) -> Callable[[], None]:
        """Report events outside runs to `listener`, until the returned function is called."""
        return self._listeners.add(listener)

    async def rest(self) -> Sequence[str]:
        """End every kernel of terp's until it is needed again. Return the languages that lost state."""
        theirs = {*self._attached, *(_INSIDE_PYTHON if "python" in self._attached else ())}
        ours = {language: kernel for language, kernel in self._kernels.items() if language not in theirs}
        for language, kernel in ours.items():
            del self._kernels[language]
            await kernel.aclose()
        return tuple(language for language, kernel in ours.items() if kernel.generation)

    async def aclose(self) -> None:
        """End every kernel."""
        for kernel in tuple(self._kernels.values()):
            await kernel.aclose()
        self._temporary.close()
        self.confinement.forget_outputs()

    @property
    def python(self) -> Interpreter:
        """The Python that runs the code: the decided one, else the configured or active one, else terp's."""
        return self.interpreter or find_python(self.options.python, self.environ)

    def python_kernel(self) -> Kernel:
        """Return the Python kernel for languages that run inside it, even if Python is not offered."""
        return self._kernel(python.runtime())

    def _language_of(self, attachment: KernelAttachment) -> str:
        settled = "_here" in self.__dict__
        known = tuple(self._here) if settled else tuple(best_runtimes(self._machine()))
        name = language_of(attachment.language, known) or ("" if settled else attachment.language)
        if not name:
            theirs = attachment.language or "a language without a name"
            raise UnknownLanguage(
                f"The kernel of {attachment.file.title} runs {theirs}, and this conversation "
                f"{', '.join(known)}.",
                f"terp attach {attachment.file.name} begins one with it.",
            )
        return name

    async def _part_with(self, language: str) -> None:
        """End the kernel of a language, and for Python the kernels that run inside it."""
        for name in (language, *(_INSIDE_PYTHON if language == "python" else ())):
            kernel = self._kernels.pop(name, None)
            if kernel is not None:
                await kernel.aclose()

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
        here = {name: known[name][0] for name in chosen if known[name][1]}
        attached = self._attached.items()
        theirs = {name: known[name][0] if name in known else row_of(one) for name, one in attached}
        return {**theirs, **here}
