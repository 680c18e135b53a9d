"""`terp replay`: the code of a stored session, or of a recording, in a new kernel and without a model."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from terp.analysis.effects.cells import effects_of
from terp.analysis.rules.deciding import Rules
from terp.errors import TerpError
from terp.events.outputs import Output, Text
from terp.events.run_log import LoggedRun
from terp.events.settled import Displays
from terp.kernels.sandbox.effects import HoldsEffects
from terp.models.recording.file import Recording
from terp.opening.environment import ExecutionEnvironment, open_environment
from terp.opening.session import written_rules
from terp.person import Nobody
from terp.session.held_effects import grants_of, strict
from terp.session.replay.difference import difference
from terp.session.replay.source import is_whole, recorded_runs, session_runs
from terp.session.runs import CapturedRun
from terp.settings import Settings
from terp.store.catalogue import Catalogue
from terp.store.places import Place, is_session, real_directory
from terp.store.reading import read
from terp.text.dataclasses import dataclass, replace
from terp.text.languages import known_languages
from terp.text.paths import typed_path
from terp.text.plain import counted
from terp_cli.fronts.invocation import Invocation
from terp_cli.line.stopping import EXIT_CODES
from terp_cli.repl.keeping import folder_of
from terp_cli.terminal.sanitise import one_line, readable
from terp_cli.verbs.run_code import SessionlessRunner, equip

_UNFINISHED = {
    "interrupted": "it was interrupted",
    "timeout": "its time was over",
    "died": "it did not run to its end",
}


@dataclass(frozen=True, slots=True)
class ReplaySource:
    """The code to replay: each of `conversations` in its own kernels, in the directory `cwd`.

    With `observed`, the recording has the text that the model read of each run, not the run's output.
    """

    conversations: Sequence[Sequence[LoggedRun]]
    cwd: Path
    observed: bool = False


def replay(call: Invocation) -> int:
    """Run the code again and compare, or list it; return the exit code: 1 for a difference or no run.

    Raises:
        TerpError: there is no such session or recording, or no code in it that ran.
    """
    settings = call.settings()
    source = _source(call)
    found = [run for conversation in source.conversations for run in conversation]
    if not found:
        raise TerpError(f"No code of '{call.line.argument}' has run, so nothing can be replayed.")
    if not call.options.fresh:
        for number, run in enumerate(found, 1):
            first, *more = run.code.strip().splitlines() or [""]
            left = f"  (and {counted(len(more), 'line')} more)" if more else ""
            call.out.write(f"{number:3}  {run.language:8} {one_line(first)}{left}\n")
        call.note("nothing was run; with --fresh this code runs in a new kernel and its output is compared.")
        return 0
    return asyncio.run(_Replay(call, settings, source, len(found)).run())


def _source(call: Invocation) -> ReplaySource:
    named = call.line.argument
    path = typed_path(named)
    if path.is_file():
        return ReplaySource(
            recorded_runs(Recording(path).entries(), known_languages()), call.cwd, observed=True
        )
    folder = path if is_session(path) else None
    if folder is None:
        folder = Catalogue(call.places.sessions).find(named, real_directory(call.cwd))
    stored = read(folder)
    own = Path(stored.header.cwd)
    # One that is named by its path has been put there, beside what it works on.
    here = call.options.cwd or path == folder or not own.is_dir()
    events = (record.event for record in stored.events.records)
    return ReplaySource([session_runs(events, folder)], call.cwd if here else own)


class _Replay:
    """Runs the code of all conversations, and reports the differences."""

    def __init__(self, call: Invocation, settings: Settings, source: ReplaySource, total: int) -> None:
        self._call = call
        self._settings = settings
        self._source = source
        self._total = total
        self._rules = Rules(written_rules(settings))
        self._number = self._same = self._differ = self._left_out = 0
        # Nobody is asked: to be asked, resume the session (terp -r ID --rerun).
        self._alone = SessionlessRunner(Nobody(), call.note)

    async def run(self) -> int:
        """Replay every conversation; return the exit code."""
        code = 0
        for conversation in self._source.conversations:
            code = await self._conversation(conversation)
            if code:
                break
        out = self._call.out
        parts = [f"{self._same} of {self._total} runs printed the same as before"]
        parts += [f"{self._differ} something else"] if self._differ else []
        parts += [f"{self._left_out} left out"] if self._left_out else []
        if not_reached := self._total - self._same - self._differ - self._left_out:
            parts.append(f"{not_reached} not reached")
        out.write(f"{', '.join(parts)}.\n")
        return code or int(bool(self._differ) or not self._same)

    async def _conversation(self, conversation: Sequence[LoggedRun]) -> int:
        call, project = self._call, self._call.project_around(self._source.cwd)
        # The model has written it, and nobody looks at it now: it is confined as such code is.
        environment = await open_environment(
            self._settings,
            project=project,
            environ=call.environ,
            place=Place(folder_of(call)),
            unasked=lambda: True,
        )
        try:
            equip(call, self._alone, environment)
            displays = Displays()
            for run in conversation:
                self._number += 1
                if code := await self._rerun(run, environment, displays):
                    return code
            return 0
        finally:
            await environment.kernels.aclose()

    async def _rerun(self, run: LoggedRun, environment: ExecutionEnvironment, displays: Displays) -> int:
        kernel = environment.kernels.get(run.language)
        if why := self._why_not(run, kernel.cwd):
            self._left_out += 1
            self._call.note(f"run {self._number} of {self._total} is left out: {why}.")
            return 0
        if run.after_restart:
            await kernel.restart()
        if isinstance(kernel, HoldsEffects):
            # It runs without asking, so its effects do too, but for those that rules forbid.
            kernel.effects.grant(strict(await grants_of(self._rules.all, kernel.cwd)), free=True)
        heard = CapturedRun(run.answers, displays, self._alone.serve, self._settings.max_output_chars)
        stopping = self._call.stopping
        with stopping.watching(lambda: self._alone.stop(kernel), environment.kernels.aclose):
            ended = await self._alone.run(kernel, run.code, heard, self._settings.run_timeout_s)
        if stopping.code or ended == EXIT_CODES["interrupted"]:
            return stopping.code or ended
        self._compare(run, heard)
        return 0

    def _why_not(self, run: LoggedRun, cwd: str) -> str:
        if not is_whole(run):
            return "it contained a secret, which was not stored"
        if run.fate in _UNFINISHED:
            return _UNFINISHED[run.fate]
        ruling = self._rules.ruling(run.language, run.code, effects_of(run.language, run.code, {}, cwd))
        return f"{ruling.by} denies it, or requires a question" if ruling.verdict in ("deny", "ask") else ""

    def _compare(self, run: LoggedRun, heard: CapturedRun) -> None:
        redactor = self._call.secrets.redactor()
        now: Sequence[Output] = tuple(heard.outputs)
        as_kept = redactor.redacted
        if self._source.observed:
            home, temporary = self._call.environ.get("HOME", ""), tempfile.gettempdir()
            steady = replace(redactor, cwd=str(self._source.cwd), home=home, temporary=temporary)
            now, as_kept = (Text("stdout", heard.observed),), lambda text: steady.steady(text, times=True)
        differs = difference(run.outputs, now, f"run {self._number}", as_kept=as_kept)
        if differs:
            self._differ += 1
            self._call.out.write(f"{readable(differs)}\n")
        else:
            self._same += 1
        self._call.out.flush()
