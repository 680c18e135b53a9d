"""The protocols of a running kernel, and of the owner of all kernels of a session."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Protocol, cast, runtime_checkable

from terp.errors import UnknownLanguage
from terp.events import KernelState
from terp.events.outputs import Output, RunItem
from terp.text.dataclasses import dataclass
from terp.text.languages import language_of


@dataclass(frozen=True, slots=True)
class Variable:
    """A name in a kernel's namespace.

    `shape` is its shape or length, () without one; `size` its bytes in memory if they are cheap to know;
    `head` its value in short: the first items, or the columns of a table.
    """

    name: str
    type: str
    shape: tuple[int, ...] = ()
    size: int | None = None
    head: str = ""


@dataclass(frozen=True, slots=True)
class WrittenValue:
    """The text of a value; if there is none, the reason in `why`."""

    text: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class KnownLanguage:
    """A language that could run here. `names` all mean one kernel, the main name first.

    `by` names the program that runs it; if it is "", the language cannot run, and `remedy` is how to install
    it. Without `keeps_state` a run leaves nothing for the next. Support that is not `tested` was written from
    documentation. Without `tells_variables`, `Kernel.variables` is always empty.
    """

    names: tuple[str, ...]
    by: str
    remedy: str = ""
    keeps_state: bool = True
    tested: bool = True
    tells_variables: bool = True


def remedy_for(language: str, known: Sequence[KnownLanguage]) -> str:
    """Return how to install a language that does not run here, by any of its names; "" if it is not known."""
    missing = {name: row.remedy for row in known if not row.by for name in row.names}
    return missing.get(language_of(language, tuple(missing)), "")


class KernelListener(Protocol):
    """Listens to events of a kernel outside the stream of a run."""

    def changed(self, language: str, state: KernelState, why: str) -> None:
        """A kernel changed its state."""

    def late_output(self, run_id: str, output: Output) -> None:
        """Output arrived after the run `run_id` (as given to `execute`) had ended."""


class Kernel(Protocol):
    """One language's kernel. The first use starts it, also after it died."""

    @property
    def language(self) -> str:
        """The language, by its main name: "python"."""

    @property
    def generation(self) -> int:
        """The number of the kernel's life: 0 before the first start, plus 1 with each death or restart.

        It changes as soon as the variables are lost, so that decisions that relied on them can be checked.
        """

    @property
    def cwd(self) -> str:
        """The directory in which the kernel is, or will be started; code can change it with each run."""

    @property
    def tier(self) -> str:
        """The sandbox of the kernel; "none" without one."""

    @property
    def place(self) -> str:
        """The place of a kernel that terp did not start, to follow "in"; else ""."""

    @property
    def connection_file(self) -> str:
        """Jupyter's connection file, by which other programs of this machine can use it; "" for none."""

    @property
    def running(self) -> str:
        """The ID of the current run, as given to `execute`; "" for none."""

    async def start(self) -> None:
        """Start the kernel; return at once if it runs. Two callers share one start.

        Raises:
            KernelStartFailed: it did not start.
        """

    def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        """Run `code`; yield its items in order, the last of them one `RunEnded`.

        `run_id` names the run for late output. `number` is its number in the session; 0 lets the kernel
        count. `moment` is the record with which its turn began: the checkpoint to which a kernel that
        `KeepsPast` can be restored. After `timeout_s` seconds (0: never) the code is interrupted, or the
        kernel is ended if the code does not respond, and the run ends with status "timeout". Closing the
        generator interrupts the code as well; the kernel and its variables stay, unless `interrupt` is called
        while the code does not respond. One run at a time: a second caller waits.

        Raises:
            KernelStartFailed: the kernel was not running and did not start.
        """

    async def type_in(self, text: str | None) -> None:
        """Answer an `InputRequest`; None is end of file, which raises EOFError in the code."""

    async def answer(self, value: Any, error: str = "") -> None:
        """Answer a `BackCall` with a JSON value, or with the message of an error to raise there."""

    async def interrupt(self) -> None:
        """Interrupt the current run; a second call ends the kernel if the code has not responded.

        Returns when nothing runs any more, or when the code has not responded for 2 s: listeners get the
        state "interrupting", and from then on a second call ends the kernel. The run ends with status
        "interrupted", or "died" with its kernel. Harmless when nothing runs.
        """

    async def restart(self) -> None:
        """Start a new kernel in its place: variables are lost, working directory and files stay.

        Raises:
            KernelError: the kernel belongs to another program.
            KernelStartFailed: the new one did not start.
        """

    async def complete(self, code: str, cursor: int) -> Sequence[str]:
        """Return completions for `code` at `cursor`, an offset in characters.

        The list is empty if no kernel runs, or after 150 ms without an answer, so that typing never waits.
        """

    async def variables(self) -> Sequence[Variable]:
        """Return the user's variables, sorted by name, the first 5,000; no modules, none of terp's own.

        None of the user's code runs while a run is in progress; else a `__repr__` of theirs may take 100 ms.

        Raises:
            KernelBusy: code runs, and the kernel cannot answer meanwhile.
        """

    async def names(self) -> Mapping[str, str]:
        """Return the names of `variables` with their types, for completion; none if they come too late."""

    async def missing(self, modules: Sequence[str]) -> Sequence[str]:
        """Return the top-level modules that code could not import, as far as that is known."""

    async def value(self, name: str, keys: Sequence[Any], spec: str) -> WrittenValue:
        """Return a variable as `format` writes it with `spec`, indexed by one key after the other.

        A key is text, a number, a bool or None, or a list of them for a tuple. None of the user's code runs,
        so only values of classes of Python, numpy and pandas can be read.
        """

    async def aclose(self) -> None:
        """End the kernel and what it started. Harmless when called twice."""


