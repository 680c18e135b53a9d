"""One persistent interactive shell: start, code, interrupts, and questions between cells."""

import fcntl
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from terp.events.outputs import StreamName
from terp.kernels.hosts.kernel import end_with_parent
from terp.kernels.hosts.processes import children, descendants, is_job, send
from terp.kernels.hosts.streams import OutputPipe, Printer, Wires

# File descriptors for the shell get numbers that no script uses.
_HIGH = 200
# Interactive: then SIGINT abandons the line that runs and the next one is read, with the state kept.
_FLAGS = {"bash": ("--norc", "--noprofile", "--noediting", "-i"), "zsh": ("-f", "-i", "-s", "+Z")}
# Without these: history is written to the user's file, `!` is expanded, job control prints messages.
_PREPARE = {
    "bash": "set +o history +H +m; unset HISTFILE; PS1= PS2=",
    "zsh": "unsetopt banghist monitor; setopt interactivecomments; unset HISTFILE; PS1= PS2=; "
    # Defines its variables now, so that they are not taken for the user's.
    "zmodload zsh/parameter",
}
_START_S = 10.0
_ASIDE_S = 0.12


@dataclass(frozen=True, slots=True)
class Verdict:
    """The end of a line: its exit status, and the shell's working directory."""

    status: int
    cwd: str


