"""The protocol's own OpenAI interface: the one conversation, and what words in braces may switch."""

from terp_cli.server.compat.compat import Compat
from terp_cli.server.openai.stateful import Stateful
from terp_cli.server.served import Served


def stateful_of(compat: Compat) -> Stateful:
    """One conversation for all who ask below `/openai`, the same that frames go to."""
    shared, wanted = compat.conversation.shared, compat.wanted

    async def session() -> Served:
        listening = await shared.opened()
        if not listening.served.turns.busy:
            await shared.adapt(listening)
        return listening.served

    def switch(on: bool) -> None:
        wanted.change({"auto_run": on})

    return Stateful(session, switch if wanted.may_run_unasked else None)
