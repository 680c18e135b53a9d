"""Trust in a project, asked at the terminal: its changes to the settings, and the user's answer."""

from collections.abc import Callable, Iterator
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING

from terp.errors import TerpError
from terp.opening.trust_difference import Difference, difference_of
from terp.person import Choice, Decline, Option, Person
from terp.session.observation import objection
from terp.settings import Settings
from terp.settings.project.files import Project
from terp.settings.project.standing import Standing, standing_of
from terp_cli.fronts.invocation import Invocation
from terp_cli.prompt.interface import PromptReader
from terp_cli.terminal.sanitise import one_line, readable, visible

if TYPE_CHECKING:
    from terp_cli.repl.terminal_ui import TerminalUI

OPTIONS = (
    Option("y", "yes"),
    Option("n", "no"),
    Option("d", "no, and do not ask again"),
    Option("s", "show the files"),
)
_WHAT = "Trust it as it is now?"
_WHY = "If these files change, terp asks again. Code of the model still needs your approval."
_MOST_LINES, _MOST_OF_A_FILE = 40, 200
_LONGEST_LINE = 400
_WORD = 14

Say = Callable[[str], None]


def difference(call: Invocation, standing: Standing) -> Difference:
    """Return the changes that trust in a project would make in this call."""
    return difference_of(standing, call.environ, partial(call.loaded, call.line.given, call.options.profile))


def project_report(standing: Standing, found: Difference) -> list[str]:
    """Return the lines that describe a project to the user before they decide to trust it."""
    lines = [f"This project brings its own settings: {_where(standing)}"]
    lines += _cut([f"  {word:{_WORD}}{one_line(line)}" for word, line in found.changed])
    if not found.changed:
        waits = "It has no effect before its mistakes are corrected."
        lines.append(f"  {waits if found.problems else 'It would change nothing.'}")
    for title, more in (("Never taken from a project:", found.refused), ("Wrong in it:", found.problems)):
        if more:
            lines += [title, *_cut([f"  {one_line(line)}" for line in more])]
    return lines


async def ask(standing: Standing, found: Difference, person: Person, say: Say, width: int) -> str:
    """Show the project's changes, ask, and apply the answer; return the words of an answer that declined.

    Lines are broken between words at `width` cells.

    Raises:
        TerpError: the answer cannot be stored.
    """
    say("\n".join(["", *(_folded(line, width) for line in project_report(standing, found))]))
    while True:
        answer = await person.choose(Choice(_WHAT, OPTIONS, _WHY, otherwise="n"))
        if answer != "s":
            break
        say("\n".join(shown_files(found)))
    decide(standing, yes=answer == "y", keep=answer in ("y", "d"))
    return answer.reason if isinstance(answer, Decline) else ""


def decide(standing: Standing, *, yes: bool, keep: bool) -> None:
    """Apply an answer, and store it if it is to be remembered.

    Raises:
        TerpError: the answer cannot be stored.
    """
    try:
        standing.answer("yes" if yes else "no", keep=keep)
    except OSError as error:
        raise TerpError(f"The decision cannot be kept: {error.filename}: {error.strerror}.") from error


def shown_files(found: Difference) -> Iterator[str]:
    """Return the files that would take effect, with every non-text character made visible."""
    for name, content in found.files.items():
        lines = content.decode("utf-8-sig", errors="replace").splitlines()
        yield f"── {one_line(name)}"
        yield from (visible(line) for line in lines[:_MOST_OF_A_FILE])
        if len(lines) > _MOST_OF_A_FILE:
            yield f"… {len(lines) - _MOST_OF_A_FILE} more lines"
    if not found.files:
        yield "There is no file to show."


async def settled(call: Invocation, settings: Settings, ui: "TerminalUI | None") -> Settings:
    """Return the settings of the call, once the user of a REPL has decided about its project."""
    standing = call.standing
    if not (call.stays and ui and ui.person and ui.prompt) or standing.state != "open":
        return settings
    if objected := await _asked(call, standing, ui.person, ui.prompt()):
        ui.objections.append(objected)
    if call.standing.state != "yes":
        return settings
    call.read_project_again(call.standing)
    # The question listed the settings that it may not set.
    return call.loaded(call.line.given, call.options.profile, call.project).settings


async def asked_again(call: Invocation, person: Person, prompt: PromptReader) -> tuple[str, bool, str]:
    """Ask about the project's current files.

    Return its state as a sentence, True if trust is new, and a note for the model about words that declined.
    New files take effect from now on, except those that are only used when a session starts.
    """
    before, standing, objected = call.standing, standing_of(call.cwd, call.environ, call.places), ""
    if standing.state in ("open", "no"):
        objected = await _asked(call, standing, person, prompt)
    if standing.state != "yes" or (before.state, before.survey.digest) == ("yes", standing.survey.digest):
        return state_of(standing), False, objected
    call.read_project_again(standing)
    return f"{state_of(standing)}{_when(call.project)}", True, objected


def _when(project: Project) -> str:
    """Return the time from which the parts of a project take effect, if it is trusted during a session."""
    now = [name for name in ("settings", "instructions") if getattr(project, name)]
    later = [name for name in ("tools", "skills", "commands", "python") if getattr(project, name)]
    counting = f" Its {' and '.join(now)} count from now on." if now else ""
    waiting = " and ".join(filter(None, (", ".join(later[:-1]), *later[-1:]))).replace("python", "Python")
    return f"{counting} Its {waiting} will be used from the next start on." if later else counting


async def _asked(call: Invocation, standing: Standing, person: Person, prompt: PromptReader) -> str:
    """Ask about trust in the project; return a note for the model about words that declined, or ""."""
    try:
        words = await ask(standing, difference(call, standing), person, prompt.say, prompt.width)
        return objection(f"{_WHAT} (the project {_where(standing)})", words) if words else ""
    except TerpError as error:
        # The answer counts for this call all the same.
        call.note(readable(f"{error.message} {error.remedy}".rstrip()))
        return ""


def state_of(standing: Standing) -> str:
    """Return the state of a project as a sentence."""
    where = _where(standing)
    return {
        "nothing": f"{where} has no settings for terp: there is nothing to trust.",
        "open": f"{where} is not trusted: its present state is undecided.",
        "yes": f"{where} is trusted as it is now.",
        "no": f"{where} is not trusted, as you decided.",
    }[standing.state]


def _where(standing: Standing) -> str:
    # In full: the working directory is no name that anybody could recognise.
    return one_line(str(standing.survey.root))


def _folded(line: str, width: int) -> str:
    indent = " " * (2 + _WORD if line.startswith("  ") and line[2:3].strip() and "  " in line[2:] else 2)
    return fill(line, max(40, width - 1), subsequent_indent=indent, break_on_hyphens=False)


def _cut(lines: list[str]) -> list[str]:
    """Cut lines to fit above the question: a project could push everything else off the screen."""
    left = len(lines) - _MOST_LINES
    short = [
        f"{line[:_LONGEST_LINE]}… {len(line) - _LONGEST_LINE:,} more characters"
        if len(line) > _LONGEST_LINE
        else line
        for line in lines[:_MOST_LINES]
    ]
    return [*short, f"  … {left} more"] if left > 0 else short
