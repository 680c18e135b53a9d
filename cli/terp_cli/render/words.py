"""Lines of terp on runs, requests and turns."""

from collections.abc import Sequence
from typing import assert_never

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from terp import events as on
from terp.analysis.edits import spelled_edits
from terp.errors import with_remedy
from terp.events.changes import (
    by_folder,
    delta_parts,
    file_groups,
    file_name,
    file_there,
    lines_text,
    stopped_line,
)
from terp.events.outputs import FileChange
from terp.events.performed import account_of
from terp.session.cost.budget import Tally
from terp.text.files import size_text
from terp_cli.render import look, sentences
from terp_cli.render.sentences import BETWEEN, effects_in_words, notable
from terp_cli.render.status import elapsed
from terp_cli.terminal.sanitise import one_line, readable

OneSentence = (
    on.TurnStarted | on.Answered | on.CodeDeclined | on.CodeRejected | on.HistoryCompacted | on.Noticed
)

_BAR = 12
# Rows from the end of a check's output, which name the failure; the model gets more.
_CHECKED = 12
_ENDED = {
    "approval_needed": "No user was there to approve the code.",
    "declined": "Stopped: the code was declined.",
    "interrupted": "Interrupted.",
    "max_steps": "Stopped: the limit of steps is reached.",
    "max_budget": "Stopped: the budget is spent.",
    "repeated_failure": "Stopped: the same error came again and again.",
    "timeout": "Stopped: the time is up.",
}
_RUN = {
    "ok": ("✓ ran", look.GOOD),
    "error": ("✗ failed", look.BAD),
    "interrupted": ("✗ interrupted, variables kept", look.WARNING),
    "timeout": ("✗ out of time", look.BAD),
    "died": ("✗ the kernel died", look.BAD),
}
_KERNEL = {
    "died": ("The {} kernel died.", look.BAD),
    "restarted": ("The {} kernel was restarted; its variables are gone.", look.WARNING),
    "stopped": ("The {} kernel was stopped.", look.DIM),
    "left": ("The {} kernel keeps running: terp did not start it.", look.DIM),
}


def usage_line(used: Tally) -> str:
    """Return the tokens and the cost of a turn's requests; "" if they cost nothing, or it is not known."""
    if not used.cost_usd:
        return ""
    return f"{used.input_tokens:,} tokens read · {used.output_tokens:,} written · ${used.cost_usd:.4f}"


def code_header(language: str) -> Text:
    """Return the line above the code of a call."""
    return Text(f"── {one_line(language) or 'code'}", look.RULE)


def effects(proposed: on.CodeProposed, *, asks: bool) -> list[Text]:
    """Return the effects of code; if it needs approval, the important ones are highlighted.

    Returns an empty text if no approval is needed and no effect is notable.
    """
    asks = asks or bool(proposed.asks)
    shown = proposed.effects if asks else notable(proposed.effects, proposed.cwd)
    if not (shown.found or asks):
        return []
    line = Text("expected: ", look.DIM)
    edits = spelled_edits(proposed.language, proposed.code, proposed.cwd)
    for at, (kind, said) in enumerate(effects_in_words(shown, edits)):
        calm = not asks or kind in (None, "reads")
        line.append(BETWEEN if at else "", look.DIM)
        line.append(said, look.DIM if calm else look.PLAIN if kind == "writes" else look.WARNING)
    return [line]


def late_header() -> Text:
    """Return the line above the output that a run printed after its end."""
    return Text("Output of an earlier run:", look.DIM)


def sentence(event: OneSentence) -> list[Text]:
    """Return the rows of an event that is one sentence."""
    match event:
        case on.TurnStarted(attachments=names):
            return _said(f"attached: {', '.join(names)}", look.DIM) if names else []
        case on.Answered(by=by, answer=answer):
            return [] if by in ("person", "effect") else _said(sentences.answered(by, answer), look.DIM)
        case on.CodeDeclined(reason=reason):
            return _said(f"Not run: {reason}" if reason else "Not run.", look.DIM)
        case on.CodeRejected(reason=reason):
            return _said(f"Cannot run: {reason}", look.WARNING)
        case on.HistoryCompacted():
            return _said(sentences.compacted(event, "{:,}".format), look.DIM)
        case on.Noticed(text=text, remedy=remedy):
            return _said(f"! {text}", look.WARNING) + (_said(remedy, look.DIM) if remedy else [])
        case _:
            assert_never(event)


def drawn(event: OneSentence) -> list[Text]:
    """Return the same as `sentence` for a screen that shows the code above, and how code is approved."""
    match event:
        case on.CodeDeclined(reason=reason):
            return _said(f"✗ declined: {reason}" if reason else "✗ declined", look.WARNING)
        case on.Answered(by="auto_run"):
            return []
        case _:
            return sentence(event)


def of_past(event: sentences.OfPast) -> list[Text]:
    """Return the sentence on earlier turns or their code."""
    said = sentences.of_past(event)
    if isinstance(event, on.CodeCompared):
        difference = _said(event.difference, look.DIM) if event.difference else []
        return _said(said, look.WARNING if difference else look.GOOD) + difference
    return _said(said, look.WARNING if isinstance(event, on.SessionResumed) and event.lost else look.DIM)


