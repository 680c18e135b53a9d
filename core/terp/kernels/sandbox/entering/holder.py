"""The holder of a kernel: the parent process that performs what its processes ask the system for.

It reads the listener of the kernel's filter, decides about each call, asks terp where it cannot, and performs
what is allowed. One thread; when it ends, all waiting and later calls fail with ENOSYS, so that nothing
happens. As the parent it may read its children's memory also where only parents may (Yama 1), and orphans
stay below it.

Messages to and from terp are lines of JSON on a socket:

    {"ask": 7, "verb": "delete", "what": "/home/ann/a.csv", "to": "", "program": "python3", "pid": 41}
    {"answer": 7, "allow": true}          of terp, one for each question
    {"free": false, "grants": […]}        of terp: see `Permissions.change`
    {"counted": ["delete /home/.*", 9]}   how often a grant has allowed an effect, some times a second
    {"account": 3}                        of terp: answered with account, effects, files, more
    {"changed": 4, "moment": 9}           of terp: answered as by `FileStates.changed`, with {"changed": 4}
    {"restore": 5, "moment": 9, "paths": […]}  of terp: answered with {"restore": 5, "files": […]}
    {"interrupt": true}                   of terp: each call that waits fails with EINTR
"""

import _socket as socket  # without the enumerations, which take 4 ms to import
import errno
import json
import os
import resource
import select
import signal
import time

from terp.kernels.sandbox.entering.acting import BLOCKED, GO_ON, PERFORMED, SystemEffect
from terp.kernels.sandbox.entering.arguments import act_of
from terp.kernels.sandbox.entering.copies import FileStates
from terp.kernels.sandbox.entering.notifications import Listener, SystemCall
from terp.kernels.sandbox.entering.notified import names_of, report_calls
from terp.kernels.sandbox.entering.permissions import Permissions, shown
from terp.kernels.sandbox.entering.restrictions import prctl
from terp.kernels.sandbox.entering.system import syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from terp.kernels.sandbox.entering.acting import Act

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438
_AGAIN_MS = 5
_AT_ONCE = 64
_MOST_COMPARED = 50
_COUNTED_EVERY_S = 0.2
_IGNORED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGPIPE,
)


def become_held(argv: list[str], wanted: "dict[str, Any]") -> None:
    """Start the command as a child whose effects this process decides about. Does not return.

    `wanted` has the number of the socket to terp, and the folders of `Permissions`.

    Raises:
        OSError: the system cannot report calls; nothing was started.
    """
    number, go = os.pipe(), os.pipe()
    # Set before the fork: a child may not end its parent's watch.
    child = os.fork()
    if child == 0:
        _become(argv, number[1], go[0], [number[0], go[1], wanted["line"]])
    os.close(number[1])
    os.close(go[0])
    answer = os.read(number[0], 32)
    if not answer or int(answer) < 0:
        os.waitpid(child, 0)
        code = -int(answer or -errno.ECHILD)
        raise OSError(code, f"the system calls of code cannot be held ({os.strerror(code)})")
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    # Also /proc/PID/mem of this process is closed then.
    prctl(_PR_SET_DUMPABLE, 0)
    listener = _taken(child, int(answer))
    os.umask(0)
    os.chdir("/")
    # Each call that waits keeps some descriptors here.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    holder = Holder(Listener(listener, names_of(os.uname().machine)), child, wanted)
    holder.await_grants()
    os.write(go[1], b"g")
    os.close(go[1])
    os.close(number[0])
    holder.run()


