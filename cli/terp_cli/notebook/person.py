"""The user of a notebook, who is asked there."""

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.person import Choice, Consent, Decline, Run
from terp.person.approving import Decision, FunctionPerson
from terp_cli.notebook.pipe import KernelPipe
from terp_cli.terminal.sanitise import one_line


class NotebookUser(FunctionPerson):
    """Asks in the notebook. With `auto`, code runs without asking."""

    def __init__(self, pipe: KernelPipe) -> None:
        super().__init__(self._decision)
        self.auto = False
        self._pipe = pipe

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the decision on one proposal."""
        if self.auto and not proposed.asks:
            return Run(proposed.code, by="auto_run")
        return await super().approve(proposed)

    async def allow(self, request: Consent) -> bool:
        """Return True if the user consents."""
        if self.auto and request.as_code:
            return True
        return (await self.type_in(f"{request.what} [y/n] ")).strip().lower() in ("y", "yes")

    async def choose(self, choice: Choice) -> str:
        """Return the letter that the user types."""
        if self.auto and choice.as_code:
            return choice.as_code
        options = " · ".join(f"{option.letter}: {option.does}" for option in choice.options)
        return (await self.type_in(f"{choice.what} {options}: ")).strip() or choice.otherwise

    async def type_in(self, prompt: str, *, secret: bool = False) -> str:
        """Return a line that the user types.

        Raises:
            NobodyThere: this front end has no input line.
        """
        answer = await self._pipe.ask("ask", kind="text", text=one_line(prompt), secret=secret)
        if answer["text"] is None:
            raise NobodyThere("This notebook cannot ask for a line of text.")
        return str(answer["text"])

    async def _decision(self, proposed: CodeProposed) -> Decision:
        answer = await self._pipe.ask("ask", kind="approval", code=proposed.code)
        return Run(answer["run"]) if "run" in answer else Decline(answer["decline"])
