"""Questions on the controlling terminal, for a run whose stdin is a pipe."""

import asyncio
import os
import select
import subprocess
import tempfile
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.person import Consent, Decline, Run
from terp_cli.sanitise import one_line, readable, visible

_CHOICES = "Run it? y yes · n no · e edit · anything longer is told to the model: "


class TerminalQuestions:
    """A person at the terminal behind `descriptor`, who is asked line by line.

    Declining with `n` ends the turn: a one-shot call has nobody to go on with.
    """

    def __init__(self, descriptor: int, environ: Mapping[str, str]) -> None:
        self._terminal = descriptor
        self._environ = environ

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Show all of the code, and ask until the answer is clear."""
        confined = "nothing confines it" if proposed.tier == "none" else f"confined by {proposed.tier}"
        where = f"{one_line(proposed.language)} in {one_line(proposed.cwd)}, {confined}"
        self._write(f"\n--- {where}\n{visible(proposed.code)}\n---\n")
        while True:
            answer = (await self._ask(_CHOICES)).strip()
            if answer in ("y", "Y"):
                return Run(proposed.code)
            if answer in ("n", "N"):
                return Decline("", stop=True)
            if answer in ("e", "E"):
                return Run(await asyncio.to_thread(self._edited, proposed))
            if len(answer) > 1:
                return Decline(answer)

    async def allow(self, request: Consent) -> bool:
        """Ask for a yes or a no."""
        self._write(f"\n{readable(request.what)}\n{readable(request.why)}\n".replace("\n\n", "\n"))
        while (answer := (await self._ask("y yes · n no: ")).strip().lower()) not in ("y", "n"):
            pass
        return answer == "y"

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """A line for the code, without an echo when it is secret."""
        return await self._ask(readable(prompt), secret=secret)

    async def _ask(self, question: str, *, secret: bool = False) -> str:
        """The next line that is typed after the question; several lines at once are a paste, and none."""
        with self._echo(on=not secret):
            while True:
                # Nothing typed before the question counts.
                termios.tcflush(self._terminal, termios.TCIFLUSH)
                self._write(question)
                line = await self._line()
                if secret:
                    self._write("\n")
                if not select.select([self._terminal], [], [], 0)[0]:
                    return line
                self._write("Several lines came at once, so none of them counts.\n")

    async def _line(self) -> str:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._terminal, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._terminal)
        # The terminal hands out whole lines.
        raw = os.read(self._terminal, 65_536)
        if not raw:
            raise NobodyThere("The terminal is closed, so nobody can be asked.")
        return raw.decode(errors="replace").rstrip("\r\n")

    @contextmanager
    def _echo(self, *, on: bool) -> Iterator[None]:
        before = termios.tcgetattr(self._terminal)
        if not on:
            silent = termios.tcgetattr(self._terminal)
            silent[3] &= ~termios.ECHO
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, silent)
        try:
            yield
        finally:
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, before)

    def _edited(self, proposed: CodeProposed) -> str:
        editor = self._environ.get("VISUAL") or self._environ.get("EDITOR") or "vi"
        with tempfile.TemporaryDirectory(prefix="terp-") as folder:
            path = Path(folder, "code.py" if proposed.language == "python" else "code")
            path.write_text(proposed.code, encoding="utf-8")
            command = ["sh", "-c", f'{editor} "$1"', "sh", str(path)]
            subprocess.run(command, stdin=self._terminal, stdout=self._terminal, check=False)
            return path.read_text(encoding="utf-8", errors="replace")

    def _write(self, text: str) -> None:
        data = text.encode(errors="replace")
        while data:
            data = data[os.write(self._terminal, data) :]


def controlling_terminal() -> int | None:
    """A descriptor of the terminal that this process belongs to; None when there is none."""
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
