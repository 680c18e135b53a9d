"""The kernel of the shell: one persistent bash or zsh, and input requests of programs it runs."""

import json
import os
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ipykernel.connect import get_connection_file
from traitlets import Unicode

from terp.kernels.hosts.kernel import CellFailure, HostCell, HostKernel, serve
from terp.kernels.hosts.processes import how_ended, passed_on
from terp.kernels.hosts.shell_process import (
    Ladder,
    ShellProcess,
    complete,
    completeness,
    describe,
    names,
)
from terp.kernels.hosts.streams import Wires
from terp.kernels.hosts.terminal import Ask, TerminalInput
from terp.kernels.jupyter.launch import own_argv
from terp.text.files import make_private

# A program sends its question as soon as it connects.
_READ_S = 1.0


class ProgramQuestions:
    """A socket in `folder` for questions of askpass and `pty`; `waiting` is True once one has connected."""

    def __init__(self, folder: Path, wires: Wires) -> None:
        self._path = folder / "ask"
        self._askpass = folder / "askpass"
        self._wires = wires
        self._listening = socket.socket(socket.AF_UNIX)
        self._path.unlink(missing_ok=True)
        self._listening.bind(str(self._path))
        self._listening.listen()
        self._listening.setblocking(False)
        self._waiting: list[socket.socket] = []
        wires.add(self._listening.fileno(), self._accept)
        program = str(Path(__file__).with_name("askpass.py"))
        write_script(self._askpass, (sys.executable, "-I", "-S", program, str(self._path)))

    @property
    def path(self) -> str:
        """The path of the socket."""
        return str(self._path)

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Environment variables that make sudo, ssh and git ask here, unless the user has set others."""
        ours = {name: str(self._askpass) for name in ("SUDO_ASKPASS", "SSH_ASKPASS", "GIT_ASKPASS")}
        return {**ours, "SSH_ASKPASS_REQUIRE": "force", **environ}

    @property
    def waiting(self) -> bool:
        """True if a program waits for an answer."""
        return bool(self._waiting)

    def settle(self, ask: Ask) -> None:
        """Answer all waiting programs; outside of a cell with no answer."""
        while self._waiting:
            connection = self._waiting.pop(0)
            with connection, suppress(OSError, ValueError):
                connection.settimeout(_READ_S)
                with connection.makefile("rb") as reading:
                    asked = json.loads(reading.readline())
                answer = ask(str(asked.get("prompt", "")), bool(asked.get("secret", True)))
                connection.sendall(json.dumps(answer).encode() + b"\n")

    def close(self) -> None:
        """Close the socket."""
        self._wires.remove(self._listening.fileno())
        self._listening.close()

    def _accept(self) -> None:
        with suppress(BlockingIOError):
            connection, _ = self._listening.accept()
            os.set_inheritable(connection.fileno(), False)
            self._waiting.append(connection)


def write_script(path: Path, argv: Sequence[str], *, before: str = "") -> str:
    """Write a script that runs a command line with its own arguments at the end; return its path, quoted.

    `before` is a line of shell that comes first.
    """
    path.write_text(f'#!/bin/sh\n{before}\nexec {shlex.join(argv)} "$@"\n')
    path.chmod(0o700)
    return shlex.quote(str(path))


# Poll interval for the end of the shell, which may not be reported.
_ALIVE_S = 0.5


class ShellKernel(HostKernel):
    """Runs cells in one shell that lives as long as the kernel, or until it ends itself."""

    implementation = "terp-shell"
    banner = "shell"
    program = Unicode("bash", help="The shell: bash or zsh, a name or a path.").tag(config=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        name = Path(self.program).name
        self.language_info = {"name": name, "mimetype": "text/x-sh", "file_extension": ".sh"}
        self._folder = Path(tempfile.mkdtemp(prefix="shell-", dir=Path(get_connection_file()).parent))
        self._questions = ProgramQuestions(self._folder, self.wires)
        self._began_in = str(Path.cwd())
        self._shell = self._started(self._began_in)
        self._known = {name for name, _, _ in names(self._shell)}

    def run(self, cell: HostCell) -> CellFailure | None:
        """Run a cell; its exit status, if it is not 0, is the failure."""
        shell = self._whole()
        terminal = self.terminal if cell.allows_input else None
        if terminal is not None:
            terminal.begin()
        directory = shell.cwd
        sources = shell.begin(cell.code, cell.printer, from_terminal=terminal is not None)
        self._until_ended(cell, terminal)
        shell.let_go()
        self.wires.drain(*sources)
        if shell.verdict is None:
            return self._replaced(cell)
        verdict = shell.end()
        if verdict.cwd != directory:
            cell.moved_to(verdict.cwd)
        return self.exit_failure(verdict.status)

    def names(self) -> Sequence[tuple[str, str, str]]:
        """Return the variables and functions that were defined since the shell started."""
        return [row for row in names(self._whole()) if row[0] not in self._known]

    def stop(self) -> None:
        """Kill the shell and all that it started."""
        self._shell.kill()

    async def do_shutdown(self, restart: bool) -> dict[str, Any]:
        """End the shell, and remove its files."""
        reply = await super().do_shutdown(restart)
        shutil.rmtree(self._folder, ignore_errors=True)
        return reply

    async def do_complete(self, code: str, cursor_pos: int) -> dict[str, Any]:
        """Complete with bash's `compgen`: commands, files, variables of the running shell."""
        start, matches = complete(self._whole(), code[:cursor_pos]) if self.is_free() else (cursor_pos, [])
        ends = {"cursor_start": start, "cursor_end": cursor_pos}
        return {"status": "ok", "matches": matches, **ends, "metadata": {}}

    async def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Any = ()
    ) -> dict[str, Any]:
        """Describe a command with the shell's `type`."""
        text = describe(self._whole(), code, cursor_pos) if self.is_free() else ""
        data = {"text/plain": text} if text else {}
        return {"status": "ok", "found": bool(text), "data": data, "metadata": {}}

    async def do_is_complete(self, code: str) -> dict[str, Any]:
        """Report if the code is complete, incomplete or invalid."""
        return {"status": completeness(self.program, code), "indent": ""}

    def _started(self, cwd: str) -> ShellProcess:
        environ = self._questions.environment(passed_on(os.environ))
        program = shutil.which(self.program, path=environ.get("PATH")) or self.program
        shell = ShellProcess(program, self._folder, environ, self.wires)
        pty = self._write_pty()
        prepare = f'pty() {{ {pty} "$@"; }}; sudo() {{ command sudo -A "$@"; }}'
        shell.start(cwd, self.stdin, prepare)
        return shell

    def _whole(self) -> ShellProcess:
        """Return the shell; write its files again if a cell removed them."""
        if not (self._folder / "pty").exists():
            make_private(self._folder)
            self._questions.close()
            self._questions = ProgramQuestions(self._folder, self.wires)
            self._write_pty()
        return self._shell

    def _write_pty(self) -> str:
        argv = own_argv("terp.kernels.hosts.terminal", self._questions.path)
        # An interrupt is for the command; before its start it would cause a traceback.
        return write_script(self._folder / "pty", argv, before="trap '' INT")

    def _until_ended(self, cell: HostCell, terminal: TerminalInput | None) -> None:
        shell, ladder = self._shell, Ladder(self._shell)
        seen, ask = self.interrupts, partial(self.ask, cell)
        while not shell.has_ended():
            self.wait(
                cell,
                lambda: shell.has_ended() or self._questions.waiting,
                _ALIVE_S,
                ladder.next_step_s(),
                None if terminal is None else terminal.next_look_s(),
            )
            if self.interrupts != seen:
                seen = self.interrupts
                ladder.begin()
            ladder.climb()
            self._questions.settle(ask)
            if terminal is not None:
                terminal.look(shell.pid, cell.printer, ask)

    def _replaced(self, cell: HostCell) -> CellFailure | None:
        """Start a new shell in place of the one that ended, and report the loss."""
        code = self._shell.exit_code() or 0
        cwd = self._shell.cwd
        self._shell.close()
        cwd = next((one for one in (cwd, self._began_in) if Path(one).is_dir()), str(Path.home()))
        self._shell = self._started(cwd)
        cell.lost(
            f"The shell {how_ended(code)}; a new one was started in {cwd}. "
            "Variables, functions and aliases are lost. "
            "Code in parentheses can exit without ending the shell: (exit 3)."
        )
        cell.moved_to(cwd)
        return self.exit_failure(code)


if __name__ == "__main__":
    serve(ShellKernel)