def of_check(event: on.CheckStarted | on.CheckFinished) -> list[Text]:
    """Return the start of a check, or its result with the end of its output."""
    if isinstance(event, on.CheckStarted):
        return _said(sentences.check_started(event), look.DIM)
    lines = event.output.strip("\n").splitlines()
    if len(lines) > _CHECKED + 1:
        lines = [f"[… {len(lines) - _CHECKED} lines above …]", *lines[-_CHECKED:]]
    shown = "\n".join(lines)
    said = _said(sentences.check_finished(event), look.GOOD if event.passed else look.WARNING)
    return (_said(shown, look.DIM) if shown else []) + said


def retrying(event: on.ModelRetrying) -> list[Text]:
    """Return the reason why a request is repeated."""
    again = f"The request is sent again (attempt {event.attempt})."
    return _said(with_remedy(event.reason, again), look.WARNING)


def finished(event: on.CodeFinished, *, number: int = 0, width: int = 0) -> list[Text]:
    """Return the end of a run, the line at which it was stopped, and the changed variables.

    `number` is that of the run in the session, with which `/out` finds its output. Changes that fit into
    `width` cells behind the end stand there.
    """
    said, style = _RUN[event.status]
    again = f" · out[{number}]" if number and event.output_path else ""
    rows = [Text.assemble((said, style), (f" · {elapsed(event.seconds)}{again}", look.DIM))]
    if event.note:
        rows += _said(event.note, look.WARNING)
    if event.stopped_at:
        stopped = "Killed" if event.status == "died" else "Stopped"
        rows += _said(f"{stopped} at {stopped_line(event.stopped_at)}", look.WARNING)
    if did := account_of(event.effects, event.files, event.cwd):
        refused = any(one.refused for one in event.effects)
        rows.append(Text(f"  {one_line(did)}", look.WARNING if refused else look.DIM))
    if parts := [one_line(part) for part in delta_parts(event.changes, event.more_changes)]:
        beside = Text.assemble(rows[0], (" · ".join(["", *parts]), look.DIM))
        if len(rows) == 1 and beside.cell_len <= width:
            return [beside]
        # A change stands on one row, if it fits there.
        while parts:
            row = Text(f"  {parts.pop(0)}", look.DIM)
            while parts and (not width or row.cell_len + 5 + cell_len(parts[0]) <= width):
                row.append(f" · {parts.pop(0)}")
            rows.append(row.append(" ·") if parts else row)
    return rows


def left_behind(event: on.CodeFinished, *, cut: bool) -> list[Text]:
    """Return the changed files of a run, and the file of its whole output if some is not shown."""
    rows = [_files(group, event.cwd) for group in file_groups(event.files)]
    if cut and event.output_path:
        rows.append(Text(f"  all output: {one_line(event.output_path)}", look.DIM))
    return rows


def of_job(event: on.JobChanged) -> list[Text]:
    """Return the line on a run in the background, or the line above the output of an ended job."""
    name = f"job {event.job} ({one_line(event.language)})"
    if event.state == "ended":
        return [Text(f"── {name} has ended", look.RULE)]
    return _said(f"Runs in the background as {name}, after {elapsed(event.seconds)}.", look.DIM)


def kernel_changed(event: on.KernelChanged) -> list[Text]:
    """Return the sentence on a kernel's change."""
    if event.state not in _KERNEL:
        return []
    said, style = _KERNEL[event.state]
    return _said(" ".join([said.format(event.language), event.why]).strip(), style)


def progress(event: on.Progress) -> str:
    """Return progress as text: with a bar if the total is known, else with a count if there is one."""
    what = one_line(event.what)
    if event.total <= 0:
        return f"{what} · {event.done:,}" if event.done > 0 else what
    part = min(1.0, max(0.0, event.done / event.total))
    full = int(part * _BAR)
    return f"{what} {'━' * full}{'╌' * (_BAR - full)} {part:.0%} · {event.done:,}/{event.total:,}"


def ended(event: on.TurnFinished, used: Tally) -> list[Text]:
    """Return the reason of a turn's end, unless it is "done", and its usage."""
    rows: list[Text] = []
    if event.error:
        rows += _said(event.error, look.BAD)
    elif event.reason in _ENDED:
        rows += _said(_ENDED[event.reason], look.WARNING)
    if event.remedy:
        rows += _said(event.remedy, look.DIM)
    usage = usage_line(used)
    return [*rows, *([Text(usage, look.DIM)] if usage else [])]


def _files(files: Sequence[FileChange], cwd: str) -> Text:
    """Return one changed file, or the number of them."""
    action = files[0].action
    style = look.WARNING if action == "deleted" else look.DIM
    if len(files) == 1:
        return _file(files[0], cwd, style)
    return Text(f"  {len(files)} files {action}: {one_line(by_folder(files))}", style)


def _file(change: FileChange, cwd: str, style: Style) -> Text:
    # A move leaves the size as it was; a folder has none.
    size = f" ({size_text(change.size)})" if change.action not in ("deleted", "moved") else ""
    if lines_text(change):
        size = f" {lines_text(change)}"
    there = f" {one_line(file_there(change))}" if change.host else ""
    path = one_line(change.copy or file_name(change.path, cwd))
    # The path may be that of another machine.
    link = look.PLAIN if change.host or change.action == "deleted" else look.file_link(change.path)
    moved = [(f"{one_line(file_name(change.source, cwd))} → ", look.DIM)] if change.source else []
    return Text.assemble((f"  {change.action} ", style), *moved, (path, link), (size + there, look.DIM))


def _said(text: str, style: Style) -> list[Text]:
    return [Text(line, style) for line in readable(text).split("\n")]
