"""A turn as plain text, for pipes, files and `--plain`: no colour, no redrawing.

The answer goes to one stream, everything else to another, as lines with a label in brackets.
"""

from collections.abc import AsyncIterable, Sequence
from pathlib import Path
from typing import Literal, TextIO, assert_never

from terp import events as on
from terp.analysis.edits import spelled_edits
from terp.errors import with_remedy
from terp.events import outputs as out
from terp.events.changes import delta_line, described_files, file_groups, stopped_line
from terp.events.performed import account_of
from terp.text.fences import unfenced
from terp_cli.fronts.event_order import JobsAside
from terp_cli.render import sentences
from terp_cli.render.run_text import RunText, displayed_file
from terp_cli.render.sentences import effects_line, notable
from terp_cli.terminal.sanitise import one_line, readable, visible

Detail = Literal["silent", "quiet", "normal", "verbose"]
OfReply = on.TextDelta | on.ReasoningDelta | on.CodeDelta | on.ModelCalled | on.ModelRetrying
OfCode = on.CodeProposed | on.CodeTyped | on.CodeDeclined | on.CodeRejected | on.CodeStarted | on.CodeFinished
Other = (
    on.TurnStarted | on.Asked | on.Answered | on.KernelChanged | on.Progress | on.UsageReported
    | on.HistoryCompacted | on.Noticed | on.HistoryRewound | on.SessionForked | on.SessionResumed
    | on.CodeCompared | on.CheckStarted | on.CheckFinished
)  # fmt: skip
_DEATHS = ("died", "restarted")


