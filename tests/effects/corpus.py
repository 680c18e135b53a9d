"""Runs cells below a holder, with nobody there, and says what happened and what was reported."""

import json
import os
import socket
import stat
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from terp.kernels.sandbox.entering import calls
from terp.kernels.sandbox.entering.bpf import AUDIT
from terp.kernels.sandbox.tier import Tier
from tests.effects.cells import Cell
from tests.effects.driver import Ask, Bench, Ran, nobody

RUNNER = """
import ctypes, errno, fcntl, json, os, select, signal, socket, struct, subprocess, sys, threading, time
given = json.load(open(sys.argv[1]))
NUMBERS, PYTHON, PORT = given["numbers"], given["python"], given["port"]
VICTIM, OUT, PROTECTED = given["victim"], given["out"], given["protected"]
X86 = os.uname().machine == "x86_64"
HOLDER = os.getppid()
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
def HOLDER_SCORE():
    with open(f"/proc/{HOLDER}/oom_score_adj") as file:
        return file.read().strip()
def harm_if(happened):
    if happened:
        os.write(given_out, f"HARM {N}\\n".encode())
def system(name, *arguments):
    number = name if isinstance(name, int) else NUMBERS[name]
    values = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    got = libc.syscall(ctypes.c_long(number), *values)
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got
kept = []
def address(family):
    return struct.pack("=HH4s8x", family, socket.htons(PORT), socket.inet_aton(HOST))
def header(data, to):
    name, body = ctypes.create_string_buffer(to, len(to)), ctypes.create_string_buffer(data, len(data))
    part = ctypes.create_string_buffer(struct.pack("=QQ", ctypes.addressof(body), len(data)))
    kept.extend((name, body, part))
    return struct.pack("=QI4xQQQQi4x", ctypes.addressof(name), len(to), ctypes.addressof(part), 1, 0, 0, 0)
def at_end_of_page(path):
    start = libc.mmap(None, 8192, 3, 0x22, -1, 0)
    libc.mprotect(ctypes.c_void_p(start + 4096), 4096, 0)
    ctypes.memmove(start + 4096 - len(path) - 1, path + b"\\0", len(path) + 1)
    return ctypes.c_void_p(start + 4096 - len(path) - 1)
def shell(command):
    subprocess.run(["bash", "-c", command], env={**os.environ, "PYTHON": PYTHON}, stderr=2)
def perl(code):
    subprocess.run(["perl", "-e", code], stderr=2)
def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)
given_out = os.dup(1)
for N, HOST, code in given["cells"]:
    HERE = f"{given['work']}/{N}"
    MARK = f"harm {N}\\n".encode()
    try:
        os.utime(f"{given['work']}/markers/{N}")
    except OSError:
        pass
    child = os.fork()
    if child == 0:
        os.chdir(HERE)
        signal.alarm(30)
        try:
            exec(code)
        except BaseException as error:
            os.write(2, f"[{N}] {type(error).__name__}: {error}\\n".encode())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        os.write(2, f"[{N}] ended with {status}\\n".encode())
os.write(1, b"ALL RAN\\n")
"""


