"""The title of a session, written by the model after the first exchange if that costs next to nothing."""

import asyncio
from contextlib import suppress

from terp.events.messages import Assistant
from terp.models.adapters.routing import is_loopback
from terp.session.session import Session
from terp.settings import Settings
from terp.settings.providers import PROVIDERS
from terp.store.places import is_session
from terp.store.titles import read_title, store_title

_MOST_USD = 0.001
_CHARS = 1_000
_REPLY_TOKENS = 30
_ASKED = (
    "Give this conversation a title of three to six words, in its language. Reply with the title only.\n\n"
)


async def name_session(session: Session, settings: Settings) -> None:
    """Store a title for a session that has had its first turn; do nothing where that is not wanted or cheap.

    Cheap is a request to a server of this machine, or whose list price is known and at most 0.1 cent.

    Raises:
        ModelError: there is no reply, or it cannot be paid for.
    """
    wanted = settings.titles == "auto" and not (settings.record or settings.replay)
    if not wanted or len(session.turns) != 1 or not is_session(session.folder) or read_title(session.folder):
        return
    prompt = _prompt(session)
    if not _is_local(session.model.name, settings.api_base):
        prices = await asyncio.to_thread(session.resources.prices, session.model.name)
        cost = prices.cost_usd(len(prompt) // 3, _REPLY_TOKENS)
        if cost is None or cost > _MOST_USD:
            return
    lines = (await session.answer_aside(prompt)).text.strip().split("\n")
    if title := session.resources.redacted(lines[0]).strip(' "*#.'):
        with suppress(OSError):
            store_title(session.folder, title)


def _is_local(model: str, api_base: str) -> bool:
    provider = PROVIDERS.get(model.partition("/")[0])
    return is_loopback(api_base or (provider.api_base if provider else ""))


def _prompt(session: Session) -> str:
    answers = (message.text for message in reversed(session.history) if isinstance(message, Assistant))
    return f"{_ASKED}{session.turns[0].prompt[:_CHARS]}\n\n{next(answers, '')[:_CHARS]}"
