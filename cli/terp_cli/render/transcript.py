"""The events of a turn as rows, and the tail of the block that still grows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar, assert_never, cast

from rich.style import Style
from rich.text import Text

from terp import events as on
from terp.analysis.edits import spelled_edits
from terp.events.outputs import Display, DisplayUpdate
from terp.session.cost.budget import Tally
from terp.text.pictures import saved_to
from terp_cli.render import look, words
from terp_cli.render.code import CallCode
from terp_cli.render.diff import diff_rows
from terp_cli.render.fold import indented, wrapped
from terp_cli.render.markdown.answer import AnswerStream, same_file
from terp_cli.render.markdown.grammar import fed
from terp_cli.render.markdown.markdown import MarkdownStream
from terp_cli.render.output.display import MOST_ROWS, Draw, Drawn, Fold, made_files, picture_rows
from terp_cli.render.output.output import Interruption, OutputStream
from terp_cli.render.pieces import Pieces
from terp_cli.render.sentences import OfPast
from terp_cli.render.status import Status, elapsed
from terp_cli.terminal.sanitise import one_line, readable

# Rows of the screen for the header, a folding row, the input line and the toolbar, with the blank ones; and
# the cells of the effects, the question and its answers, which are broken between words.
_ROWS_AROUND, _CARD_CELLS, _FEWEST_ROWS = 7, 220, 6
_MOST_PASSING = 12

OfReply = on.ReasoningDelta | on.TextDelta | on.CodeDelta | on.CodeProposed
OfRun = on.CodeStarted | on.Printed | on.LateOutput | on.CodeFinished | on.JobChanged
Waiting = (
    on.ModelCalled | on.ModelRetrying | on.Progress | on.Asked | on.KernelChanged | on.CheckStarted
    | on.CheckFinished
)  # fmt: skip


class PlainStream:
    """Rows of text that is shown as it is written: reasoning in `verbose`."""

    def __init__(self, width: Callable[[], int], style: Style) -> None:
        self._width = width
        self._style = style
        self._line = Pieces()

    def feed(self, text: str) -> list[Text]:
        """Return the rows of the lines that `text` finished."""
        return [row for line in self._line.ended(text) for row in self._rows(line)]

    def finish(self) -> list[Text]:
        """Return the rows of a last line without an end."""
        return self._rows(self._line.take()) if len(self._line) else []

    def tail(self, limit: int) -> list[Text]:
        """Return the last `limit` rows of the line being written."""
        line = self._line.end(self._width() * limit)
        return self._rows(line)[-limit:] if line else []

    def _rows(self, line: str) -> list[Text]:
        return wrapped(Text(readable(line.removesuffix("\r")), self._style), self._width())


_ROWS = 4


class FoldedReasoning:
    """Rows of the end of the reasoning while it grows; then one line with its duration and size."""

    def __init__(self, width: Callable[[], int], clock: Callable[[], float]) -> None:
        self._width = width
        self._clock = clock
        self._text = Pieces()
        self._began = self._ended = clock()

    def feed(self, text: str) -> list[Text]:
        """Store the text; no row is finished before the end."""
        self._text.add(text)
        self._ended = self._clock()
        return []

    def finish(self) -> list[Text]:
        """Return the line in place of the reasoning."""
        text = self._text.take().strip()
        if not text:
            return []
        seconds = self._ended - self._began
        took = elapsed(seconds) if seconds >= 1 else "a moment"
        return [Text(f"▸ thought for {took} · {len(text):,} characters", look.DIM)]

    def tail(self, limit: int) -> list[Text]:
        """Return its last rows, at most a few."""
        most = min(limit, _ROWS)
        written = self._text.end(self._width() * most).strip()
        lines = [line for line in written.split("\n") if line.strip()][-most:]
        rows = [row for line in lines for row in wrapped(Text(readable(line), look.DIM), self._width())]
        return rows[-most:]


class GrowingBlock(Protocol):
    """A block of the transcript that grows."""

    def finish(self) -> Sequence[Drawn]:
        """Return the rows that were held back until more text came."""

    def tail(self, limit: int) -> list[Text]:
        """Return the last rows that may still change."""


Part = TypeVar("Part", bound=GrowingBlock)


class DrawnTranscript:
    """Renderer of the events of a session, one turn after the other.

    One block grows at a time: reasoning, text, the code of a call, the output of a run. When another
    begins, it is finished, and a blank row follows. `verbose` folds no traceback and no reasoning. `draw`
    draws pictures; without it there is no `Graphic` among the rows. `rows` is the height of the screen:
    longer code of a call is folded (0: never). `asks`: proposed code needs the user's approval. `cards`: the
    question for it shows its effects. `ascii_only` writes formulas in ASCII. `status` is the line below it.
    """

    def __init__(
        self,
        width: Callable[[], int],
        tail_rows: Callable[[], int],
        clock: Callable[[], float],
        *,
        verbose: bool = False,
        draw: Draw | None = None,
        rows: Callable[[], int] = lambda: 0,
    ) -> None:
        self._width = width
        self._tail_rows = tail_rows
        self._clock = clock
        self.verbose = verbose
        self._whole_reasoning = verbose
        self._drawing = draw
        self._screen_rows = rows
        self.ascii_only = False
        self.asks = True
        self.recalls = False  # True if Ctrl-O and /out N show all output.
        self.cards = False
        self.folds_code = False  # True if some of the code that was proposed last is not shown.
        self._proposed: on.CodeProposed | None = None
        self._cwd = ""
        self._obituary = ""
        self._interruption = Interruption()
        self._named: set[str] = set()  # Files that this turn has named.
        self.status = Status()
        self._running = self._asked = False
        self._usage = Tally()
        self._part: GrowingBlock | None = None
        self._name = ""
        self._code: dict[str, Pieces] = {}
        self._numbers: dict[str, int] = {}
        self._code_language: str | None = None
        self._rows: list[Drawn] = []
        self._spaced = False

    def show(self, event: on.Event) -> list[Drawn]:
        """Return the rows that `event` finishes: `Text`, and a `Graphic` for a picture."""
        self._draw(event)
        return self._taken()

    def tail(self, limit: int) -> list[Text]:
        """Return at most `limit` unfinished rows, the status line last."""
        rows, passing = self.unfinished(limit)
        return [*rows, *passing]

    def unfinished(self, limit: int) -> tuple[list[Text], list[Text]]:
        """Return the rows of the growing block, and those below that never become final; at most `limit`."""
        if limit < 1:
            return [], []
        status = self.status.rows(self._clock(), self._width(), self._usage)
        left = limit - len(status) - 1 if status else limit
        passes = isinstance(self._part, FoldedReasoning | OutputStream)
        most = min(left, _MOST_PASSING) if passes else left
        rows = self._part.tail(most) if self._part and left > 0 and limit > 2 else []
        gap = [Text()] if status and (not self._spaced or rows) else []
        below = [*gap, *status][-limit:]
        return ([], [*rows, *below]) if passes else (rows, below)

    def rest(self) -> list[Drawn]:
        """Return all held rows. Called when another block follows, or the turn is over."""
        self._end_part()
        return self._taken()

    @property
    def grows(self) -> bool:
        """True if another row would split a block that is being drawn."""
        return self._part is not None

    def whole_code(self) -> list[Text]:
        """Return all rows of the code that was proposed last, none folded; empty without any."""
        if self._proposed is None:
            return []
        code = CallCode(self._proposed.language, self._width)
        header = words.code_header(self._proposed.language)
        return [header, *code.feed(self._proposed.code), *code.finish(), *self._diffs(self._proposed)]

    def _draw(self, event: on.Event) -> None:
        # The typed line stands above, after any earlier block.
        self._spaced = self._spaced and not isinstance(event, on.TurnStarted | on.CodeTyped)
        if isinstance(event, OfReply):
            self._write(event)
        elif isinstance(event, OfRun):
            self._run(event)
        elif isinstance(event, Waiting):
            self._wait(event)
        elif isinstance(event, words.OneSentence):
            self._answered(event)
            self._line(words.drawn(event))
        elif isinstance(event, OfPast):
            self._line(words.of_past(event))
        elif isinstance(event, on.CodeTyped):
            # It is on the screen as the typed line.
            self._end_part()
            self.status.shell = event.language == "shell"
        elif isinstance(event, on.UsageReported):
            self._usage = self._usage.plus(event)
        else:
            self._end(event)

    def _end(self, finished: on.TurnFinished) -> None:
        self.status.clear()
        self._end_part()
        self._line(words.ended(finished, self._usage))
        self._usage = Tally()
        self._named.clear()

    def _write(self, event: OfReply) -> None:
        now = self._clock()
        match event:
            case on.ReasoningDelta(text=text):
                self.status.receive("thinking", now)
                self._think(text)
            case on.TextDelta():
                self.status.receive("answering", now)
                self._keep(self._growing("text", self._markdown).feed(fed(event)))
            case on.CodeDelta():
                self.status.receive("writing code", now)
                self._write_code(event)
            case on.CodeProposed():
                self.status.clear()
                self.status.shell = False
                self._propose(event)
            case _:
                assert_never(event)

    def _run(self, event: OfRun) -> None:
        match event:
            case on.CodeStarted(call_id=call_id, execution_count=number):
                self._numbers[call_id] = number
                self._running = True
                self._run_on()
                self._begin("output " + call_id, self._output(call_id))
            case on.Printed(call_id=call_id, output=output):
                if not self.verbose and self._interruption.keeps(call_id, output):
                    return
                if isinstance(output, Display | DisplayUpdate) and output.path:
                    self._named |= {output.path, saved_to(output.metadata)}
                self._keep(self._growing("output " + call_id, lambda: self._output(call_id)).add(output))
            case on.LateOutput(call_id=call_id, output=output):
                begun = self._name == "late " + call_id
                late = self._growing("late " + call_id, lambda: self._output(call_id))
                self._keep([] if begun else [words.late_header()])
                self._keep(late.add(output))
            case on.CodeFinished():
                self._running = False
                self.status.clear()
                self._finish_run(event)
            case on.JobChanged():
                self._running = False
                self.status.clear()
                self._end_part()
                self._line(words.of_job(event))
            case _:
                assert_never(event)

    def _run_on(self) -> None:
        """Show that code is running, if any is."""
        self.status.clear()
        if self._running:
            self.status.wait("running", self._clock(), after_s=0.5, runs=True)

    def _wait(self, event: Waiting) -> None:
        now = self._clock()
        match event:
            case on.ModelCalled(model=model):
                self.status.wait(f"waiting for {one_line(model)}", now)
            case on.ModelRetrying(delay_s=delay_s):
                self._line(words.retrying(event))
                self.status.count_down("trying again", now, delay_s)
            case on.Progress(seconds=seconds):
                if event.is_over:
                    self._run_on()
                elif not self._asked:
                    self.status.wait(words.progress(event), now - seconds)
            case on.Asked():
                # The code that asks draws the question, perhaps on another terminal.
                self._asked = True
                self.status.clear()
            case on.KernelChanged():
                self._kernel_changed(event)
            case on.CheckStarted():
                self._line(words.of_check(event))
                self.status.wait("checking", now)
            case on.CheckFinished():
                self.status.clear()
                self._line(words.of_check(event))
            case _:
                assert_never(event)

    def _think(self, text: str) -> None:
        if self._name != "reasoning":
            self._begin("reasoning", self._reasoning())
        self._keep(cast("FoldedReasoning | PlainStream", self._part).feed(text))

    def _reasoning(self) -> FoldedReasoning | PlainStream:
        if self._whole_reasoning:
            return PlainStream(self._width, look.DIM)
        return FoldedReasoning(self._width, self._clock)

    def _markdown(self) -> AnswerStream:
        markdown = MarkdownStream(self._width, self._tail_rows, ascii_only=self.ascii_only)
        return AnswerStream(
            markdown,
            lambda address: same_file(address, self._cwd) in self._named,
            lambda address: picture_rows(same_file(address, self._cwd), self._drawing),
        )

    def _output(self, call_id: str) -> OutputStream:
        rows, number = self._screen_rows(), self._numbers.get(call_id, 0)
        return OutputStream(
            self._width,
            self._cwd,
            whole=self.verbose,
            draw=self._drawing,
            tail_rows=self._tail_rows,
            ascii_only=self.ascii_only,
            fold=Fold(
                max(_FEWEST_ROWS, rows // 3) if rows else MOST_ROWS,
                f"{'Ctrl-O · ' if self._tail_rows() else ''}/out {number}" if self.recalls and number else "",
            ),
        )

    def _growing(self, name: str, new: Callable[[], Part]) -> Part:
        """Return the growing block of this name, else a new one."""
        if self._name != name:
            self._begin(name, new())
        return cast("Part", self._part)

    def _begin(self, name: str, part: GrowingBlock | None) -> None:
        self._end_part()
        self._keep([] if self._spaced else [Text()])
        self._name, self._part = name, part

    def _end_part(self) -> None:
        if self._part is not None:
            self._keep(self._part.finish())
        self._name, self._part = "", None

    def _line(self, rows: list[Text]) -> None:
        """Return rows as a separate block; blocks of one kind follow each other without a gap."""
        if not rows:
            return
        if self._name != "line":
            self._begin("line", None)
        self._keep([part for row in rows for part in self._fit(row)])

    def _fit(self, row: Text) -> list[Text]:
        return indented(row, self._width())

    def _write_code(self, delta: on.CodeDelta) -> None:
        name = "code " + delta.call_id
        if self._name != name:
            # Code that another block has split is shown whole when it is proposed.
            self._code_language = None if delta.call_id in self._code else delta.language
            self._code.setdefault(delta.call_id, Pieces())
            self._begin(name, self._call_code(delta.language))
            self._keep([words.code_header(delta.language)])
        self._code[delta.call_id].add(delta.text)
        self._keep(cast("CallCode", self._part).feed(delta.text))

    def _propose(self, proposed: on.CodeProposed) -> None:
        self._cwd = proposed.cwd
        written = str(self._code.pop(proposed.call_id, ""))
        seen = self._name == "code " + proposed.call_id and self._code_language == proposed.language
        if not (seen and proposed.code.startswith(written)):
            self._begin("", self._call_code(proposed.language))
            self._keep([words.code_header(proposed.language)])
            written = ""
        self._proposed = proposed
        code = cast("CallCode", self._part)
        self._keep(code.feed(proposed.code[len(written) :]))
        self._keep(code.finish())
        # Before the last line has ended it is not clear that lines are to be folded.
        self.folds_code = code.folded
        self._end_part()
        diffs, most = self._diffs(proposed), max(1, self._most_rows - code.rows)
        if self._most_rows and len(diffs) > most + 1:
            self.folds_code = True
            diffs = [*diffs[:most], Text(f"… {len(diffs) - most} rows of changes not shown", look.DIM)]
        self._keep(diffs)
        if not (self.cards and (self.asks or proposed.asks)):
            for line in words.effects(proposed, asks=self.asks):
                self._keep(wrapped(line, self._width()))
        # The result follows the code that was asked about on a card.
        self._spaced = self.cards

    def _diffs(self, proposed: on.CodeProposed) -> list[Text]:
        edits = spelled_edits(proposed.language, proposed.code, proposed.cwd)
        return [row for one in edits for row in diff_rows(one.path, one.lines, one.diff, self._width())]

    def _answered(self, event: on.Event) -> None:
        """After an answer, show that code runs again; and notable effects of code that a rule approved."""
        if not isinstance(event, on.Answered):
            return
        self._asked = False
        self._run_on()
        if event.by.startswith(on.RULE) and self.cards and self.asks and self._proposed:
            self._line(words.effects(self._proposed, asks=False))

    def _call_code(self, language: str) -> CallCode:
        # The question below the code must not push its beginning off the screen.
        return CallCode(language, self._width, self._most_rows)

    @property
    def _most_rows(self) -> int:
        rows = self._screen_rows()
        return max(2, rows - _ROWS_AROUND + -_CARD_CELLS // max(1, self._width())) if rows else 0

    def _finish_run(self, finished: on.CodeFinished) -> None:
        for error in self._interruption.released(finished):
            self._keep(
                self._growing("output " + finished.call_id, lambda: self._output(finished.call_id)).add(error)
            )
        if self._name != "output " + finished.call_id:
            self._begin("", None)
        output = self._part
        self._end_part()
        # The note of the kernel's death is not repeated.
        finished = replace(finished, note=finished.note.removesuffix(self._obituary).rstrip())
        cut, saved = (output.cut, output.saved) if isinstance(output, OutputStream) else (False, set[str]())
        # A picture that was drawn has its file named below it already.
        news = tuple(one for one in finished.files if one.action != "created" or one.path not in saved)
        number = self._numbers.pop(finished.call_id, 0)
        ended = words.finished(finished, number=number, width=self._width())
        self._keep([part for row in ended for part in self._fit(row)])
        # An unbroken path can be copied.
        self._keep(words.left_behind(replace(finished, files=news), cut=cut and not self.recalls))
        pictures, named = made_files(finished.files, self._drawing, saved)
        self._keep(pictures)
        self._named |= named

    def _kernel_changed(self, changed: on.KernelChanged) -> None:
        self.status.kernel_changed(changed, self._clock())
        self._obituary = changed.why if changed.state == "died" else ""
        self._line(words.kernel_changed(changed))

    def _keep(self, rows: Sequence[Drawn]) -> None:
        if rows:
            self._rows += rows
            self._spaced = isinstance(rows[-1], Text) and not rows[-1].plain.strip()

    def _taken(self) -> list[Drawn]:
        rows, self._rows = self._rows, []
        return rows
