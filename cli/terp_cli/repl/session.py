"""Run the session at a terminal: turns, questions, and the operations behind commands."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from terp import __version__
from terp.kernels.sandbox.tier import is_confined
from terp.models.building import settings_for
from terp.opening.changing import Change, change_settings, started_anew, use_model
from terp.session.session import Session
from terp.settings import Settings
from terp.store.places import Place
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.oneshot import OneShotPrompt, one_turn
from terp_cli.repl.context import Asks, ReplContext, TerminalContext
from terp_cli.repl.keeping import saved, stored, way_back
from terp_cli.repl.prefetch import prefetch_adapters
from terp_cli.repl.repl import ReplSettings, run_repl
from terp_cli.repl.terminal_ui import TerminalUI
from terp_cli.repl.trusting import asked_again


async def run_conversation(
    call: Invocation,
    settings: Settings,
    session: Session,
    ui: TerminalUI,
    question: OneShotPrompt | None,
    opened: Callable[[Place], Awaitable[Session]],
) -> int:
    """Answer `question` if there is one, then go on at the prompt; the exit code. Closes the session.

    `opened` is another session like this one, which is kept elsewhere.
    """
    assert ui.desk is not None and ui.person is not None, "who talks has a desk"
    if session.equipment.confinement is not None:
        person = ui.person
        session.equipment.confinement.unasked = lambda: person.always

    async def reopen(wanted: str) -> Session:
        opened_anew = await opened(stored(call, wanted))
        # The profile may be another one by now.
        await _go_by(call, opened_anew, Change(settings, at_terminal.settings))
        return opened_anew

    around = ReplContext(
        settings,
        call.places,
        call.environ,
        profile=call.profile,
        model=partial(_use_model, call),
        change=partial(_use_profile, call),
        trust=partial(_trust, call, ui),
        saved=lambda: saved(call, at_terminal.session.folder.name),
        reopen=reopen,
    )
    at_terminal = TerminalContext(session, ui.front, ui.desk(), ui.person, around)
    _teach(session, ui)
    ui.person.explain = at_terminal.explain
    ui.person.beside = at_terminal.beside
    ui.person.tier = lambda language: at_terminal.session.kernels.get(language).tier
    kernel = session.kernels.get(session.kernels.languages[0])
    given = ReplSettings(
        history=call.places.history,
        banner=_banner(call, settings, session),
        background=(prefetch_adapters, *([partial(session.readiness.warm, kernel)] if settings.code else ())),
        first=partial(one_turn, session, question, ui.front, call.stopping) if question else None,
        hand_over=call.typed_ahead.hand_over,
        titles=ui.titles,
        vi_mode=settings.vi_mode,
    )
    try:
        code = await run_repl(at_terminal, given)
        command = "" if code or call.options.quiet else way_back(call, at_terminal.session.folder)
        if command:
            at_terminal.desk.say(f"\n{command} goes on with this conversation.")
        return code
    finally:
        await at_terminal.session.aclose()


async def _use_model(call: Invocation, session: Session, settings: Settings, name: str) -> None:
    wanted, api_key = settings_for(name, session.model.name, settings, call.options.api_key)
    await use_model(session, wanted, call.environ, api_key=api_key)
    await prefetch_adapters()


def _teach(session: Session, ui: TerminalUI) -> None:
    while ui.untold:
        session.teach(ui.untold.pop(0))


async def _trust(
    call: Invocation, ui: TerminalUI, session: Session, before: Settings, profile: str, allow: Asks
) -> tuple[str, Change | None]:
    state, is_new = await asked_again(call, ui)
    _teach(session, ui)
    if not is_new:
        return state, None
    _brief_on_project(call, session, before)
    # A profile that nobody named since the start may be one that is weaker than the project.
    named = call.options.profile if profile == call.profile else profile
    return state, await _use_profile(call, session, before, named, allow)


def _brief_on_project(call: Invocation, session: Session, settings: Settings) -> None:
    """Send the model the project's current instructions, if the session works in the project."""
    briefing = session.equipment.briefing
    if briefing is not None and briefing.project.cwd == call.project.cwd:
        briefing = session.equipment.briefing = replace(briefing, project=call.project)
        session.brief(briefing.text(settings), code=settings.code)


async def _use_profile(
    call: Invocation, session: Session, before: Settings, name: str, allow: Asks
) -> Change | None:
    loaded = call.loaded(call.line.given, name, call.project)
    change = Change(before, loaded.settings)
    if kernels := started_anew(session, change):
        which = ", ".join(kernel.language for kernel in kernels)
        if not await allow(f"Start the kernel anew ({which})? Its variables will be gone."):
            return None
    await _go_by(call, session, change)
    return change


async def _go_by(call: Invocation, session: Session, change: Change) -> None:
    if change.is_any:
        await change_settings(session, change, call.environ, api_key=call.options.api_key)


def _banner(call: Invocation, settings: Settings, session: Session) -> tuple[str, ...]:
    if call.options.quiet:
        return ()
    first = f"terp {__version__} · {session.model.name} · /help"
    if not settings.code:
        return first, "No code is run (code: false)."
    held = session.equipment.confinement
    asks = "Code runs without being asked about." if settings.auto_run else "You are asked before code runs."
    confined = held.description if held is not None and is_confined(held.what) else "Nothing confines it."
    warning = [held.warning] if held is not None and held.warning else []
    return (first, f"{asks} {confined}", *warning)
