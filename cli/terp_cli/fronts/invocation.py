"""One call of the program: its options, settings, project, streams and exit codes."""

import gc
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from terp.errors import SettingsError, StopReason, TerpError, with_remedy
from terp.secrets.known_secrets import Secrets
from terp.settings import Settings
from terp.settings.loading import Loaded, load_settings
from terp.settings.places import find_places
from terp.settings.project.files import Project, read_project
from terp.settings.project.standing import Standing, standing_of
from terp.settings.sources import Given, GivenValues
from terp.text.paths import typed_path
from terp_cli.line import streams
from terp_cli.line.command_line import CommandLine
from terp_cli.line.stdin import Source, source_of
from terp_cli.line.stopping import EXIT_CODES, TIME_IS_OVER, Stopping
from terp_cli.terminal import tty
from terp_cli.terminal.guard import Guard, Unguarded, guarding
from terp_cli.terminal.sanitise import readable
from terp_cli.terminal.tty import TypedAhead

if TYPE_CHECKING:
    from terp.session.cost.budget import Tally
    from terp_cli.fronts.front_end import FrontEnd
    from terp_cli.fronts.plain import Detail
    from terp_cli.terminal.detached import HostLink

STDIN = 0


class Invocation:
    """A call of the program, with its settings, its project and its streams."""

    def __init__(self, line: CommandLine, environ: Mapping[str, str]) -> None:
        self.line = line
        self.options = line.options
        self.environ = environ
        self.places = find_places(environ)
        self.stopping = Stopping()
        self.out, self.notes = streams.stdout(), streams.stderr()
        self.source: Source = source_of(STDIN)
        if self.options.no_stdin and self.source == "data":
            self.source = "nothing"
        self.reported: list[str] = []
        """Notices of this call, which a JSON result lists."""
        self.secrets = Secrets(environ, Settings(), self.options.api_key, keyring=False)
        types = self.stays or (line.command == "attach" and self.talks)
        self.typed_ahead = TypedAhead(STDIN if types else None)
        self.guard: Guard | Unguarded = Unguarded()
        self.wants_demo = False
        """True if the user chose the demo in place of a conversation."""
        self.above: Callable[[str], None] | None = None
        """Function that writes a line above an open prompt, else None."""
        for notice in line.notices:
            self.note(notice)

    def note(self, text: str) -> None:
        """Write a line about the call; -q hides it."""
        if not self.options.quiet:
            self.say(text)

    def report(self, text: str) -> None:
        """Write a fact about the data of the call, such as a cut; only -qq hides it."""
        self.reported.append(text)
        self.warn(text)

    def warn(self, text: str) -> None:
        """Write a line that only -qq hides."""
        if not self.options.silent:
            self.say(text)

    def say(self, text: str) -> None:
        """Write a line that no flag hides."""
        line = f"terp: {readable(text)}"
        if self.above is not None and self.notes.isatty():
            self.above(line)
            return
        self.notes.write(f"{line}\n")
        self.notes.flush()

    def failed(self, error: TerpError) -> int:
        """Report an error in the form of the output; return the exit code."""
        if self.options.debug:
            self.notes.write(self._traceback(error))
        message = self.secrets.redacted(error.message)
        self._without_a_turn(error.stop_reason, message, error.remedy)
        one = with_remedy(message, error.remedy)
        lines = message.splitlines() if isinstance(error, SettingsError) else [one]
        self.notes.write("".join(f"terp: {readable(line.rstrip())}\n" for line in lines))
        return EXIT_CODES[error.stop_reason]

    def crashed(self, error: Exception) -> int:
        """Write the redacted traceback of a bug in terp; return the exit code."""
        self.notes.write(f"{self._traceback(error)}terp: this is a bug in terp.\n")
        return EXIT_CODES["error"]

    def _traceback(self, error: Exception) -> str:
        return readable(self.secrets.redacted("".join(traceback.format_exception(error))))

    def cannot_write(self, error: OSError) -> int:
        """Report that the output cannot be written, if possible; return the exit code."""
        with suppress(OSError):
            self.notes.write(f"terp: the output cannot be written: {error.strerror}.\n")
            self.notes.flush()
        streams.let_go()
        return EXIT_CODES["error"]

    def stopped(self, code: int) -> int:
        """Report a signal, or --timeout, from before the turn; return the exit code."""
        if code == EXIT_CODES["timeout"]:
            self._without_a_turn("timeout", TIME_IS_OVER)
            self.notes.write(f"terp: {TIME_IS_OVER}\n")
        else:
            self._without_a_turn("interrupted")
        return code

    def _without_a_turn(self, reason: StopReason, error: str = "", remedy: str = "") -> None:
        if self.options.output_format != "text":
            from terp.events import TurnFinished  # noqa: PLC0415  (see `front`)
            from terp_cli.fronts.json import write_end  # noqa: PLC0415

            write_end(self.out, self.options.output_format, TurnFinished(reason, "", error, remedy))

    def settings(self, **given: object) -> Settings:
        """Load the settings of this call, `given` first; report those that a project may not set."""
        flags = {**self.line.given, **{name: Given(value, "terp") for name, value in given.items()}}
        loaded = self.loaded(flags, self.options.profile, self.project)
        self.secrets = Secrets(self.environ, loaded.settings, self.options.api_key)
        # A REPL asks about the project; a user who does not trust it knows that it is left out.
        for notice in (*self.project_notices, *_counted(loaded.notices)):
            self.note(notice)
        return loaded.settings

    @property
    def project_notices(self) -> Sequence[str]:
        """The lines about files of the project that are left out."""
        # A REPL asks about the project; a user who does not trust it knows that it is left out.
        is_settled = self.stays or self.standing.state == "no"
        of_project = self.project.problems if is_settled else self.project.notices
        return [notice for notice in (self.standing.problem, *of_project) if notice]

    def loaded(self, flags: GivenValues, profile: str, project: Project) -> Loaded:
        """Load the settings with these flags, this profile and this project.

        Raises:
            SettingsError: with all their problems.
        """
        return load_settings(
            flags, profile=profile, environ=self.environ, places=self.places, project=project
        )

    @cached_property
    def host(self) -> "HostLink | None":
        """The connection to the host of a detached session; None for another call."""
        if not self.options.detach:
            return None
        from terp_cli.terminal.detached import HostLink  # noqa: PLC0415  (for a detached session only)

        return HostLink.found(self.environ)

    @cached_property
    def standing(self) -> Standing:
        """The user's trust in the project of this call."""
        return standing_of(self.cwd, self.environ, self.places)

    @cached_property
    def project(self) -> Project:
        """The project of this call."""
        return read_project(self.cwd, self.environ, self.standing)

    def read_project_again(self, standing: Standing) -> None:
        """Read the project again, with a new standing."""
        self.__dict__["standing"] = standing
        self.__dict__.pop("project", None)

    def project_around(self, cwd: Path) -> Project:
        """Return the project of a session in `cwd`, which may be another than this call's."""
        if cwd == self.cwd:
            return self.project
        return read_project(cwd, self.environ, standing_of(cwd, self.environ, self.places))

    @property
    def cwd(self) -> Path:
        """The working directory of the session."""
        try:
            cwd = typed_path(str(self.options.cwd or Path.cwd())).absolute()
        except FileNotFoundError:
            raise SettingsError(["the current directory is gone; change to another one."]) from None
        if not cwd.is_dir():
            raise SettingsError([f"--cwd: there is no directory '{self.options.cwd}'."])
        return cwd

    @property
    def draws(self) -> bool:
        """True if turns are drawn on a terminal; else they are plain text or JSON."""
        if self.options.plain and not (self._prompts and self.source == "terminal"):
            return False
        return self.options.output_format == "text" and self.out.isatty() and not self.options.emit

    @property
    def terminal_environ(self) -> Mapping[str, str]:
        """The environment for the terminal's abilities: with `--plain` that of a dumb terminal."""
        return {**self.environ, "TERM": "dumb", "NO_COLOR": "1"} if self.options.plain else self.environ

    @property
    def notes_code(self) -> bool:
        """True if the code of a turn that is not drawn is written to the notes."""
        return self.options.output_format == "text" and not self.options.quiet

    @property
    def talks(self) -> bool:
        """True if a user is at the keyboard and sees the drawing."""
        return self.draws and self.source == "terminal"

    @property
    def stays(self) -> bool:
        """True if the call is a REPL."""
        return self.talks and self._prompts

    @property
    def _prompts(self) -> bool:
        """True if the options ask for a prompt, now or after the answer."""
        asks = self.line.words or self.options.file
        stays = self.options.interactive or self.options.detach
        return not self.line.command and bool(stays or not asks)

    @property
    def resumes(self) -> bool:
        """True if the call resumes a stored session."""
        options = self.options
        return options.continue_ or options.rerun or options.fork or options.resume is not None

    @contextmanager
    def terminal(self) -> Iterator[None]:
        """Allow changes of the terminal within the context; restore it afterwards in any case."""
        changes = self.talks and self.line.command in ("", "attach", "demo", "trust")
        terminal = STDIN if changes else None
        with guarding(terminal, self.environ) as self.guard, tty.as_before(terminal), self.typed_ahead:
            yield

    def terminal_beside(self, *, unasked: bool) -> int | None:
        """Return the terminal where a user can be asked while the turn is written elsewhere, or None.

        With `unasked` (-y) in a pipe no user is expected there.
        """
        return None if unasked and self.source != "terminal" else tty.controlling()

    @property
    def out_folder(self) -> Path | None:
        """The directory of `--out`, created now rather than after all the work; None without one."""
        if not self.options.out:
            return None
        # Resolved now: code may replace a part of the path by a link later.
        folder = typed_path(str(self.options.out)).resolve()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError([f"--out: cannot make '{folder}': {error.strerror}."]) from error
        return folder

    def front(
        self, facts: Mapping[str, str], used: "Callable[[], Tally] | None" = None, *, asks: bool = True
    ) -> "FrontEnd":
        """Return the front end of this call; `facts` and the usage from `used` are part of a JSON result.

        `asks`: code needs the user's approval.
        """
        if self.options.output_format != "text":
            from terp_cli.fronts.json import ResultFront, StreamFront  # noqa: PLC0415  (few calls write JSON)

            is_whole = self.options.output_format == "json"
            redactor = self.secrets.redactor
            if is_whole:
                return ResultFront(self.out, facts, redactor, used, self.reported)
            return StreamFront(self.out, redactor, self.reported)
        from terp_cli.fronts.plain import PlainFront  # noqa: PLC0415  (a prompt is shown before any event)

        detail: Detail = "quiet" if self.options.quiet else "verbose" if self.options.verbose else "normal"
        detail = "silent" if self.options.silent else detail
        return PlainFront(self.notes if self.options.emit else self.out, self.notes, detail, asks=asks)


def _counted(refused: Sequence[str]) -> Sequence[str]:
    """Return notices on settings that a project may not set; several become one line."""
    if len(refused) < 2:
        return refused
    return (f"{len(refused)} settings of this project are not taken from it; terp trust names them.",)


def keep_imports() -> None:
    """Take all that is imported by now out of garbage collection, which `main` put off until here."""
    gc.freeze()
    gc.enable()
