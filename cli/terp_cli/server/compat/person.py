"""The person behind the conversation: the client that says `go`."""

from collections.abc import Callable

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.person import Choice, Consent, Decline, Run
from terp_cli.server.person import RemotePerson
from terp_cli.server.presence import Presence


class WirePerson(RemotePerson):
    """Runs code unasked while `unasked` says so, and the code that a client has sent and said `go` to.

    Any other code waits, which `waits` is told, for as long as anybody is there; `left` is told that nobody
    was. The protocol has no other questions: the answer to them is no.
    """

    def __init__(
        self,
        presence: Presence,
        unasked: Callable[[], bool],
        waits: Callable[[], None],
        left: Callable[[], None],
    ) -> None:
        super().__init__(presence)
        self.proposed: CodeProposed | None = None
        self.expected = ""
        self._unasked = unasked
        self._waits = waits
        self._left = left

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """`Run` for what is expected or runs unasked; else the answer comes from a client."""
        expected, self.expected = self.expected, ""
        if expected == proposed.code:
            return Run(proposed.code, by="client")
        if self._unasked() and not proposed.asks:
            return Run(proposed.code, by="auto_run")
        self.proposed = proposed
        try:
            self._waits()
            declined = await super().approve(proposed)
        finally:
            self.proposed = None
        self._left()
        return declined

    async def allow(self, request: Consent) -> bool:
        """Yes where it is about what code can do as well, and that runs unasked."""
        return request.as_code and self._unasked()

    async def choose(self, choice: Choice) -> str:
        """The answer of who runs code unasked, where there is one."""
        return choice.as_code if self._unasked() else ""

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Nothing, ever.

        Raises:
            NobodyThere: always: the code goes on at once instead of waiting for good.
        """
        raise NobodyThere("The code asked for input, which clients of this protocol cannot give.")
