"""An event that ends the answer that goes on, when it is set."""

import asyncio

from terp_cli.server.compat.conversation import Conversation


class StopEvent:
    """Like an event of `asyncio`; to be set in the loop of the server."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._set = False
        self._stopping: set[asyncio.Task[None]] = set()

    def is_set(self) -> bool:
        """Whether it was set, and not cleared since."""
        return self._set

    def set(self) -> None:
        """End the answer."""
        self._set = True
        task = asyncio.get_running_loop().create_task(self._conversation.end())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    def clear(self) -> None:
        """As if it had not been set."""
        self._set = False


class RespondThread:
    """Tells whether an answer goes on, as the thread did that Open Interpreter answered in."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def is_alive(self) -> bool:
        """Whether it goes on."""
        served = self._conversation.shared.served
        return served is not None and served.turns.busy
