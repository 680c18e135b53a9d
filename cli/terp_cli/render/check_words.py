"""What a person is told about a check of a turn."""

from terp.checks.until.telling import changed_files
from terp.events import CheckFinished, CheckStarted


def started(event: CheckStarted) -> str:
    """What is checked, and for which time."""
    again = f" again ({event.attempt})" if event.attempt > 1 else ""
    return f"Checking{again}: {event.check}"


def finished(event: CheckFinished) -> str:
    """Whether it has passed, what was wrong with its files, and what comes now."""
    passed = f"The check has passed, after {event.seconds:.1f} s."
    told = [passed if event.passed else f"The check has not passed. {event.why}".rstrip()]
    if files := changed_files(event.changed, event.missing, event.new):
        told.append(files)
    told += event.results or (["The originals were used."] if files else [])
    if not event.passed and event.left:
        times = "once" if event.left == 1 else f"{event.left} times"
        told.append(f"The model is asked again, {times} at most.")
    return " ".join(told)
