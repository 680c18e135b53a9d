"""What every format says in the same words."""

import re

from terp.events.outputs import Display, Error, Omitted, Output, Text
from terp.events.run_log import LoggedRun
from terp.session.observation import plain_of
from terp.text.fencing import quoted
from terp.text.plain import mended, settled, without_escapes

_FATES = {
    "declined": "Declined: this code did not run.",
    "rejected": "This code could not run.",
    "pending": "Not decided: this code did not run.",
}
_ENDS = {
    "interrupted": "Interrupted.",
    "timeout": "Interrupted: its time was over.",
    "died": "The kernel ended while it ran; the variables were lost.",
}


def not_run(run: LoggedRun) -> str:
    """Why code that did not run did not."""
    return f"{_FATES.get(run.fate, 'This code did not run.')} {one_line(run.reason)}".rstrip()


def unfinished(run: LoggedRun) -> str:
    """How a run ended that neither came to its end nor raised; "" for those."""
    if run.fate not in _ENDS:
        return ""
    return one_line(run.reason) or _ENDS[run.fate]


def omitted(output: Omitted, run: LoggedRun) -> str:
    """That output is missing, how much, and where it is."""
    where = f"; all of it is in {run.output_path}" if output.spooled and run.output_path else ""
    return f"[… {output.lines:,} lines ({output.characters:,} characters) left out{where} …]"


def folded(reasoning: str) -> str:
    """What the model thought, as Markdown that opens at a click."""
    # A tag of its own would end the fold; what else is left open ends with the quotation.
    inside = re.sub(r"<(?=/?(?:details|summary)\b)", "&lt;", mended(reasoning), flags=re.IGNORECASE)
    return f"<details>\n<summary>Reasoning</summary>\n\n{quoted(inside)}\n\n</details>"


def one_line(text: str) -> str:
    """`text` without line ends and controls."""
    return " ".join(settled(mended(text).replace("\n", " ")).split())


def as_text(text: str) -> str:
    """What a program wrote as a terminal would leave it standing: no escapes, no overwritten parts."""
    return "\n".join(settled(line) for line in mended(text).split("\n"))


def error_text(error: Error) -> str:
    """The traceback as text, or what there is of it."""
    lines = without_escapes("\n".join(error.traceback)).strip("\n")
    return as_text(lines or f"{error.name}: {error.value}")


def output_text(output: Output, run: LoggedRun) -> str:
    """An output as text, for where nothing else can be shown."""
    match output:
        case Text(text=text):
            return as_text(text)
        case Omitted():
            return omitted(output, run)
        case Error():
            return error_text(output)
        case Display(data=data) if data:
            return as_text(plain_of(data))
    return ""