class ShellProcess:
    """A shell that runs cells of code and keeps its state.

    Code is written to a file and sourced, so that no byte of it is typed. Each cell writes to new pipes, so
    that jobs that it leaves running still write for it. The verdict is sent on another pipe, which no child
    of the shell inherits. `folder` is private to this shell.
    """

    def __init__(self, program: str, folder: Path, environ: Mapping[str, str], wires: Wires) -> None:
        self.kind = "zsh" if Path(program).name == "zsh" else "bash"
        self._program = program
        self._folder = folder
        self._environ = environ
        self._wires = wires
        self._number = 0
        self._heard = b""
        self._status = 0
        self.cwd = ""
        self.verdict: Verdict | None = None
        self.jobs: set[int] = set()
        self._held: list[int] = []

    def start(self, cwd: str, stdin: int, prepare: str) -> None:
        """Start the shell in `cwd`. `stdin` is the terminal of its cells, or -1; `prepare` runs first."""
        verdicts, write = os.pipe()
        self._verdict_out = _moved_up(write)
        self._stdin = _moved_up(stdin, keep=True) if stdin >= 0 else -1
        given = [number for number in (self._verdict_out, self._stdin) if number >= 0]
        self._process = subprocess.Popen(
            [self.kind, *_FLAGS[self.kind]],
            executable=self._program,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=given,
            cwd=cwd,
            env=dict(self._environ),
            start_new_session=True,
            # It ends with this process, however this process ends.
            preexec_fn=end_with_parent,  # noqa: PLW1509 - it makes one system call
        )
        for number in given:
            os.close(number)
        os.set_blocking(verdicts, False)
        self._verdicts = verdicts
        self.gone = False
        self._wires.add(verdicts, self._hear)
        self.cwd = cwd
        self._send(f"{_PREPARE[self.kind]}; {prepare}", "")
        deadline = time.monotonic() + _START_S
        while self.verdict is None and not self.gone and time.monotonic() < deadline:
            self._wires.wait(0.1)
        if self.verdict is None:
            self.kill()
            raise RuntimeError(f"{self._program} did not start.")

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def begin(self, code: str, printer: Printer, *, from_terminal: bool) -> Sequence[OutputPipe]:
        """Run a cell; `verdict` or `gone` is set when it has ended. Returns the pipes it writes to."""
        cell = self._file("cell", code)
        out, err = self._pipe("out", printer), self._pipe("err", printer)
        # A cell may read the exit status of the previous one.
        before = f". {self._file('status', f'return {self._status}')}; " if self._status else ""
        stdin = f"<&{self._stdin} {self._hidden(self._stdin)}" if from_terminal else "</dev/null"
        pipes = f">{self._path('out')} 2>{self._path('err')}"
        self._send(before, f". {cell} {stdin} {pipes} {self._hidden(self._verdict_out)}")
        return out, err

    def end(self) -> Verdict:
        """Note the verdict of the cell, and the jobs that it has left running."""
        assert self.verdict is not None
        self._status, self.cwd = self.verdict.status, self.verdict.cwd or self.cwd
        self.jobs = set(children(self.pid))
        return self.verdict

    def let_go(self) -> None:
        """Close the cell's pipes: they end with the last process that it left running."""
        while self._held:
            os.close(self._held.pop())
        for name in ("out", "err"):
            (self._folder / name).unlink(missing_ok=True)

    def aside(self, code: str) -> str:
        """Run code of terp's between cells; return its output, "" if it takes too long."""
        answer = self._folder / "answer"
        answer.unlink(missing_ok=True)
        self._send("", f". {self._file('aside', code)} </dev/null >{self._path('answer')} 2>/dev/null")
        deadline = time.monotonic() + _ASIDE_S
        while self.verdict is None and not self.gone:
            left = deadline - time.monotonic()
            if left <= 0:
                self.interrupt()
                self.ask_verdict()
                deadline = time.monotonic() + _ASIDE_S
                answer.unlink(missing_ok=True)
            self._wires.wait(max(0.0, left))
        with suppress(OSError):
            return answer.read_text(errors="replace")
        return ""

    def interrupt(self, without: Collection[int] = ()) -> Sequence[int]:
        """Send SIGINT to the shell and all that it runs in the foreground, which is returned."""
        # The shell first, then the last command of a pipeline: the shell runs the next command of the line if
        # the one that it waits for does not end by SIGINT.
        send(signal.SIGINT, [self.pid])
        below = descendants(self.pid, {*self.jobs, *without})
        send(signal.SIGINT, reversed(below))
        return below

    def ask_verdict(self) -> None:
        """Request the verdict again: after a signal the shell may have dropped the line that requests it."""
        self._write(self._verdict_line())

    def has_ended(self) -> bool:
        """Return True if the cell has ended, or the shell itself."""
        if self.verdict is None and self._process.poll() is not None:
            # Its last output may not have been read yet.
            self._wires.wait(0)
            return True
        return self.verdict is not None

    def exit_code(self) -> int | None:
        """Return the exit code of the shell, negative for a signal; None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        """Kill the shell and all processes below it. In any thread."""
        below = descendants(self.pid)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        send(signal.SIGKILL, below)

    def close(self) -> None:
        """Close the pipes of a shell that has ended."""
        self._wires.remove(self._verdicts)
        os.close(self._verdicts)
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._process.wait()

    def _send(self, before: str, line: str) -> None:
        self._number += 1
        self.verdict = None
        self._write(f"{before}{line}\n{self._verdict_line()}")

    def _verdict_line(self) -> str:
        # `set -e` lasts for one cell: otherwise the next command that fails would end the shell.
        return (
            f"builtin printf 'R%d %d %s\\0' {self._number} $? \"${{PWD-}}\" >&{self._verdict_out}; set +e\n"
        )

    def _write(self, text: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(text.encode(errors="surrogateescape"))
            self._process.stdin.flush()

    def _hear(self) -> None:
        data = os.read(self._verdicts, 65536)
        if not data:
            # Only the shell itself has the other end open.
            self._wires.remove(self._verdicts)
            self.gone = True
            return
        *whole, self._heard = (self._heard + data).split(b"\0")
        for words in whole:
            number, status, cwd = words[1:].decode(errors="surrogateescape").split(" ", 2)
            if int(number) == self._number:
                self.verdict = Verdict(int(status), cwd)

    def _file(self, name: str, text: str) -> str:
        path = self._folder / name
        path.write_bytes(text.encode(errors="surrogateescape"))
        return shlex.quote(str(path))

    def _pipe(self, name: str, printer: Printer) -> OutputPipe:
        path = self._folder / name
        os.mkfifo(path, 0o600)
        stream: StreamName = "stdout" if name == "out" else "stderr"
        source = OutputPipe(os.open(path, os.O_RDONLY | os.O_NONBLOCK), stream, printer)
        # Opening a pipe for writing makes it readable. If the shell did that, the order of its first output
        # in the two pipes would be unknown.
        self._held.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        self._wires.add_source(source)
        return source

    def _path(self, name: str) -> str:
        return shlex.quote(str(self._folder / name))

    def _hidden(self, number: int) -> str:
        # In zsh this works only for descriptors of one digit; there the children inherit it unnoticed.
        return f"{number}>&-" if self.kind == "bash" else ""


def _moved_up(number: int, *, keep: bool = False) -> int:
    moved = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    if not keep:
        os.close(number)
    return moved


# Seconds after the interrupt at which SIGINT is sent again to the shell and to new children, and at which the
# other signals follow. The adapter interrupts again after 2 s and kills the kernel after 5 s.
_AGAIN_S = (0.05, 0.1, 0.2, 0.35)
_TERM_S, _KILL_S, _KILL_EVERY_S = 0.5, 1.2, 0.25


class Ladder:
    """Sends SIGINT, then SIGTERM, then SIGKILL until the cell ends; the shell and earlier jobs are spared."""

    def __init__(self, shell: ShellProcess) -> None:
        self._shell = shell
        self._steps: list[tuple[float, signal.Signals]] = []
        self._signalled: set[int] = set()

    def begin(self) -> None:
        """Interrupt the cell, and plan the next steps."""
        now = time.monotonic()
        self._signalled = set(self._shell.interrupt())
        again = [(now + after_s, signal.SIGINT) for after_s in _AGAIN_S]
        self._steps = [*again, (now + _TERM_S, signal.SIGTERM), (now + _KILL_S, signal.SIGKILL)]

    def next_step_s(self) -> float | None:
        """Seconds until the next step; None when there is none."""
        return max(0.0, self._steps[0][0] - time.monotonic()) if self._steps else None

    def climb(self) -> None:
        """Take the next step if it is time."""
        if self.next_step_s() != 0.0:
            return
        due, signum = self._steps.pop(0)
        if signum == signal.SIGINT:
            self._again()
            return
        below = descendants(self._shell.pid, self._shell.jobs)
        # Background jobs of this cell are spared at first.
        send(signum, below if signum == signal.SIGKILL else [pid for pid in below if not is_job(pid)])
        # Otherwise the shell runs the next command of the cell.
        send(signal.SIGINT, [self._shell.pid])
        if signum == signal.SIGKILL:
            self._steps.append((due + _KILL_EVERY_S, signum))

    def _again(self) -> None:
        """Interrupt again: the shell may have missed the first signal between two commands.

        Processes that were interrupted before are skipped.
        """
        self._signalled.update(self._shell.interrupt(without=self._signalled))
        self._shell.ask_verdict()


_MOST = 200
_BREAK = re.compile(r"[\s;|&()<>=`]")
_COMMAND = re.compile(r"(?:^|[;|&(`{!]|\$\(|\b(?:then|do|else|sudo|exec|time|if|while))\s*$")
_DECLARED = re.compile(r"^(?:declare|typeset|export) (?:(-\S+) )?([A-Za-z_]\w*)(?:=(.*))?$", re.MULTILINE)
# Set by the shell itself while it works.
_OWN = {"_", "BASH_ARGC", "BASH_ARGV", "BASH_LINENO", "BASH_REMATCH", "BASH_SOURCE", "FUNCNAME", "OLDPWD"}
_DECLARATIONS = {
    "bash": "declare -p; declare -F",
    "zsh": "typeset -p; print -rl -- 'typeset -f '${(k)^functions}",
}
_KINDS = {"A": "map", "a": "array", "i": "int", "f": "function"}
_INCOMPLETE = re.compile(
    r"unexpected EOF|unexpected end of file|delimited by end-of-file|\bunmatched\b|parse error near `\\n'"
)
_LONGEST_HEAD = 200


def complete(shell: ShellProcess, code: str) -> tuple[int, list[str]]:
    """Return completions for the end of `code`, and the start of the word that they replace."""
    start = _word_start(code)
    word = code[start:]
    if word.startswith("$"):
        brace = "${" if word.startswith("${") else "$"
        found = _compgen(shell, "-v", word[len(brace) :])
        return start, [f"{brace}{name}" for name in found]
    plain = re.sub(r"\\(.)", r"\1", word).lstrip("'\"")
    is_command = bool(_COMMAND.search(code[:start])) and "/" not in plain
    if is_command and not plain:
        return start, []
    found = _compgen(shell, "-c", plain) if is_command else _files(shell, plain)
    return start, [shlex.quote(name) if not is_command else name for name in found]


def describe(shell: ShellProcess, code: str, cursor: int) -> str:
    """Return the shell's description of the command at `cursor`; "" without one."""
    start = _word_start(code[:cursor])
    word = _BREAK.split(code[start:], maxsplit=1)[0]
    return shell.aside(f"type -- {shlex.quote(word)}").strip() if word else ""