@runtime_checkable
class KeepsPast(Protocol):
    """A kernel with a checkpoint for each turn."""

    async def written(self, moment: int) -> Sequence[Sequence[str]]:
        """Return the files written since a checkpoint, each with the possible action and why not.

        The action is "put back", "remove", "same" (the file is unchanged) or "not".
        """

    async def take_back(self, moment: int, paths: Sequence[str]) -> Mapping[str, Any] | None:
        """Restore variables and the files at `paths`; return the result, None without checkpoints."""


class Kernels(Protocol):
    """Finds or starts the kernel for a language, and closes all kernels."""

    @property
    def languages(self) -> Sequence[str]:
        """The main names of the languages that can run here, the default first."""

    @property
    def elsewhere(self) -> str:
        """The name of the machine on which the kernels run; "" for this one.

        Another machine has only those files of this one that were copied to a kernel.
        """

    @property
    def resumed(self) -> bool:
        """True if the kernels of a resumed session still run, with their variables."""

    @property
    def cwd(self) -> str:
        """The user's working directory on this machine."""

    def known(self) -> Sequence[KnownLanguage]:
        """Return all known languages, also those that cannot run here."""

    def get(self, language: str) -> Kernel:
        """Return the kernel for a language or an alias of it, without starting it.

        Raises:
            UnknownLanguage: no kernel here runs it; the message lists the languages.
        """

    def listen(self, listener: KernelListener) -> Callable[[], None]:
        """Call `listener` with events outside runs, until the returned function is called."""

    async def rest(self) -> Sequence[str]:
        """End every kernel until its next use, without variables; return the languages that had any.

        Only while nothing runs. Callers that hold a `Kernel` must call `get` again.
        """

    async def aclose(self) -> None:
        """End every kernel. Harmless when called twice."""


class SimpleKernel:
    """The parts of a `Kernel` that need no process: a subclass has `language`, `cwd` and `execute`.

    It has no variables, its code asks nothing and calls no service, and it cannot be interrupted.
    """

    language: str
    generation = 0
    tier = "none"
    place = connection_file = running = ""

    async def start(self) -> None:
        """Count the first start."""
        self.generation = max(1, self.generation)

    async def type_in(self, text: str | None) -> None:
        """Do nothing: nothing was asked."""

    async def answer(self, value: Any, error: str = "") -> None:
        """Do nothing: nothing was called."""

    async def interrupt(self) -> None:
        """Do nothing."""

    async def restart(self) -> None:
        """Count the start."""
        self.generation += 1

    async def value(self, name: str, keys: Sequence[Any], spec: str) -> WrittenValue:
        """Return no value."""
        return WrittenValue(why="this kernel has no variables")

    async def aclose(self) -> None:
        """Do nothing: there is no process."""

    async def complete(self, code: str, cursor: int) -> Sequence[str]:
        """Return no completions."""
        return ()

    async def variables(self) -> Sequence[Variable]:
        """Return no variables."""
        return ()

    async def names(self) -> Mapping[str, str]:
        """Return no names."""
        return {}

    async def missing(self, modules: Sequence[str]) -> Sequence[str]:
        """Return no modules."""
        return ()


class OnlyKernel(SimpleKernel):
    """A simple kernel that is also `Kernels`: the only one of its session."""

    elsewhere = ""
    resumed = False

    @property
    def languages(self) -> Sequence[str]:
        """The language."""
        return (self.language,)

    def known(self) -> Sequence[KnownLanguage]:
        """Return the language."""
        return (KnownLanguage((self.language,), self.place or "this program"),)

    def get(self, language: str) -> Kernel:
        """Return this kernel.

        Raises:
            UnknownLanguage: it runs another language.
        """
        if language_of(language, self.languages) != self.language:
            raise UnknownLanguage(f"Only {self.language} runs here, not {language!r}.")
        return cast("Kernel", self)

    def listen(self, listener: KernelListener) -> Callable[[], None]:
        """Do nothing: outside runs nothing happens."""
        return lambda: None

    async def rest(self) -> Sequence[str]:
        """Do nothing: there is no process."""
        return ()
