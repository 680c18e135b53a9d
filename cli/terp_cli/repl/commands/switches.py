"""Commands that switch the model, the display, approvals, the sandbox, checks, and the profile."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from terp.analysis.rules.deciding import Rules
from terp.checks.until.goal import Goal, current_goal, goal_of
from terp.errors import TerpError
from terp.events import ModelCalled
from terp.events.messages import Message
from terp.events.run_log import RunLog
from terp.kernels.runtimes.pages import PageKernel
from terp.kernels.runtimes.python import SqlKernel
from terp.kernels.sandbox.effects import effects_of
from terp.kernels.sandbox.tier import NONE, is_confined
from terp.models.adapters.discovery import keyed_models, listed_models
from terp.models.building import options_of
from terp.opening.session import watched_in
from terp.secrets.keys import with_keys
from terp.settings import Settings
from terp.settings.profiles import Profiles
from terp.settings.setting import table
from terp.store.catalogue import Catalogue
from terp_cli.prompt.interface import Pick
from terp_cli.repl.commands.rows import columns, short_line, shown
from terp_cli.repl.commands.table import misused
from terp_cli.repl.context import APPROVALS, ReplContext

if TYPE_CHECKING:
    from rich.text import Text

    from terp.opening.changing import Change


async def model(context: ReplContext, name: str) -> None:
    """Change the model, to one that the user picks or names."""
    if not name:
        known = await _models(context)
        picks = [Pick((one, why)) for one, why in known.items()]
        at = await context.prompt.pick(
            f"The model is {context.session.model.name}. Use which?",
            picks,
            [*known].index(context.session.model.name),
        )
        name = [*known][at] if at is not None else ""
    if name:
        await context.use_model(name)
    context.say(f"The model is {context.session.model.name}.")


async def _models(context: ReplContext) -> dict[str, str]:
    """Return the known models with their sources: also those that the provider and local servers list."""
    present = context.session.model.name
    options = options_of(context.settings, context.call.options.api_key)
    listed = await listed_models(options, present, context.environ)
    return {
        **dict.fromkeys(known_models(context, ""), "known"),
        **{one.model: one.why for one in listed},
        present: "in use",
    }


def known_models(context: ReplContext, begun: str) -> Iterable[str]:
    """Return the models whose names contain `begun`: first those used before, then other known ones.

    No provider is queried, because this is called at every key press.
    """
    events = (record.event for record in reversed(context.session.log.since(0)))
    known = (
        *(event.model for event in events if isinstance(event, ModelCalled)),
        context.session.model.name,
        *Catalogue(context.places.sessions).models(),
        *Profiles(context.places.profiles).models(),
        # No key of a keyring is asked for: that may take an answer.
        *(found.model for found in keyed_models(with_keys(context.environ, keyring=False))),
    )
    return (name for name in dict.fromkeys(known) if begun.lower() in name.lower())


async def auto_run(context: ReplContext, word: str) -> None:
    """Switch approvals on or off, and show the consequences here."""
    if not word:
        context.say(f"{_state(context)} {_means(context)}")
        if context.auto_run or not await context.ask("Run code without asking from now on?"):
            return
        context.auto_run = True
    else:
        context.auto_run = _on("auto_run", word)
    context.say(asking(context))
    if context.auto_run:
        await confine(context)


_SETTABLE = ("before", "effect", "never")


async def approve(context: ReplContext, word: str) -> None:
    """Choose when the user is asked: before code runs, at its effects, or never."""
    if not word:
        context.say(_state(context))
        return
    if word not in _SETTABLE:
        raise misused("approve", f"'{word}' is none of {', '.join(_SETTABLE)}.")
    if word == "never":
        await auto_run(context, "on")
        return
    if word == "effect" and (why := why_not_held(context)):
        raise TerpError(
            f"Effects of code cannot be held here: {why}.", "/approve before asks before code runs."
        )
    set_approval(context, word)
    context.say(_state(context))
    if word == "effect":
        await hold(context)


def set_approval(context: ReplContext, word: str) -> None:
    """Set when the user is asked from now on, a word of `APPROVALS`; running kernels stay as they are."""
    context.auto_run = word == "never"
    confinement = context.session.resources.confinement
    if confinement is not None and word != "never":
        confinement.ask_at_effects(word == "effect", _rule_texts(context))


def _rule_texts(context: ReplContext) -> Sequence[str]:
    return [rule.text for rule in context.session.resources.rules.all]


# Kinds that the system holds, and installations; those that it does not hold are asked about where code
# can do what the account of it does not name.
_CHANGES = ("effects: writes deletes network installs",)
_UNKNOWN = ("effects: subprocess cannot-tell",)
_PLAN = """\
[Planning: from now on code may only read files and compute. What would change, delete or send something, or \
use the network, is refused. Find out what you need, then answer with a plan in numbered steps, and change \
nothing. The user carries it out with /go.]"""
_PLANNED = "[Planning has ended: code may change things again, as the user allows.]"
_CARRY_OUT = "Carry out the plan."


async def plan(context: ReplContext, task: str) -> None:
    """Begin planning, with a task if one is given; or end it without carrying anything out."""
    if task == "off":
        _end_plan(context)
        context.say(_state(context))
        return
    rules, confinement = context.session.resources.rules, context.session.resources.confinement
    if not rules.restrictions:
        if not since_plan(context):
            context.session.note(_PLAN)
        rules.restrict("planning", _CHANGES)
        context.at_effects_before = confinement.at_once if confinement else False
        if confinement is not None and not why_not_held(context):
            confinement.ask_at_effects(True)
            await hold(context)
    kernels = map(context.session.kernels.get, _running(context))
    held = confinement is not None and confinement.holds and all(map(effects_of, kernels))
    if not held:
        rules.restrict("planning", _CHANGES, _UNKNOWN)
    context.say(_state(context), *([] if held else [_NOT_HELD]))
    context.prompt.refresh()
    if task:
        context.next.append((task, ()))


_NOT_HELD = (
    "Effects are not held here: code that is expected to change something is declined, and you are asked "
    "about code of which that cannot be told."
)


async def go(context: ReplContext, words: str) -> None:
    """End planning, and have the model carry the plan out."""
    if context.session.resources.rules.restrictions:
        _end_plan(context)
    elif since_plan(context):
        # The session was stored meanwhile, and a mode ends with its process.
        context.session.note(_PLANNED)
    else:
        raise misused("go", "there is no plan: /plan TASK begins one.")
    context.say(_state(context))
    context.next.append((f"{_CARRY_OUT} {words}".rstrip(), ()))


def since_plan(context: ReplContext) -> Sequence[Message]:
    """Return the messages since planning began, also those of a stored session; none if it has ended."""
    since: list[Message] = []
    for one in context.session.history:
        begun, ended = (one.text.rfind(note.strip("[]")) for note in (_PLAN, _PLANNED))
        since = [one] if begun > ended else [] if ended >= 0 else [*since, one] if since else []
    return since


def _end_plan(context: ReplContext) -> None:
    rules, confinement = context.session.resources.rules, context.session.resources.confinement
    if rules.restrictions:
        rules.restrict()
        context.session.note(_PLANNED)
        if confinement is not None:
            confinement.ask_at_effects(context.at_effects_before, _rule_texts(context))
        context.prompt.refresh()


def why_not_held(context: ReplContext) -> str:
    """Return why effects cannot be held here; "" if they can."""
    confinement = context.session.resources.confinement
    if confinement is None:
        return "it runs elsewhere"
    return confinement.with_options(replace(confinement.options, hold=True)).not_held


async def hold(context: ReplContext) -> None:
    """Offer to restart kernels whose effects are not held."""
    kernels = context.session.kernels
    free = [language for language in _running(context) if effects_of(kernels.get(language)) is None]
    if free and not RunLog(context.session.log).started:
        # Nothing is in them yet.
        for language in free:
            await kernels.get(language).restart()
        _instruct(context)
    elif free:
        context.say("Effects are held from the start of a kernel. In these, you are asked before code runs.")
        await _offer_restart(context, free)


async def allow(context: ReplContext, what: str) -> None:
    """Let code in the sandbox write to a path, or use the network, until the session ends."""
    confinement = context.session.resources.confinement
    if confinement is None:
        raise misused("allow", "the code does not run on this machine.")
    if not what:
        raise misused("allow", "it takes a path, or the word network.")
    held = [language for language, tier in _running(context).items() if is_confined(tier)]
    if what == "network":
        confinement.allow_network()
        line, what = "Code may use the network in this session.", "use the network"
        held = [language for language in held if not confinement.policy_of(language).network]
    else:
        path = confinement.allow(what)
        line, what = f"Code may read and write {path} in this session.", f"read and write {path}"
    context.say(line, *(["A kernel gets its permissions when it starts."] if held else []))
    counts = not held or await _offer_restart(context, held)
    context.session.note(f"[The user lets code {what}{' now' if counts else ', once its kernel restarts'}.]")


async def confine(context: ReplContext) -> None:
    """Offer to restart kernels that run without a sandbox."""
    confinement = context.session.resources.confinement
    if confinement is None or not is_confined(confinement.what):
        return
    free = [language for language, tier in _running(context).items() if not is_confined(tier)]
    if free:
        context.say(
            f"The sandbox ({confinement.what}) applies to kernels that start now; these run without it."
        )
        await _offer_restart(context, free)


async def _offer_restart(context: ReplContext, languages: Sequence[str]) -> bool:
    names = ", ".join(languages)
    if not await context.ask(f"Restart {names} now? Variables there are lost; files stay."):
        return False
    for language in languages:
        await context.session.restart_kernel(context.session.kernels.get(language))
    _instruct(context)
    context.say(f"Restarted: {names}.")
    return True


def _instruct(context: ReplContext) -> None:
    if (system_prompt := context.session.resources.system_prompt) is not None:
        # The system prompt names the sandbox.
        context.session.instruct(system_prompt.text(context.settings), code=context.settings.code)


def _running(context: ReplContext) -> dict[str, str]:
    """Return the kernels that run as processes, by language, with their sandbox."""
    kernels = context.session.kernels
    running = (kernels.get(language) for language in kernels.languages)
    # What shows a page runs nothing; SQL is the Python kernel.
    others = (PageKernel, SqlKernel)
    return {one.language: one.tier for one in running if one.generation and not isinstance(one, others)}


def asking(context: ReplContext) -> str:
    """Return the state of approvals, and with auto_run its consequences."""
    return f"{_state(context)} {_means(context)}" if context.auto_run else _state(context)


async def verbose(context: ReplContext, word: str) -> None:
    """Show tracebacks and outputs whole, or short again; without a word, toggle."""
    context.front.verbose = _on("verbose", word) if word else not context.front.verbose
    context.say(
        "Verbose output is on: tracebacks are shown whole. /verbose off ends it."
        if context.front.verbose
        else "Verbose output is off: tracebacks are shown without library frames."
    )


async def debug(context: ReplContext, word: str) -> None:
    """Show the tracebacks behind errors, or not; without a word, toggle."""
    context.debug = _on("debug", word) if word else not context.debug
    context.say(
        "Debug output is on: an error is shown with the traceback of what failed. /debug off ends it."
        if context.debug
        else "Debug output is off: errors are shown as one line."
    )


def _on(command: str, word: str) -> bool:
    try:
        return bool(table(Settings)["auto_run"].parse(word))
    except ValueError:
        raise misused(command, f"'{word}' is neither on nor off.") from None


def _state(context: ReplContext) -> str:
    return APPROVALS[context.approval]


def _means(context: ReplContext) -> str:
    confinement = context.session.resources.confinement
    free = any(not is_confined(tier) for tier in _running(context).values())
    if confinement is None or free or not is_confined(confinement.what):
        if confinement is not None:
            confinement.shown = NONE
        return "No sandbox: it can do whatever you can do on this machine and over the network."
    confinement.shown = confinement.what
    return confinement.description


_VALUE_CHARS = 16


async def use_profile(context: ReplContext, name: str) -> None:
    """Use a profile from now on, one that the user picks or names."""
    if not name:
        entries = list(Profiles(context.places.profiles).listed())
        names = [entry.name for entry in entries]
        at = names.index(context.profile) if context.profile in names else 0
        picks = [Pick((entry.name, entry.description)) for entry in entries]
        picked = await context.prompt.pick(f"The profile is {context.profile}. Use which?", picks, at)
        if picked is None:
            return
        name = names[picked]
    change = await context.use_profile(name)
    if change is None:
        context.say(f"The profile is still {context.profile}.")
        return
    context.say(f"The profile is {name} now." + ("" if change.names else " That changes nothing here."))
    await report(context, change, f" (terp -p {name})")


async def report(context: ReplContext, change: "Change", start: str = "") -> None:
    """Show a change of settings; offer to restart kernels that run without the sandbox of `auto_run`."""
    if change.names:
        context.show(changed(change, context.width))
    if change.later:
        context.say(f"Takes effect at the next start{start}: {', '.join(change.later)}.")
    if change.touches({"auto_run"}):
        context.say(asking(context))
        if context.auto_run:
            await confine(context)


def changed(change: "Change", width: int) -> "Sequence[Text]":
    """Return rows of the changed settings, with their origins."""
    return columns(list(_lines(change)), width, ("", "bold", "dim"))


def _lines(change: "Change") -> Iterator[tuple[str, str, str]]:
    for name in change.names:
        before, after = (
            short_line(shown(getattr(one, name)), _VALUE_CHARS) for one in (change.before, change.after)
        )
        yield f"  {name}", f"{before} → {after}", change.after.origin(name)


def profile_names(context: ReplContext, begun: str) -> Iterable[str]:
    """Return the profiles whose names begin with `begun`."""
    return (name for name in Profiles(context.places.profiles).names() if name.startswith(begun))


OFF = "off"


async def set_check(context: ReplContext, text: str) -> None:
    """Show the check, set one, or end it. A typed check needs no question."""
    session = context.session
    if text.strip() == OFF:
        was, session.resources.goal = current_goal(session.resources), None
        context.say("Turns end with the answer now." if was else "There was no check.")
        return
    if not text.strip():
        context.say(_check_line(current_goal(session.resources)))
        return
    if session.kernels.elsewhere:
        raise misused("until", "the code runs on another machine, and a check only on this one.")
    session.resources.goal = goal_of(context.settings, text)
    context.say(_check_line(current_goal(session.resources)))


def _check_line(goal: Goal | None) -> str:
    if goal is None:
        return "There is no check: a turn ends with the answer. /until CHECK sets one."
    most = f"at most {goal.max_revisions} times more" if goal.max_revisions else "without a limit"
    return f"Each turn continues until this passes, {most}: {goal.check.text}"


async def watch(context: ReplContext, text: str) -> None:
    """Show the watched conditions, add one, or end them. A new one is evaluated at once."""
    session, off = context.session, text.strip() == OFF
    new = [one for one in watched_in("" if off else text) if one not in session.resources.watch]
    session.resources.watch = watched = () if off else (*session.resources.watch, *new)
    if not watched:
        context.say("No condition is watched. /watch CONDITION adds one.")
        return
    context.say("A turn stops when a run breaks:", *(f"    {one}" for one in watched))
    if new and session.kernels.get("python").generation:
        async with aclosing(session.run("python", new[0])) as events:
            await context.show_events(events)


NO_RULES = "there are no rules: settings allow, ask and deny hold them, see terp docs rules."


async def show_rules(context: ReplContext, _: str) -> None:
    """Show the rules in effect, including those of this session, each with its source."""
    rows = listed_rules(context.session.resources.rules)
    if not rows:
        context.say(f"{NO_RULES[0].upper()}{NO_RULES[1:]}")
        return
    context.show(columns(rows, context.width, ("bold", "", "dim")))


def listed_rules(rules: Rules) -> list[tuple[str, str, str]]:
    """Return the verdict, the text and the source of each rule."""
    return [(rule.verdict, rule.text, rule.origin) for rule in rules.all]
