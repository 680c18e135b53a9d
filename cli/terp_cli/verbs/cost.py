"""`terp cost`: what calls of models have used, by profile and model, by day, or over all months."""

import re
from collections.abc import Callable, Mapping, Sequence

from terp.errors import SettingsError, TerpError
from terp.session.cost.budget import tally_of
from terp.session.cost.ledger import Ledger, UsageEntry, tallies
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.json import usage_json, write_facts
from terp_cli.repl.commands.rows import aligned
from terp_cli.repl.commands.status import HEAD, cells
from terp_cli.terminal.sanitise import one_line

_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


def cost(call: Invocation) -> int:
    """Run `terp cost`; return the exit code."""
    verb, ledger = call.line.argument, Ledger(call.places.usage)
    try:
        months = ledger.months() if verb == "all" else [_wanted(ledger, call.line.arguments)]
        entries = [entry for month in months for entry in ledger.entries(month)]
        return _written(call, entries, *_TABLES[verb])
    except OSError as error:
        if error.filename is None:
            raise
        raise TerpError(f"What was spent cannot be read: {error.strerror} ({error.filename}).") from error


def _wanted(ledger: Ledger, more: Sequence[str]) -> str:
    month = more[0] if more else ledger.month
    if not _MONTH.fullmatch(month):
        raise SettingsError([f"terp cost: '{one_line(month)}' is no month, such as {ledger.month}."])
    return month


def _written(
    call: Invocation,
    entries: Sequence[UsageEntry],
    names: Sequence[str],
    key: Callable[[UsageEntry], tuple[str, ...]],
) -> int:
    """Write a row for each key, and their sum; return the exit code."""
    rows, total = tallies(entries, key), tally_of(entry.used for entry in entries)
    if call.options.output_format != "text":
        found = [{**dict(zip(names, row, strict=True)), **usage_json(used)} for row, used in rows.items()]
        return write_facts(call.out, {"rows": found, "total": usage_json(total)})
    if not entries:
        call.note("no model was called in that time.")
        return 0
    lines = [(*names, *HEAD), *((*row, *cells(used)) for row, used in rows.items())]
    if len(rows) > 1:
        lines.append(("together", *[""] * (len(names) - 1), *cells(total)))
    call.out.writelines(aligned(lines))
    return 0


# The names of the first columns, and what an entry has in them.
_TABLES: Mapping[str, tuple[Sequence[str], Callable[[UsageEntry], tuple[str, ...]]]] = {
    "month": (("profile", "model"), lambda entry: (entry.profile, entry.used.model)),
    "days": (("day", "profile"), lambda entry: (entry.day, entry.profile)),
    "all": (("month", "profile"), lambda entry: (entry.day[:7], entry.profile)),
}
