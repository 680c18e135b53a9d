"""Commands that show settings, the model, tokens, costs and facts of this session."""

import asyncio
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence

from terp import __version__
from terp.errors import TerpError
from terp.events import Event, TurnStarted, UsageReported
from terp.models.facts.model_facts import ModelFacts
from terp.session.cost.budget import Tally, money, tallies_by_model, tally_of
from terp.session.cost.ledger import tallies
from terp.settings import Settings
from terp.settings.setting import Setting, table
from terp.text.plain import counted
from terp_cli.fronts import doctor as checks
from terp_cli.line import streams
from terp_cli.repl.commands.rows import columns, shown
from terp_cli.repl.commands.switches import report
from terp_cli.repl.commands.table import misused
from terp_cli.repl.context import APPROVALS, ReplContext

_ALL = "all"


async def settings(context: ReplContext, wanted: str) -> None:
    """Show settings that differ from the built-in values, those of a name, or all; with a value, set one."""
    name, _, value = wanted.replace("=", " ", 1).partition(" ")
    row = table(Settings).get(name.replace("-", "_"))
    if row is not None and value.strip():
        await _set(context, row, value.strip())
        return
    given = context.settings
    rows = list(table(Settings).values())
    if not wanted:
        rows = [row for row in rows if getattr(given, row.name) != row.default]
    elif wanted != _ALL:
        rows = [row for row in rows if wanted.replace("-", "_") in row.name]
        if not rows:
            raise misused("settings", f"there is no setting like '{wanted}'.")
    if len(rows) == 1 and wanted:
        context.say(rows[0].about)
    lines = [(row.name, shown(getattr(given, row.name)), given.origin(row.name)) for row in rows]
    context.show(columns(lines, context.width, ("", "bold", "dim")) if lines else [])
    if not wanted:
        context.say(_OTHERS)


_OTHERS = "All others are built-in: /settings all. /settings NAME VALUE sets one."


async def _set(context: ReplContext, row: Setting, text: str) -> None:
    if not row.has_flag:
        raise misused("settings", f"{row.name} is a group of entries, which only a file can set.")
    try:
        value = row.parse(text)
    except ValueError:
        raise misused("settings", f'{row.name} is "{text}", must be {row.rule}.') from None
    change = await context.set(row.name, value)
    if change is not None and not change.names:
        context.say(f"{row.name} is {shown(value)} already.")
    elif change is not None:
        await report(context, change)
        context.say("It holds until the session ends; config.yaml and profiles keep values.")


def setting_names(_: ReplContext, begun: str) -> Iterable[str]:
    """Return the settings whose names begin with `begun`; after a name, its choices."""
    name, gap, value = begun.partition(" ")
    if not gap:
        return (one for one in (_ALL, *table(Settings)) if one.startswith(begun))
    row = table(Settings).get(name)
    choices = () if row is None else ("on", "off") if row.kind == "switch" else row.choices
    return (f"{name} {choice}" for choice in choices if choice.startswith(value))


async def doctor(context: ReplContext, _: str) -> None:
    """Show the findings of `terp doctor`: problems and their remedies."""
    model = context.session.model.name
    attaching = context.session.resources.attaching
    places = [one.place for one in attaching.current.values()] if attaching else []
    diagnosis = checks.Diagnosis(
        context.settings,
        context.places,
        context.environ,
        streams.stdout(),
        model=model,
        attached=tuple(places),
    )
    # Its questions to local servers run a loop of their own.
    context.say(*await asyncio.to_thread(lambda: list(checks.report_lines(diagnosis))))


async def info(context: ReplContext, _: str) -> None:
    """Show the versions, the model, the kernels and the files of this session."""
    session = context.session
    lines = [
        ("terp", f"{__version__}, Python {platform.python_version()}"),
        ("system", f"{platform.system()} {platform.release()} {platform.machine()}"),
        ("model", session.model.name),
        ("profile", context.profile),
        ("session", session.folder.name),
        ("files", str(session.folder)),
        ("turns", str(len(session.turns))),
        ("approval", APPROVALS[context.approval]),
    ]
    resting: list[str] = []
    for language in session.kernels.languages:
        kernel = session.kernels.get(language)
        if not kernel.generation:
            resting.append(language)
            continue
        state = f"start {kernel.generation}"
        sandbox = "no sandbox" if kernel.tier == "none" else f"sandbox: {kernel.tier}"
        place = f"{kernel.place}, " if kernel.place else ""
        lines.append((language, f"{state}, {place}{sandbox}, in {kernel.cwd}"))
    if resting:
        lines.append(("not started", ", ".join(resting)))
    context.show(columns(lines, context.width, ("dim", "")))