def _become(argv: list[str], number: int, go: int, others: list[int]) -> None:
    """Install the filter, wait until it is read, and become the command."""
    try:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for one in others:
            os.close(one)
        try:
            listener = report_calls()
        except OSError as error:
            os.write(number, b"%d" % -(error.errno or errno.ENOSYS))
            os._exit(126)
        # The holder takes it: sending it would be a call that waits for the holder.
        os.write(number, b"%d" % listener)
        if not os.read(go, 1):
            os._exit(126)
        for one in (listener, number, go):
            os.close(one)
        os.execvpe(argv[0], argv, os.environ)  # noqa: S606  (this is what it is for)
    except OSError as error:
        os.write(2, f"{argv[0]} cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _taken(child: int, number: int) -> int:
    process = syscall(_PIDFD_OPEN, child, 0)
    try:
        return syscall(_PIDFD_GETFD, process, number, 0)
    finally:
        os.close(process)


class Holder:
    """Serves the calls of one kernel's processes until the kernel ends."""

    def __init__(self, listener: Listener, kernel: int, wanted: "dict[str, Any]") -> None:
        self._listener = listener
        self._kernel = kernel
        self._permissions = Permissions(wanted["own"], wanted["writable"], wanted["protected"])
        self._saved = FileStates(wanted["writable"], self._permissions.covers)
        self._more = select.poll()
        self._more.register(listener.fd, select.POLLIN)
        self._line = socket.socket(fileno=wanted["line"])
        self._line.setblocking(False)
        self._read = b""
        self._to_write = b""
        self._asked: dict[int, tuple[SystemCall, Act, SystemEffect]] = {}
        self._blocked: list[tuple[SystemCall, Act]] = []
        self._count = 0
        self._granted = False
        self._counted = "", 0
        self._counted_at = 0.0

    def await_grants(self) -> None:
        """Wait for the first grants of terp: the command does not start before them."""
        while not self._granted:
            select.select([self._line], [], [])
            self._talk()

    def run(self) -> None:
        """Serve until the kernel has ended; end as it did."""
        woken, wake = socket.socketpair()
        woken.setblocking(False)
        wake.setblocking(False)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        poll = select.poll()
        for fd in (self._listener.fd, woken.fileno()):
            poll.register(fd, select.POLLIN)
        status: int | None = None
        while status is None:
            poll.register(self._line.fileno(), select.POLLIN | (select.POLLOUT if self._to_write else 0))
            for fd, _ in poll.poll(_AGAIN_MS if self._blocked else None):
                if fd == self._listener.fd:
                    self._serve_some()
                elif fd == woken.fileno():
                    woken.recv(4096)
                    status = self._reaped()
                else:
                    self._talk()
            self._try_blocked()
        self._flush_account()
        _end_like(status)

    def _serve_some(self) -> None:
        # Received eagerly: a call that was not received yet could be begun twice by a signal.
        for _ in range(_AT_ONCE):
            call = self._listener.receive()
            if call is not None:
                self._serve(call)
                if self._permissions.counted != self._counted:
                    self._report_count()
            if not self._more.poll(0):
                return

    def _report_count(self) -> None:
        now = time.monotonic()
        if now - self._counted_at >= _COUNTED_EVERY_S:
            self._counted, self._counted_at = self._permissions.counted, now
            self._say({"counted": self._counted})

    def _serve(self, call: SystemCall) -> None:
        try:
            act = act_of(call)
        except Exception as error:  # noqa: BLE001  (as in `_advance`)
            self._failed(call, error)
            return
        if act is None:
            call.go_on()
        else:
            self._advance(call, act)

    def _advance(self, call: SystemCall, act: "Act", refused: int = 0) -> None:
        """Resume a call until it is done or must wait."""
        try:
            step = act.throw(OSError(refused, "refused")) if refused else next(act)
            while step != BLOCKED:
                if step == PERFORMED:
                    self._note(call)
                    step = next(act)
                    continue
                verdict = self._permissions.verdict(step)
                if not verdict and not step.is_moot():
                    if verdict is None:
                        self._ask(call, act, step)
                        return
                    self._count_refused(step)
                    step = act.throw(OSError(errno.EPERM, "refused"))
                else:
                    self._allow(call, step)
                    step = next(act)
            self._blocked.append((call, act))
        except StopIteration as done:
            self._note(call)
            if done.value == GO_ON:
                call.go_on()
            else:
                call.done(done.value or 0)
        except Exception as error:  # noqa: BLE001  (the caller's call fails, and the holder goes on)
            self._failed(call, error)

    def _note(self, call: SystemCall) -> None:
        for effect in call.effects:
            self._permissions.happened(effect)
            self._saved.after(effect)
        call.effects.clear()

    def _allow(self, call: SystemCall, effect: SystemEffect) -> None:
        if effect.verb in ("connect", "listen"):
            # Also one that fails has sent something.
            self._permissions.happened(effect)
        else:
            self._saved.before(effect)
            call.effects.append(effect)

    def _count_refused(self, effect: SystemEffect) -> None:
        self._permissions.count("refused " + effect.verb, shown(effect.what), shown(effect.target))

    def _failed(self, call: SystemCall, error: Exception) -> None:
        """Let a call fail: what is not understood does not happen."""
        code = error.errno if isinstance(error, OSError) else None
        if code is None:
            os.write(2, f"terp: {call.name} was refused: {error!r}\n".encode())
        call.fail(code or errno.EPERM)

    def _ask(self, call: SystemCall, act: "Act", effect: SystemEffect) -> None:
        self._count += 1
        self._asked[self._count] = call, act, effect
        question = {
            "ask": self._count,
            "verb": effect.verb,
            "what": shown(effect.what),
            "to": shown(effect.target),
            "program": _program(call.pid),
            "pid": call.pid,
        }
        self._say(question)

    def _answer(self, number: int, *, allow: bool) -> None:
        call, act, effect = self._asked.pop(number)
        if not call.still_waits():
            act.close()
        elif allow:
            self._allow(call, effect)
            self._advance(call, act)
        else:
            self._count_refused(effect)
            self._advance(call, act, errno.EPERM)

    def _decide_again(self) -> None:
        """Answer questions that new grants decide."""
        for number, (_, _, effect) in list(self._asked.items()):
            verdict = self._permissions.verdict(effect)
            if verdict is not None:
                self._say({"settled": number})
                self._answer(number, allow=verdict)

    def _interrupt(self) -> None:
        waiting = [(call, act) for call, act, _ in self._asked.values()] + self._blocked
        for number in self._asked:
            self._say({"settled": number})
        self._asked, self._blocked = {}, []
        for call, act in waiting:
            act.close()
            call.fail(errno.EINTR)

    def _try_blocked(self) -> None:
        blocked, self._blocked = self._blocked, []
        for call, act in blocked:
            if call.still_waits():
                self._advance(call, act)
            else:
                act.close()

    def _talk(self) -> None:
        self._write()
        try:
            received = self._line.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            self._gone()
            return
        *lines, self._read = (self._read + received).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))

    def _obey(self, wanted: "dict[str, Any]") -> None:
        if "answer" in wanted:
            if wanted["answer"] in self._asked:
                self._answer(wanted["answer"], allow=wanted["allow"] is True)
        elif "grants" in wanted:
            self._granted = True
            self._permissions.change(wanted)
            self._saved.begin(wanted.get("moment"))
            self._decide_again()
            self._say({"granted": wanted.get("number", 0)})
        elif "account" in wanted:
            self._saved.settle()
            account = self._permissions.account()
            for row in account["files"][:_MOST_COMPARED]:
                row.append(self._saved.text_before(row[0].encode("utf-8", "surrogateescape")))
            self._say({"account": wanted["account"], **account})
        elif "changed" in wanted:
            self._say({"changed": wanted["changed"], **self._saved.changed(wanted["moment"])})
        elif "restore" in wanted:
            files = self._saved.restore(wanted["moment"], wanted["paths"])
            # A file that is back is the user's, also where code had put one of its own.
            self._permissions.forget_made()
            self._say({"restore": wanted["restore"], "files": files})
        elif "interrupt" in wanted:
            self._interrupt()

    def _gone(self) -> None:
        """End the kernel: terp has ended: nobody can allow anything any more."""
        os.kill(self._kernel, signal.SIGKILL)

    def _flush_account(self) -> None:
        self._line.setblocking(True)
        self._say({"account": 0, **self._permissions.account()})

    def _say(self, message: "dict[str, Any]") -> None:
        self._to_write += json.dumps(message).encode() + b"\n"
        self._write()

    def _write(self) -> None:
        try:
            while self._to_write:
                self._to_write = self._to_write[self._line.send(self._to_write) :]
        except BlockingIOError:
            return
        except OSError:
            self._to_write = b""

    def _reaped(self) -> int | None:
        """Reap all processes that have ended; return the kernel's status if it is among them."""
        status = None
        while True:
            try:
                pid, ended = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return status
            if pid == 0:
                return status
            if pid == self._kernel:
                status = ended


def _end_like(status: int) -> None:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        os._exit(code)
    if code != -signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    os._exit(128 - code)


def _program(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123  (pathlib takes 5 ms to import)
            first = file.read(4096).split(b"\0")[0]
    except OSError:
        return ""
    return shown(first.rpartition(b"/")[2])