def completeness(program: str, code: str) -> str:
    """Return Jupyter's word for the completeness of code: complete, incomplete, invalid or unknown."""
    if re.search(r"(?<!\\)(?:\\\\)*\\\n?\Z", code):
        return "incomplete"
    try:
        checked = subprocess.run(
            [program, "-n"],
            input=code.encode(),
            capture_output=True,
            timeout=5,
            env={"LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    output = checked.stderr.decode(errors="replace")
    if _INCOMPLETE.search(output):
        return "incomplete"
    return "invalid" if checked.returncode else "complete"


def names(shell: ShellProcess) -> Sequence[tuple[str, str, str]]:
    """Return all variables and functions: name, type, and the beginning of the value in shell syntax."""
    output = shell.aside(_DECLARATIONS[shell.kind])
    rows: dict[str, tuple[str, str, str]] = {}
    for flags, name, value in _DECLARED.findall(output):
        kind = next((_KINDS[flag] for flag in flags if flag in _KINDS), "str")
        if name not in _OWN:
            rows.setdefault(name, (name, kind, value[:_LONGEST_HEAD]))
    return sorted(rows.values())


def _word_start(code: str) -> int:
    at = len(code)
    while at and (not _BREAK.match(code[at - 1]) or (at > 1 and code[at - 2] == "\\")):
        at -= 1
    return at


def _files(shell: ShellProcess, word: str) -> list[str]:
    directories = set(_compgen(shell, "-d", word))
    return [f"{name}/" if name in directories else name for name in _compgen(shell, "-f", word)]


def _compgen(shell: ShellProcess, action: str, word: str) -> list[str]:
    if shell.kind == "zsh":
        return _of_zsh(shell, action, word)
    output = shell.aside(f"compgen {action} -- {shlex.quote(word)}")
    return sorted(set(output.splitlines()))[:_MOST]


def _of_zsh(shell: ShellProcess, action: str, word: str) -> list[str]:
    quoted = shlex.quote(word)
    lists = {
        "-v": "${(k)parameters}",
        "-c": "${(k)commands} ${(k)functions} ${(k)builtins} ${(k)aliases} ${(k)reswords}",
        "-f": f"{quoted}*(N)",
        "-d": f"{quoted}*(N/)",
    }
    output = shell.aside(f"print -rl -- {lists[action]}")
    return sorted({line for line in output.splitlines() if line and line.startswith(word)})[:_MOST]