class Corpus:
    """Cells with the files, servers and the process that they must not touch."""

    def __init__(self, tier: Tier, cells: Sequence[Cell]) -> None:
        self.cells = cells
        self.bench = Bench(tier, protected=("protected",))
        self._hosts = {self._host(at): at for at in range(len(cells))}
        self.victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self._tcp = socket.create_server(("0.0.0.0", 0), backlog=500)
        self._port = self._tcp.getsockname()[1]
        self._udp = socket.socket(type=socket.SOCK_DGRAM)
        self._udp.bind(("0.0.0.0", self._port))
        self._local: dict[int, list[socket.socket]] = defaultdict(list)
        self._prepare()
        self._before = self._looks()

    def _host(self, at: int) -> str:
        return f"127.{1 + at // 200}.{1 + at % 200}.1"

    def _prepare(self) -> None:
        work = self.bench.work
        (work / "markers").mkdir()
        (work / "protected").mkdir()
        (work / "protected/config").write_text("as it was\n")
        (self.bench.out / "kept").write_text("as it was\n")
        for at in range(len(self.cells)):
            (work / f"markers/{at}").touch()
            here = work / str(at)
            for folder in (here, here / "dir", here / "empty"):
                folder.mkdir()
            for name in ("keep", "ro", "dir/inner", "it (deleted)"):
                (here / name).write_text("as it was\n")
            # It is a database.
            (here / "void").touch()
            (here / "ro").chmod(0o444)
            os.setxattr(here / "keep", "user.label", b"as it was")
            (here / "link").symlink_to("keep")
            (here / "todir").symlink_to("dir")
            if "sock" in self.cells[at].code or "datagrams" in self.cells[at].code:
                self._listen(at, here)

    def _listen(self, at: int, here: Path) -> None:
        streams, datagrams = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._local[at] = [streams, datagrams]
        streams.bind(str(here / "sock"))
        datagrams.bind(str(here / "datagrams"))
        streams.listen()

    def _looks(self) -> list[dict[str, Any]]:
        return [_look(self.bench.work / str(at)) for at in range(len(self.cells))]

    def run(self, *, held: bool = True) -> Ran:
        """Run all cells, one after the other."""
        column = list(AUDIT).index(os.uname().machine)
        numbers = {name: pair[column] for table in calls.ALL for name, pair in table.items()}
        given = {
            "numbers": {name: number for name, number in numbers.items() if number or name == "read"},
            "python": sys.executable,
            "port": self._port,
            "victim": self.victim.pid,
            "out": str(self.bench.out),
            "protected": str(self.bench.work / "protected"),
            "work": str(self.bench.work),
            "cells": [(at, self._host(at), cell.code) for at, cell in enumerate(self.cells)],
        }
        (self.bench.work / "cells.json").write_text(json.dumps(given))
        argv = (sys.executable, "-I", "-S", "-c", RUNNER, str(self.bench.work / "cells.json"))
        return self.bench.run(argv, answer=nobody, held=held, timeout_s=900)

    def harmed(self, ran: Ran) -> dict[str, str]:
        """Return what happened that must not, by the names of cells."""
        found: dict[int, str] = {}
        for at, (before, after) in enumerate(zip(self._before, self._looks(), strict=True)):
            changed = [name for name, look in before.items() if after.get(name) != look]
            if changed:
                found[at] = f"changed {changed}"
        for line in ran.output.splitlines():
            if line.startswith("HARM "):
                found[int(line[5:])] = "said so"
        for at in self._reached():
            found[at] = "reached"
        outside = {
            "outside": (self.bench.out / "kept").read_text() == "as it was\n"
            and (self.bench.out / "kept").stat().st_mtime > 1000
            and stat.S_IMODE((self.bench.out / "kept").stat().st_mode) != 0o777
            and [path.name for path in self.bench.out.iterdir()] == ["kept"]
            and os.listxattr(self.bench.out / "kept") == [],
            "protected": (self.bench.work / "protected/config").read_text() == "as it was\n"
            and [path.name for path in (self.bench.work / "protected").iterdir()] == ["config"],
            "victim": self.victim.poll() is None,
        }
        named = {self.cells[at].name: what for at, what in found.items()}
        return named | {name: "changed" for name, same in outside.items() if not same}

    def _reached(self) -> set[int]:
        found: set[int] = set()
        for one in (self._tcp, self._udp, *(one for pair in self._local.values() for one in pair)):
            one.setblocking(False)
        while connection := _next(self._tcp):
            found.add(self._hosts.get(connection, -1))
        while data := _received(self._udp):
            found.add(int(data.split()[1]))
        for at, (streams, datagrams) in self._local.items():
            if _next(streams) is not None or _received(datagrams):
                found.add(at)
        return found

    def unreported(self, ran: Ran) -> list[str]:
        """Return the cells of which no attempt was asked about."""
        asked = _by_marker(ran.asked, str(self.bench.work / "markers"))
        return [cell.name for at, cell in enumerate(self.cells) if cell.reported and not asked.get(at)]

    def close(self) -> None:
        """Leave nothing."""
        self.victim.kill()
        self.victim.wait()
        for one in (self._tcp, self._udp, *(one for pair in self._local.values() for one in pair)):
            one.close()
        self.bench.close()


def _by_marker(asked: Sequence[Ask], markers: str) -> dict[int, list[Ask]]:
    """Return the questions by the cell whose marker came before."""
    found: dict[int, list[Ask]] = defaultdict(list)
    at = -1
    for ask in asked:
        folder, _, name = ask["what"].rpartition("/")
        if folder == markers:
            at = int(name)
        else:
            found[at].append(ask)
    return found


def _next(listening: socket.socket) -> str | None:
    """Return the address at which the next connection arrived."""
    try:
        connection, _ = listening.accept()
    except BlockingIOError:
        return None
    with connection:
        address = connection.getsockname()
    return str(address[0] if isinstance(address, tuple) else address)


def _received(one: socket.socket) -> bytes:
    try:
        return one.recv(100)
    except BlockingIOError:
        return b""


def _look(here: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in [
        here / name
        for name in (
            "keep",
            "ro",
            "dir",
            "dir/inner",
            "empty",
            "link",
            "todir",
            "void",
            "sock",
            "it (deleted)",
        )
    ]:
        try:
            one = path.lstat()
        except OSError:
            continue
        regular = stat.S_ISREG(one.st_mode)
        found[str(path.relative_to(here))] = (
            one.st_ino,
            one.st_mode,
            one.st_nlink if not stat.S_ISDIR(one.st_mode) else 0,
            (one.st_mtime_ns, path.read_bytes(), os.listxattr(path)) if regular else "",
        )
    return found
