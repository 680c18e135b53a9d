"""Texts that all formats share."""

import re

from terp.events.outputs import Display, Error, Omitted, Output, Text
from terp.events.run_log import LoggedRun
from terp.session.observation import plain_of
from terp.text.fences import quoted
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
    """Return the reason why code did not run."""
    return f"{_FATES.get(run.fate, 'This code did not run.')} {one_line(run.reason)}".rstrip()


def unfinished(run: LoggedRun) -> str:
    """Return how a run was cut off; "" if it came to its end or raised."""
    if run.fate not in _ENDS:
        return ""
    return one_line(run.reason) or _ENDS[run.fate]


def omitted(output: Omitted, run: LoggedRun) -> str:
    """Return a note about omitted output: how much, and where it is."""
    where = f"; all of it is in {run.output_path}" if output.spooled and run.output_path else ""
    return f"[… {output.lines:,} lines ({output.characters:,} characters) left out{where} …]"


def folded(reasoning: str) -> str:
    """Return the model's reasoning as a collapsed section in Markdown."""
    # Such a tag would end the fold; other open tags end with the quotation.
    inside = re.sub(r"<(?=/?(?:details|summary)\b)", "&lt;", mended(reasoning), flags=re.IGNORECASE)
    return f"<details>\n<summary>Reasoning</summary>\n\n{quoted(inside)}\n\n</details>"


def one_line(text: str) -> str:
    """Return `text` without line ends and control characters."""
    return " ".join(settled(mended(text).replace("\n", " ")).split())


def as_text(text: str) -> str:
    """Return the output of a program as a terminal would show it: no escapes, no overwritten parts."""
    return "\n".join(settled(line) for line in mended(text).split("\n"))


def error_text(error: Error) -> str:
    """Return the traceback as text, else name and message of the error."""
    lines = without_escapes("\n".join(error.traceback)).strip("\n")
    return as_text(lines or f"{error.name}: {error.value}")


def output_text(output: Output, run: LoggedRun) -> str:
    """Return an output as text."""
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