class PlainFront:
    """Front end that writes turns to `notes`, and only the answer to `answer`, which may be the same stream.

    Quiet notes are only facts: files that code has created, modified or deleted, and pictures. If code runs
    without approval (`asks` is False), only its notable effects are shown.
    """

    def __init__(
        self, answer: TextIO, notes: TextIO, detail: Detail = "normal", *, asks: bool = True
    ) -> None:
        self._asks = asks
        self._answer = answer
        self._notes = notes
        self._detail = detail
        # Lines after a run must not read as its output.
        self._after_run = False
        # Only at the end of a reply is it known if its text is the answer or a remark beside code.
        self._reply: list[str] = []
        self._computed: dict[str, str] = {}
        self._runs: dict[str, RunText] = {}
        self._jobs = JobsAside()
        self._printing = ""
        self._cwd = ""
        self._tier = ""
        self._obituary = ""
        self._thought = ""

    async def show(self, events: AsyncIterable[on.Event]) -> None:
        """Show one turn to its end."""
        async for event in events:
            self.take(event)

    def take(self, event: on.Event) -> None:
        """Show one event, and events that were held back for it."""
        for one in self._jobs.passed(event):
            self._take(one)

    def _take(self, event: on.Event) -> None:
        if self._thought and not isinstance(event, on.ReasoningDelta):
            self._think("\n")
        if isinstance(event, OfReply):
            self._of_reply(event)
        elif isinstance(event, OfCode):
            self._of_code(event)
        elif isinstance(event, on.Printed):
            self._output(event.call_id, event.output, "output")
        elif isinstance(event, on.LateOutput):
            self._output(event.call_id, event.output, "late output")
            self._rest(event.call_id)
        elif isinstance(event, on.TurnFinished):
            self._finished(event)
        elif isinstance(event, on.JobChanged):
            self._of_job(event)
        else:
            self._other(event)

    def finish(self, events: Sequence[on.Event], collected: Sequence[Path]) -> None:
        """Write the paths of the collected files of the run."""
        for path in collected:
            self._fact(f"[collected] {one_line(str(path))}")

    def _of_reply(self, event: OfReply) -> None:
        match event:
            case on.TextDelta(text=text, reference=reference):
                self._reply.append(text)
                if reference:
                    self._computed[reference] = text
            case on.ReasoningDelta(text=text):
                if self._detail == "verbose":
                    self._think(text)
            case on.CodeDelta():
                self._remark()
            case on.ModelCalled(model=model, step=step):
                self._remark()
                self._note(f"[asking {one_line(model)}, reply {step}]", "verbose")
            case on.ModelRetrying(attempt=attempt, reason=reason, delay_s=delay_s):
                self._reply.clear()
                self._computed.clear()
                self._note(f"[retry {attempt} in {delay_s:.0f} s: {one_line(reason)}]")
            case _:
                assert_never(event)

    def _think(self, text: str) -> None:
        """Write the complete lines of reasoning: the safety of a character depends on its neighbours."""
        lines, end, self._thought = (self._thought + text).rpartition("\n")
        self._notes.write(readable(lines + end))

    def _of_code(self, event: OfCode) -> None:
        match event:
            case on.CodeProposed():
                self._proposed(event)
            case on.CodeTyped(language=language, code=code):
                self._note(f"[{one_line(language)}, typed]\n{visible(code)}")
            case on.CodeDeclined(reason=reason):
                self._note(f"[not run] {one_line(reason)}".rstrip())
            case on.CodeRejected(reason=reason):
                self._remark()
                self._note(f"[cannot run] {readable(reason)}")
            case on.CodeStarted(execution_count=count):
                self._note(f"[run {count}]", "verbose")
            case on.CodeFinished():
                self._run_over(event)
            case _:
                assert_never(event)

    def _proposed(self, event: on.CodeProposed) -> None:
        self._cwd = event.cwd
        self._remark()
        where = f", in {one_line(event.place)}" if event.place else ""
        self._note(f"[{one_line(event.language)}{where}]\n{visible(event.code)}")
        effects = event.effects if self._asks or event.asks else notable(event.effects, event.cwd)
        if effects.found or self._asks:
            edits = spelled_edits(event.language, event.code, event.cwd)
            self._note(f"[expected] {effects_line(effects, edits)}")
        if event.tier != self._tier:
            # It changes only with the start of a kernel.
            self._tier = event.tier
            self._note(f"[sandbox] {one_line(event.tier)}")

    def _run_over(self, event: on.CodeFinished) -> None:
        self._rest(event.call_id)
        for group in file_groups(event.files):
            self._fact(f"[{group[0].action}] {one_line(described_files(group, event.cwd))}")
        # The note of the kernel's death is not repeated.
        note = event.note.removesuffix(self._obituary).rstrip()
        known = event.status == "died" and bool(self._obituary) and not note
        if event.status != "ok" and (event.status != "error" or note) and not known:
            self._note(f"[{event.status}] {one_line(note)}".rstrip())
        if did := account_of(event.effects, event.files, event.cwd):
            self._note(f"[effects] {one_line(did)}")
        if event.stopped_at:
            self._note(f"[stopped at] {one_line(stopped_line(event.stopped_at))}")
        if delta := delta_line(event.changes, event.more_changes):
            self._note(f"[variables] {one_line(delta)}")
        self._note(f"[{event.status} after {event.seconds:.1f} s]", "verbose")
        self._after_run = True

    def _other(self, event: Other) -> None:
        match event:
            case on.Noticed(text=text, remedy=remedy):
                self._note(f"[note] {readable(f'{text} {remedy}'.rstrip())}")
            case on.KernelChanged(language=language, state=state, why=why):
                self._obituary = why if state == "died" else ""
                wanted: Detail = "normal" if state in (*_DEATHS, "interrupting") else "verbose"
                self._note(f"[{one_line(language)} kernel {state}] {one_line(why)}".rstrip(), wanted)
            case on.Progress(what=what, done=done, total=total):
                count = f": {done}{f' of {total}' if total else ''}" if done or total else ""
                self._note(f"[{one_line(what)}{count}]", "verbose")
            case on.UsageReported(input_tokens=read, output_tokens=written, cost_usd=cost):
                price = "cost unknown" if cost is None else f"${cost:.4f}"
                self._note(f"[{read:,} tokens read, {written:,} written, {price}]", "verbose")
            case on.HistoryCompacted():
                self._note(f"[{one_line(sentences.compacted(event, '{:,}'.format)).rstrip('.')}]")
            case on.HistoryRewound() | on.SessionForked() | on.SessionResumed() | on.CodeCompared():
                difference = event.difference if isinstance(event, on.CodeCompared) else ""
                more = f"\n{readable(difference)}" if difference else ""
                self._note(f"[{readable(sentences.of_past(event))}]{more}")
            case on.Answered(by=by, answer=answer) if by.startswith(on.RULE):
                self._note(f"[rule] {one_line(sentences.answered(by, answer))}")
            case on.CheckStarted() | on.CheckFinished():
                self._of_check(event)
            case on.TurnStarted() | on.Asked() | on.Answered():
                # The prompt is on the command line; questions are shown by the code that asks.
                return
            case _:
                assert_never(event)

    def _of_job(self, event: on.JobChanged) -> None:
        self._rest(event.call_id)
        self._printing = ""
        name = f"job {event.job}, {one_line(event.language)}"
        self._note(f"[{name}, has ended]" if event.state == "ended" else f"[in the background as {name}]")

    def _of_check(self, event: on.CheckStarted | on.CheckFinished) -> None:
        if isinstance(event, on.CheckStarted):
            tier = f"\n[sandbox] {one_line(event.tier)}" if self._detail == "verbose" else ""
            self._note(f"[check] {readable(sentences.check_started(event))}{tier}")
            return
        if not event.passed:
            # The text before was not the answer then.
            self._remark()
        if event.output.strip() and not self._is_quiet:
            self._note(readable(event.output.strip("\n")))
        self._note(f"[check] {readable(sentences.check_finished(event))}")

    def _output(self, call_id: str, output: out.Output, label: str) -> None:
        if self._detail == "quiet" and isinstance(output, out.Display | out.DisplayUpdate) and output.path:
            self._fact(displayed_file(output.path))
        if call_id not in self._runs:
            self._runs[call_id] = RunText(self._cwd, whole=self._detail == "verbose")
        self._print(call_id, label, self._runs[call_id].add(output))

    def _print(self, call_id: str, label: str, text: str) -> None:
        """Write complete lines of output, under a heading at the first of a run."""
        if not text or self._is_quiet:
            return
        if self._printing != call_id:
            self._printing = call_id
            self._note(f"[{label}]")
        self._notes.write(readable(text))
        self._notes.flush()

    def _rest(self, call_id: str) -> None:
        """Write an incomplete last line."""
        if run := self._runs.get(call_id):
            self._print(call_id, "output", run.rest())

    def _remark(self) -> None:
        """Write the text so far as a note: its reply also calls code, or was cut off."""
        text = "".join(self._reply)
        self._reply.clear()
        if text.strip():
            self._note(readable(text.rstrip()))
        self._note_computed()

    def _note_computed(self) -> None:
        """Note the values in the text that code computed."""
        for reference, value in self._computed.items():
            self._note(f"[computed] {one_line(reference)} is {one_line(value)}")
        self._computed.clear()

    def _finished(self, event: on.TurnFinished) -> None:
        self._runs.clear()
        self._printing = ""
        if event.reason != "done":
            self._remark()
            error = event.error or {"declined": "Declined."}.get(event.reason, "")
            if error:
                self._notes.write(f"terp: {readable(with_remedy(error, event.remedy))}\n")
            self._notes.flush()
            return
        self._reply.clear()
        self._note_computed()
        on_terminal = self._answer.isatty()
        if on_terminal:
            self._set_apart()
        self._after_run = False
        # A program gets the answer unchanged; a terminal must not obey it.
        answer = readable(event.answer) if on_terminal else unfenced(event.answer)
        self._answer.write(answer if answer.endswith("\n") or not answer else answer + "\n")
        self._answer.flush()

    @property
    def _is_quiet(self) -> bool:
        """True if only facts are noted, or nothing."""
        return self._detail in ("silent", "quiet")

    def _fact(self, text: str) -> None:
        """Note a file that was created, modified or deleted; -q does not hide it."""
        self._note(text, "quiet" if self._detail == "quiet" else "normal")

    def _note(self, text: str, wanted: Detail = "normal") -> None:
        if self._detail in ("verbose", wanted):
            self._set_apart()
            self._notes.write(text + "\n")
            self._notes.flush()

    def _set_apart(self) -> None:
        if self._after_run and not self._is_quiet:
            self._notes.write("\n")
            self._notes.flush()
        self._after_run = False
