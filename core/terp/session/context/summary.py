"""The message that replaces the part of a conversation that a model no longer reads."""

from collections.abc import Sequence

from terp.errors import KernelBusy
from terp.events.changes import file_name
from terp.events.kernel import Kernel, Kernels, Variable
from terp.events.messages import User
from terp.events.outputs import FileChange
from terp.events.run_log import RunLog
from terp.session.context.namespaces import Namespaces
from terp.text.dataclasses import dataclass
from terp.text.plain import head_and_tail

REQUEST = (
    "Write down what must not be forgotten of the conversation so far, for yourself, so that you can go on "
    "without it: what is wanted, decisions and why they were made, facts found, what was tried in vain, and "
    "what is still open. The words of the person, the files and the variables are listed for you beside it: "
    "leave them out. Use short sentences and no code, and call no tool."
)
_HEADING = "[What came before is shortened here."
_WORDS_OF_PERSON = "The person said, in their own words:"
_WRITTEN = "Your notes of it:"
# In characters, by what the whole message may take: the words of the user come first.
_WORDS, _NOTES, _FACTS = 0.4, 0.3, 0.15
_MOST = 48_000
_LEAST = 1_200
_CHARS_A_TOKEN = 4
# Of a conversation that is left the summary may be half.
_SHARE = 0.5
_SHORTEST_WORDS = 120


@dataclass(frozen=True, slots=True)
class Listing:
    """Facts of one kind under a heading; without items the heading says it all."""

    heading: str
    items: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """A part of the conversation that is left out: the model's notes, and the facts that terp knows."""

    notes: str = ""
    facts: Sequence[Listing] = ()


def summary_message(said: Sequence[str], summary: Summary, room: float) -> User:
    """Return the message, in at most about half of `room` tokens.

    Its field `said` keeps all words of the user for the next summary.
    """
    room_chars = round(min(_MOST, max(_LEAST, room * _SHARE * _CHARS_A_TOKEN)))
    parts = [_HEADING]
    if said:
        parts += [_WORDS_OF_PERSON, *_bounded_words(said, round(room_chars * _WORDS))]
    if summary.notes:
        parts += ["", _WRITTEN, head_and_tail(summary.notes, round(room_chars * _NOTES))]
    if summary.facts:
        parts += ["", *(_bounded_list(one, round(room_chars * _FACTS)) for one in summary.facts)]
    return User("\n".join(parts) + "]", said=tuple(said) or ("",))


def _bounded_words(said: Sequence[str], room: int) -> list[str]:
    """Return the user's messages as items: the first one, and as many of the last ones as fit."""
    if sum(map(len, said)) <= room:
        return [f"- {words}" for words in said]
    each = max(_SHORTEST_WORDS, room // len(said))
    short = [f"- {head_and_tail(words, each)}" for words in said]
    first, rest = short[0], short[1:]
    at, left = len(rest), room - len(first)
    while at and (left := left - len(rest[at - 1])) >= 0:
        at -= 1
    gone = [f"[… {at} more …]"] if at else []
    return [first, *gone, *rest[at:]]


def _bounded_list(listing: Listing, room: int) -> str:
    shown: list[str] = []
    for item in listing.items:
        room -= len(item) + 2
        if room < 0:
            break
        shown.append(item)
    left = len(listing.items) - len(shown)
    items = "; ".join([*shown, *([f"… {left} more"] if left else [])])
    return f"{listing.heading} {items}." if items else listing.heading


async def live_facts(kernels: Kernels, runs: RunLog) -> Sequence[Listing]:
    """Return the files that runs have left, if any, and the variables of each kernel that was started.

    A model that writes a summary may be wrong about both.
    """
    newest = [_named(change, kernels.cwd) for change in reversed(runs.files.values())]
    files = [Listing("Files that runs have left, the newest first:", newest)] if newest else []
    namespaces = Namespaces(kernels)
    held = [await _held(kernel, listable=namespaces.can_list(kernel)) for kernel in namespaces.started]
    none = [Listing("No kernel runs at this point, so there are no variables.")]
    return [*files, *(held or none)]


def _named(change: FileChange, cwd: str) -> str:
    where = f"{change.path} on {change.host}" if change.host else file_name(change.path, cwd)
    return f"{where} ({change.action})"


async def _held(kernel: Kernel, *, listable: bool) -> Listing:
    language = kernel.language
    if not listable:
        return Listing(f"The variables of {language} cannot be listed.")
    try:
        variables = await kernel.variables()
    except KernelBusy:
        return Listing(f"The variables of {language} cannot be listed while its kernel is busy.")
    if not variables:
        restarted = ": its kernel was restarted" if kernel.generation > 1 else ""
        return Listing(f"There are no variables in {language} at this point{restarted}.")
    heading = f"Variables in {language} at this point, whatever the notes say:"
    return Listing(heading, [_shown(variable) for variable in variables])


def _shown(variable: Variable) -> str:
    if len(variable.shape) == 1:
        return f"{variable.name} ({variable.type} of length {variable.shape[0]})"
    shape = f" {'×'.join(map(str, variable.shape))}" if variable.shape else ""
    return f"{variable.name} ({variable.type}{shape})"
