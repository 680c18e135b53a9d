"""The rules in the settings, each with the place where it was written."""

from collections.abc import Iterator

from terp.analysis.rules.rule import STRICTEST, NoRule, Rule, Verdict, read_rule
from terp.settings import Settings


def rules_of(settings: Settings) -> list[Rule]:
    """Return the rules of settings that were checked when they were loaded, the strictest first.

    Raises:
        NoRule: a rule is malformed, in settings that were not checked.
    """
    return [read_rule(verdict, text, origin) for verdict, text, origin in _written(settings)]


def problems_of(settings: Settings) -> list[str]:
    """Return the mistakes in the rules of settings, each with its place."""
    found = []
    for verdict, text, origin in _written(settings):
        if why := problem_with(verdict, text):
            found.append(f"{origin}: {why}")
    return found


def problem_with(verdict: Verdict, text: str) -> str:
    """Return the mistake in one rule; "" for none."""
    try:
        read_rule(verdict, text, "")
    except NoRule as error:
        return f"'{verdict}' has \"{text}\": {error}."
    return ""


def _written(settings: Settings) -> Iterator[tuple[Verdict, str, str]]:
    for verdict in STRICTEST:
        rules: tuple[str, ...] = getattr(settings, verdict)
        # Settings that a program made have no places.
        places = settings.rule_places.get(verdict) or [settings.origin(verdict)] * len(rules)
        yield from ((verdict, text, place) for text, place in zip(rules, places, strict=True))
