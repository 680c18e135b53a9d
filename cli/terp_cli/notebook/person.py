"""The user of a notebook, who is asked there."""

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.person import Choice, Consent, Decline, Run
from terp_cli.notebook.pipe import KernelPipe
from terp_cli.terminal.sanitise import one_line


class NotebookUser:
    """Implements `Person` with questions in the notebook. With `auto`, code runs without asking."""

    def __init__(self, pipe: KernelPipe) -> None:
        self.auto = False
        self._pipe = pipe
        # Code that the user has edited and approved by running it.
        self._edited = ""

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the decision on one proposal."""
        if proposed.code == self._edited:
            self._edited = ""
            return Run(proposed.code)
        if self.auto and not proposed.asks:
            return Run(proposed.code, by="auto_run")
        answer = await self._pipe.ask("ask", kind="approval", code=proposed.code)
        if "run" in answer:
            code = str(answer["run"])
            self._edited = "" if code == proposed.code else code
            return Run(code)
        return Decline(str(answer.get("decline", "")))

    async def allow(self, request: Consent) -> bool | Decline:
        """Return True if the user consents."""
        if self.auto and request.as_code:
            return True
        text = await self._typed("consent", f"{request.what} [y/n] ")
        return text.strip().lower() in ("y", "yes")

    async def choose(self, choice: Choice) -> str | Decline:
        """Return the letter that the user types."""
        if self.auto and choice.as_code:
            return choice.as_code
        options = " · ".join(f"{option.letter}: {option.does}" for option in choice.options)
        return (await self._typed("choice", f"{choice.what} {options}: ")).strip() or choice.otherwise

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Return a line that the user types."""
        return await self._typed("input", prompt, secret=secret)

    async def _typed(self, kind: str, prompt: str, *, secret: bool = False) -> str:
        answer = await self._pipe.ask("ask", kind=kind, text=one_line(prompt), secret=secret)
        if "text" not in answer:
            raise NobodyThere("This notebook cannot ask for a line of text.")
        return str(answer["text"])
