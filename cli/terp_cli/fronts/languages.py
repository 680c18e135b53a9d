"""Which languages run here, and how to get the others."""

from collections.abc import Sequence

from terp.events.kernel import KnownLanguage


def listed(known: Sequence[KnownLanguage]) -> list[tuple[str, str, str]]:
    """For each language its names, whether it is here, what runs it or how to get it; the missing last."""
    return [_row(language) for language in sorted(known, key=lambda one: not one.by)]


def _row(language: KnownLanguage) -> tuple[str, str, str]:
    names = ", ".join(language.names)
    if not language.by:
        return names, "missing", language.remedy
    remarks = [] if language.keeps_state else ["every run begins anew"]
    if language.keeps_state and not language.tells_variables:
        remarks.append("no /vars")
    if not language.tested:
        remarks.append("not tested")
    return names, "here", "; ".join([language.by, *remarks])
