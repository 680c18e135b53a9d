"""Sentences on the check of a turn (`--until`)."""

from terp.checks.until.telling import changed_files
from terp.events import CheckFinished, CheckStarted


def started(event: CheckStarted) -> str:
    """Return the sentence at the start of a check: its name, and which attempt it is."""
    again = f" again ({event.attempt})" if event.attempt > 1 else ""
    return f"Checking{again}: {event.check}"


def finished(event: CheckFinished) -> str:
    """Return the result of a check, the state of its files, and the next step."""
    passed = f"The check has passed, after {event.seconds:.1f} s."
    parts = [passed if event.passed else f"The check has not passed. {event.why}".rstrip()]
    if files := changed_files(event.changed, event.missing, event.new):
        parts.append(files)
    parts += event.results or (["The originals were used."] if files else [])
    if not event.passed and event.left:
        times = "once" if event.left == 1 else f"{event.left} times"
        parts.append(f"The model is asked again, {times} at most.")
    return " ".join(parts)
