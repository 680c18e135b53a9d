"""The protocols of a running kernel, and of what finds and owns kernels."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from terp.events import KernelState
from terp.events.outputs import Output, RunItem
from terp.text.languages import language_of


@dataclass(frozen=True, slots=True)
class Variable:
    """A name in a kernel's namespace.

    `shape` is its shape or length (() without one), `size` its bytes in memory where they are cheap to
    know, `head` a short look at it: its value, its first items, the columns of a table.
    """

    name: str
    type: str
    shape: tuple[int, ...] = ()
    size: int | None = None
    head: str = ""


@dataclass(frozen=True, slots=True)
class WrittenValue:
    """The text of a value; where there is none, `why`."""

    text: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class KnownLanguage:
    """A language that could run here. `names` all mean one kernel, the main name first.

    `by` is what runs it, in a few words; without it nothing does, and `remedy` is how to get it. Without
    `keeps_state` every run begins anew; what is not `tested` was written from documentation. Where
    not `tells_variables`, `Kernel.variables` has no answer.
    """

    names: tuple[str, ...]
    by: str
    remedy: str = ""
    keeps_state: bool = True
    tested: bool = True
    tells_variables: bool = True


def remedy_for(language: str, known: Sequence[KnownLanguage]) -> str:
    """How to get a language that does not run here, by any of its names; "" where that is not known."""
    missing = {name: row.remedy for row in known if not row.by for name in row.names}
    return missing.get(language_of(language, tuple(missing)), "")


class KernelListener(Protocol):
    """What happens in a kernel outside the stream of a run."""

    def changed(self, language: str, state: KernelState, why: str) -> None:
        """A kernel changed its state."""

    def late_output(self, run_id: str, output: Output) -> None:
        """Output arrived after the run `run_id` (as given to `execute`) had ended."""


class Kernel(Protocol):
    """One language's kernel. It is started by the first use and started anew after it died."""

    @property
    def language(self) -> str:
        """The language, by its main name: "python"."""

    @property
    def generation(self) -> int:
        """Which life of the kernel this is: 0 before the first start, one more with each death or restart.

        It changes when the variables are lost, not when the next start is over: what was decided with
        them in mind can tell that they are gone.
        """

    @property
    def cwd(self) -> str:
        """The directory in which the kernel is, or will be started; code can change it with each run."""

    @property
    def tier(self) -> str:
        """What confines the kernel: "none" when nothing does."""

    @property
    def place(self) -> str:
        """Where it runs when that is no kernel of terp's own, to follow "in"; "" when it is one."""

    @property
    def connection_file(self) -> str:
        """Jupyter's connection file, by which others of this machine can use it; "" while there is none."""

    @property
    def running(self) -> str:
        """The run that it is busy with, as named to `execute`; "" when there is none."""

    async def start(self) -> None:
        """Bring the kernel up; returns at once when it is up. Two callers share one start.

        Raises:
            KernelStartFailed: it did not come up.
        """

    def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        """Run `code`; yield what happens, in order, and end with one `RunEnded`.

        `run_id` names the run for late output, `number` counts it in the session (0: the kernel counts
        for itself), `moment` is where its turn began in the session's log: a kernel that `KeepsPast` can be
        taken back to there. After `timeout_s` seconds (0: never) the code is interrupted, or ended with its
        kernel when it does not answer, and the run ends with status "timeout". Closing the generator
        interrupts the code as well; the kernel and its variables live on, until `interrupt` is called where
        the code has not answered. One run at a time: a second caller waits.

        Raises:
            KernelStartFailed: the kernel was not running and did not come up.
        """

    async def type_in(self, text: str | None) -> None:
        """Answer an `InputRequest`; None is end of file, which raises EOFError in the code."""

    async def answer(self, value: Any, error: str = "") -> None:
        """Answer a `BackCall` with a JSON value, or with the message of an error to raise there."""

    async def interrupt(self) -> None:
        """Stop what runs. Never ends the kernel, unless it is called again after its code has not answered.

        Returns when nothing runs any more, or when the code has not answered for 2 s: listeners are told the
        state "interrupting", and from then on a second call ends the kernel. The run ends with status
        "interrupted", or "died" with its kernel. Harmless when nothing runs.
        """

    async def restart(self) -> None:
        """A fresh kernel: variables are gone, working directory and files stay.

        Raises:
            KernelError: it is not ours to be restarted.
            KernelStartFailed: the new one did not come up.
        """

    async def complete(self, code: str, cursor: int) -> Sequence[str]:
        """Completions for `code` at `cursor`, an offset in characters.

        None when no kernel runs, or when they do not come within 150 ms: who types must not wait.
        """

    async def inspect(self, code: str, cursor: int) -> str:
        """Documentation for the name at `cursor`, as plain text; "" when there is none."""

    async def variables(self) -> Sequence[Variable]:
        """The person's variables, sorted by name, the first 5 000; nothing of terp's own, no modules.

        Runs none of the person's code while code runs; otherwise a `__repr__` of theirs may take 100 ms.

        Raises:
            KernelBusy: code runs, and lets nothing else run.
        """

    async def names(self) -> Mapping[str, str]:
        """The names of `variables` with their types, for completion; none when they come too late."""

    async def missing(self, modules: Sequence[str]) -> Sequence[str]:
        """Those of the top-level modules that code could not import, as far as that is known."""

    async def value(self, name: str, keys: Sequence[Any], spec: str) -> WrittenValue:
        """The value of a variable as `format` writes it with `spec`; each key leads on from the value before.

        A key is text, a number, a bool or None, or a list of them for a tuple. Runs none of the person's
        code, and so reads only what is made of classes of Python, numpy and pandas themselves.
        """

    async def aclose(self) -> None:
        """End the kernel and what it started. Harmless when called twice."""


@runtime_checkable
class KeepsPast(Protocol):
    """A kernel that can be taken back to the moment at which a turn began."""

    async def written(self, moment: int) -> Sequence[Sequence[str]]:
        """The files that runs have written to since, each with what can be done about it, and why not.

        "put back", "remove", "same", or "not".
        """

    async def take_back(self, moment: int, paths: Sequence[str]) -> Mapping[str, Any] | None:
        """Put names back as they were, and files at `paths`; what came of it, None where nothing is kept."""


class Kernels(Protocol):
    """Finds or starts the kernel for a language, and owns their lives."""

    @property
    def languages(self) -> Sequence[str]:
        """Main names of the languages that can run here, the default first."""

    @property
    def elsewhere(self) -> str:
        """The machine on which the kernels are, as a person calls it; "" for this one.

        There are then no files of this machine there, unless they were given to a kernel.
        """

    @property
    def resumed(self) -> bool:
        """Whether the kernels that a stored session had live on, with all that is in them."""

    @property
    def cwd(self) -> str:
        """The directory of this machine in which the person works."""

    def known(self) -> Sequence[KnownLanguage]:
        """Every language that is known, whether it can run here or not."""

    def get(self, language: str) -> Kernel:
        """The kernel for a language or an alias of it; not started by asking.

        Raises:
            UnknownLanguage: nothing here runs it; the message lists what does.
        """

    def listen(self, listener: KernelListener) -> Callable[[], None]:
        """Tell `listener` what happens outside runs, until the returned function is called."""

    async def rest(self) -> Sequence[str]:
        """End every kernel until it is asked for again, with new variables; the languages that had any.

        Only while nothing runs. Who holds a `Kernel` must get it anew.
        """

    async def aclose(self) -> None:
        """End every kernel. Harmless when called twice."""