async def tokens(context: ReplContext, prompt: str) -> None:
    """Estimate the tokens of the next request; with a prompt, including that prompt."""
    session = context.session
    expected = session.request_tokens(prompt)
    prices = await asyncio.to_thread(session.resources.prices, session.model.name)
    lines = [
        ("system prompt", f"{expected.system:,}"),
        ("tools", f"{expected.tools:,}"),
        ("conversation", f"{expected.conversation:,}"),
        ("together", f"about {expected.total:,} tokens{_window(expected.total, session.window.tokens)}"),
    ]
    context.show(columns([(f"  {label}", value) for label, value in lines], context.width, ("dim", "")))
    source = "corrected by what the provider counted" if expected.is_corrected else "by its characters"
    context.say(f"An estimate, {source}.")
    if (price := prices.cost_usd(expected.total, 0)) is not None:
        context.say(f"Sending it costs {money(price)} by the list price; the reply is not in that.")
    if last := _last_usage(context):
        cached = f", {last.cached_tokens:,} of them cached" if last.cached_tokens else ""
        sent, got = f"{last.input_tokens:,}", f"{last.output_tokens:,}"
        context.say(f"The last request was {sent} tokens{cached}, its reply {got}, as the provider counted.")


def _window(total: int, window: int) -> str:
    return f", {100 * total / window:.1f} % of {window:,}" if window else ""


def _last_usage(context: ReplContext) -> UsageReported | None:
    events = (record.event for record in reversed(context.session.log.since(0)))
    return next((event for event in events if isinstance(event, UsageReported)), None)


async def leave(context: ReplContext, _: str) -> None:
    """Leave the REPL, and stop background jobs."""
    running = context.session.jobs.running
    left = "1 job still runs: leave, and end it?"
    if len(running) > 1:
        left = f"{len(running)} jobs still run: leave, and end them?"
    if running and not await context.ask(left):
        return
    context.left = True


HEAD = ("requests", "sent", "cached", "received", "seconds", "cost")
_UNKNOWN = "The price of {} is not known. The settings input_price and output_price can give it."


async def cost(context: ReplContext, _: str) -> None:
    """Show the usage of the last turn, the session, and this month's sessions of the profile."""
    events = [record.event for record in context.session.log.since(0)]
    by_model = tallies_by_model(events)
    if not by_model:
        context.say("No model has been called yet.")
        return
    limits = context.session.resources.limits
    lines = [
        ("", *HEAD),
        ("turn", *cells(tally_of(_last_turn(events)), limits.max_turn_usd)),
        ("session", *cells(tally_of(events), limits.max_budget_usd)),
    ]
    if len(by_model) > 1:
        lines += [(f"  {model or 'not noted'}", *cells(used)) for model, used in by_model.items()]
    lines += await asyncio.to_thread(lambda: list(_of_profile(context, limits.max_month_usd)))
    context.show(columns(lines, context.width, ("dim",), wraps=True))
    context.say(*await asyncio.to_thread(lambda: list(_notes(by_model, context.session.resources.prices))))


def cells(used: Tally, most_usd: float = 0.0) -> tuple[str, ...]:
    """Return the cells of a usage row, below `HEAD`, with the cost limit if there is one."""
    numbers = (used.calls, used.input_tokens, used.cached_tokens, used.output_tokens)
    return (*(f"{number:,}" for number in numbers), f"{used.seconds:.1f}", price(used, most_usd))


def price(used: Tally, most_usd: float = 0.0) -> str:
    """Return the known cost; unknown prices are named, never counted as zero."""
    most = f" of {money(most_usd)}" if most_usd else ""
    if not used.unpriced:
        return money(used.known_usd) + most
    if used.unpriced == used.calls:
        return f"not known{most}"
    return f"{money(used.known_usd)}{most}, and {counted(used.unpriced, 'request')} not known"


def _last_turn(events: Sequence[Event]) -> Sequence[Event]:
    starts = [at for at, event in enumerate(events) if isinstance(event, TurnStarted) and not event.continued]
    return events[starts[-1] :] if starts else events


def _of_profile(context: ReplContext, most_usd: float) -> Iterator[tuple[str, ...]]:
    account = context.session.resources.account
    if account is None:
        return
    ledger = account.ledger
    try:
        used = tallies(ledger.entries(ledger.month), lambda entry: (entry.profile,))
    except OSError as error:
        raise TerpError(f"The costs of this month cannot be read: {error}.") from error
    yield (f"{account.profile}, {ledger.month}", *cells(used.get((account.profile,), Tally()), most_usd))


def _notes(by_model: dict[str, Tally], facts: Callable[[str], ModelFacts]) -> Iterator[str]:
    saved = sum(_saved_usd(used, facts(model)) for model, used in by_model.items())
    if saved > 0:
        yield f"The provider's cache has saved about {money(saved)} of what the session would have cost."
    unknown = [model for model, used in by_model.items() if used.unpriced and model]
    if unknown:
        yield _UNKNOWN.format(", ".join(unknown))


def _saved_usd(used: Tally, facts: ModelFacts) -> float:
    """Return the extra cost of the cached tokens if they had not been cached."""
    if facts.input_price is None or facts.cached_price is None:
        return 0.0
    return used.cached_tokens * (facts.input_price - facts.cached_price)
