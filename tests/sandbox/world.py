"""What code must not touch: a home with secrets, files outside, sockets, a process, another terminal."""

import ctypes
import hashlib
import os
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

CANARY = "yellow-bird-3b1f7c"
SECRETS = (
    ".ssh/id_rsa", ".ssh/named.pub", ".aws/credentials", ".gnupg/key", ".netrc", ".config/gh/hosts.yml",
    ".kube/config", ".docker/config.json", ".mozilla/firefox/x/cookies", ".bash_history",
    ".local/share/jupyter/runtime/kernel.json", ".config/terp/config.yaml",
    ".local/state/terp/sessions/old/events.jsonl", ".ipython/profile_default/history.sqlite",
    ".zsh_sessions/one.history", ".histfile", ".streamlit/secrets.toml", ".dbt/profiles.yml",
    ".snowsql/config", ".config/pip/pip.conf", ".jupyter/jupyter_server_config.json",
    ".config/configstore/tool.json", ".config/gspread/credentials.json",
    ".cloudflared/cert.pem", ".vnc/passwd", ".purple/accounts.xml", ".cursor/mcp.json", ".aider.conf.yml",
    ".config/Code/User/globalStorage/state.vscdb", ".config/google-chrome-beta/Default/Cookies",
    ".librewolf/x/cookies.sqlite",
)  # fmt: skip
PROTECTED = (
    ".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json", ".terp/profile.yaml", ".venv/pyvenv.cfg",
)  # fmt: skip

_VICTIM = """
from terp.kernels.sandbox.entering.restrictions import become_unprivileged
become_unprivileged()
print("ready", flush=True)
import time
time.sleep(600)
"""


class World:
    """It is below /var/tmp: a sandbox may have a /tmp of its own."""

    def __init__(self) -> None:
        self.top = Path(tempfile.mkdtemp(prefix="terp-world-", dir="/var/tmp"))
        self.home, self.out, self.proj = (self.top / name for name in ("home", "out", "proj"))
        for path in SECRETS:
            _write(self.home / path, f"secret {CANARY}\n")
        _write(self.home / ".bashrc", "# mine\n")
        _write(self.home / "notes.txt", "not secret\n")
        for name in ("kept", "removed", "renamed", "cut", "mode", "time", "linked"):
            _write(self.out / name, "as it was\n")
        for path in PROTECTED:
            _write(self.proj / path, "as it was\n")
        # It is found, and never run.
        _write(self.proj / ".venv/bin/python", "#!/bin/sh\n")
        (self.proj / ".venv/bin/python").chmod(0o755)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.unix, self.abstract = (socket.socket(socket.AF_UNIX) for _ in range(2))
        self.unix.bind(str(self.top / "sock"))
        self.abstract.bind(f"\0{self.top}")
        self.datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.datagrams.bind(str(self.top / "datagrams"))
        for listening in (self.unix, self.abstract):
            listening.listen()
        for one in (self.tcp, self.udp, self.unix, self.abstract, self.datagrams):
            one.setblocking(False)
        os.mkfifo(self.top / "pipe")
        self.pipe = os.open(self.top / "pipe", os.O_RDWR | os.O_NONBLOCK)
        self.shared = SharedMemory(self.top.name)
        self.master, self._slave = pty.openpty()
        os.set_blocking(self.master, False)
        # Without rights of root: these protect a process from code that has none.
        self.victim = subprocess.Popen(
            [sys.executable, "-c", _VICTIM], env={"A_KEY": CANARY}, stdout=subprocess.PIPE
        )
        assert self.victim.stdout is not None
        self.victim.stdout.readline()
        self.before = self._files()

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of a person who works here."""
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "OPENAI_API_KEY": CANARY,
            "AWS_SECRET_ACCESS_KEY": CANARY,
        }

    def names(self) -> Mapping[str, str]:
        """What stands for what in the code of a probe."""
        return {
            "HOME_": str(self.home),
            "OUT_": str(self.out),
            "PROJ_": str(self.proj),
            "TOP_": str(self.top),
            "PORT_": str(self.tcp.getsockname()[1]),
            "UDP_": str(self.udp.getsockname()[1]),
            "VICTIM_": str(self.victim.pid),
            "SHM_": str(self.shared.file),
            "SEGMENT_": str(self.shared.segment),
            "QUEUE_": self.shared.queue,
            "PTS_": os.ttyname(self._slave),
            # In two pieces, so that an error that quotes the code has it not.
            "LEAK_": f"'{CANARY[:6]}' + '{CANARY[6:]}'",
        }

    def damage(self, printed: str) -> str:
        """What has happened that must not, in a word; "" for nothing."""
        if CANARY in printed:
            return "leaked"
        if self._files() != self.before:
            return "changed"
        if self.victim.poll() is not None:
            return "killed"
        return next(self._reached(), "")

    def _reached(self) -> Iterator[str]:
        for one in (self.tcp, self.unix, self.abstract):
            try:
                one.accept()[0].close()
                yield "reached"
            except BlockingIOError:
                continue
        for one in (self.udp, self.datagrams):
            try:
                one.recv(10)
                yield "reached"
            except BlockingIOError:
                continue
        for descriptor in (self.master, self.pipe):
            try:
                os.read(descriptor, 100)
                yield "written to a terminal or a pipe"
            except BlockingIOError:
                continue

    def _files(self) -> dict[str, tuple[int, int, str]]:
        protected = [self.proj / path for path in PROTECTED]
        places = [*self.home.rglob("*"), *self.out.rglob("*"), *protected]
        return {str(path): _look(path) for path in places}

    def mend(self) -> None:
        """Go on from how it is now, with the project as it was."""
        for path in PROTECTED:
            _write(self.proj / path, "as it was\n")
        self.before = self._files()

    def close(self) -> None:
        """Leave nothing."""
        self.victim.kill()
        self.victim.communicate()
        for one in (self.tcp, self.udp, self.unix, self.abstract, self.datagrams):
            one.close()
        for descriptor in (self.master, self._slave, self.pipe):
            os.close(descriptor)
        self.shared.close()
        shutil.rmtree(self.top)


class SharedMemory:
    """What another program shares: a file in /dev/shm, a segment of System V, a queue of messages."""

    def __init__(self, name: str) -> None:
        self.file, self.queue = Path("/dev/shm", name), f"/{name}"
        self.file.write_text(CANARY)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.shmat.restype = ctypes.c_void_p
        self.segment: int = self._libc.shmget(0, 4096, 0o1600)
        at = self._libc.shmat(self.segment, None, 0)
        ctypes.memmove(at, CANARY.encode(), len(CANARY) + 1)
        self._libc.shmdt(ctypes.c_void_p(at))
        attributes = (ctypes.c_long * 8)(0, 10, 100)
        self._queue: int = self._libc.mq_open(self.queue.encode(), 0o102, 0o600, attributes)
        for _ in range(10):
            self._libc.mq_send(self._queue, CANARY.encode(), len(CANARY), 0)

    def close(self) -> None:
        self.file.unlink()
        self._libc.shmctl(self.segment, 0, None)
        os.close(self._queue)
        self._libc.mq_unlink(self.queue.encode())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _look(path: Path) -> tuple[int, int, str]:
    if path.is_symlink() or not path.exists():
        return 0, 0, str(path.is_symlink())
    found = path.stat()
    if path.is_dir():
        return found.st_mode, 0, ""
    text = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "special"
    return found.st_mode, found.st_mtime_ns, text
