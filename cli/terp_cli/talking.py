"""A person at a terminal: turns are drawn, questions asked there, and the talk goes on."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from terp import __version__
from terp.attachments import attach
from terp.messages import Attachment
from terp.models.building import build_model
from terp.session import Session
from terp.settings import Settings
from terp_cli.ahead import preload_adapters
from terp_cli.call import Call
from terp_cli.mentions import described, mentions
from terp_cli.oneshot import Question, one_turn
from terp_cli.repl import ReplSettings, run_repl
from terp_cli.seat import Seat


async def talk(
    call: Call, settings: Settings, session: Session, seat: Seat, question: Question | None
) -> int:
    """Answer `question` if there is one, then go on at the prompt; the exit code. Closes the session."""
    assert seat.desk is not None, "who talks has a desk"
    asked = partial(one_turn, session, question, seat.front, call.stopping) if question else None
    try:
        return await run_repl(session, seat.front, seat.desk(), _repl(call, settings, session, asked))
    finally:
        await session.aclose()


def _repl(
    call: Call, settings: Settings, session: Session, first: Callable[[], Awaitable[int]] | None
) -> ReplSettings:
    kernel = session.kernels.get(session.kernels.languages[0])

    async def use_model(name: str) -> None:
        before = session.model
        wanted, api_key = settings_for(name, before.name, settings, call.options.api_key)
        session.model = await build_model(
            wanted, session.kernels.languages, cwd=kernel.cwd, environ=call.environ, api_key=api_key
        )
        await before.aclose()
        await preload_adapters()

    async def attached(message: str) -> Sequence[Attachment]:
        named = mentions(message, Path(kernel.cwd))
        files = attach(named.files, Path(kernel.cwd))
        variables = await kernel.variables() if named.names else ()
        return (*files, *(described(variable) for variable in variables if variable.name in named.names))

    return ReplSettings(
        history=call.places.history,
        banner=_banner(call, settings, session),
        background=(preload_adapters, kernel.start),
        first=first,
        attached=attached,
        tier=lambda: kernel.tier,
        unasked=lambda: settings.auto_run,
        kill=session.kernels.aclose,
        use_model=use_model,
    )


def settings_for(name: str, present: str, settings: Settings, api_key: str) -> tuple[Settings, str]:
    """The settings and the key for another model; those of one provider never go to the next."""
    if name.partition("/")[0] == present.partition("/")[0]:
        return replace(settings, model=name), api_key
    return replace(settings, model=name, api_base="", api_key_env="", api_version=""), ""


def _banner(call: Call, settings: Settings, session: Session) -> tuple[str, ...]:
    if call.options.quiet:
        return ()
    kernel = session.kernels.get(session.kernels.languages[0])
    confined = "nothing confines it" if kernel.tier == "none" else f"confined by {kernel.tier}"
    asks = "Code runs without being asked about" if settings.auto_run else "You are asked before code runs"
    return (f"terp {__version__} · {session.model.name} · /help", f"{asks}; {confined}.")
