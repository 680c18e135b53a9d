"""Ways out that code may try. Names in capitals with `_` at the end are those of the `World`."""

from dataclasses import dataclass

from tests.sandbox.world import SECRETS


@dataclass(frozen=True)
class Escape:
    """Code that does harm where nothing holds it.

    `gap` names what Landlock is known not to hold back, in the words of docs/sandbox.md. Without `network`
    it is tried where the network is closed. What is not `sure` does no harm on every machine.
    """

    name: str
    code: str
    gap: str = ""
    network: bool = True
    sure: bool = True


READ_FILE = """
print(open("HOME_/{}").read())
"""
PROJECT, MODES, NAMES = "protected project files", "permissions and times outside", "names of hidden files"
TERMINALS, SOCKETS = "other terminals", "Unix sockets while the network is open"
PROCESSORS, SHARED = "processors of other programs", "shared memory in /dev/shm"

# It leaves a program `s` with the rights of its owner in the project.
SET_UID = """
import ctypes, os
os.umask(0)
if os.path.exists("s"):
    os.remove("s")
try:
    {}
finally:
    print(LEAK_ if os.path.exists("s") and os.stat("s").st_mode & 0o{}000 else "")
"""


def set_uid(code: str, bit: int = 4) -> str:
    return SET_UID.format(code, bit)


CALL = """
import ctypes, os
number = {{"x86_64": {}, "aarch64": {}}}[os.uname().machine]
ctypes.set_errno(0)
got = ctypes.CDLL(None, use_errno=True).syscall(number, {})
print(got, ctypes.get_errno())
if ctypes.get_errno() not in (1, 38):
    print(LEAK_)
"""


def opened(path: str, how: str = "w") -> str:
    return f"open({path!r}, {how!r}).close(); print(LEAK_)"


def shell(command: str) -> str:
    return f"import subprocess; p = subprocess.run({command!r}, shell=True, capture_output=True, text=True); print(p.stdout, p.stderr)"


READS = [Escape(f"read {path}", READ_FILE.format(path)) for path in SECRETS if not path.endswith(".pub")]

AROUND = [
    Escape("read in a shell", shell("cat HOME_/.ssh/id_rsa")),
    Escape("copy a hidden folder", shell("cp -r HOME_/.ssh PROJ_/copied; cat PROJ_/copied/*")),
    Escape("pack a hidden folder", shell("tar -cO HOME_/.aws")),
    Escape("search all of home", shell("grep -rh secret HOME_")),
    Escape("link to a hidden folder", "import os; os.symlink('HOME_/.ssh', 'way'); print(open('way/id_rsa').read())"),
    Escape("link a hidden file", "import os; os.link('HOME_/.netrc', 'hard'); print(open('hard').read())"),
    Escape("move a hidden folder", "import os; os.rename('HOME_/.ssh', 'PROJ_/moved'); print(open('PROJ_/moved/id_rsa').read())"),
    Escape("go through /proc/self/root", 'print(open("/proc/self/root/HOME_/.ssh/id_rsa").read())'),
    Escape("go through /proc/self/cwd", 'print(open("/proc/self/cwd/../home/.ssh/id_rsa").read())'),
    Escape("go through another process", 'print(open("/proc/VICTIM_/root/HOME_/.ssh/id_rsa").read())'),
    Escape("go through the first process", 'print(open("/proc/1/root/HOME_/.ssh/id_rsa").read())', sure=False),
    Escape(
        "open by a descriptor of the root",
        "import os; top = os.open('/', os.O_PATH); "
        "print(os.read(os.open('.HOME_/.ssh/id_rsa', os.O_RDONLY, dir_fd=top), 99))",
    ),
    Escape("list a hidden folder", "import os; print(LEAK_ if 'named.pub' in os.listdir('HOME_/.ssh') else '')", gap=NAMES),
    Escape("find a hidden name", "import os; print(LEAK_ if os.path.exists('HOME_/.ssh/id_rsa') else '')", gap=NAMES),
    Escape("read the environment of a process", "print(open('/proc/VICTIM_/environ').read())"),
    Escape("read the memory of a process", """
import re
maps = open("/proc/VICTIM_/maps").read()
low, high = re.search(r"(\\w+)-(\\w+) rw-p .*\\[stack\\]", maps).groups()
memory = open("/proc/VICTIM_/mem", "rb")
memory.seek(int(low, 16))
print(memory.read(int(high, 16) - int(low, 16)).decode("latin-1"))
"""),
    Escape("read the environment of terp", "import os; print(open(f'/proc/{os.getppid()}/environ').read())", sure=False),
    Escape("read its own environment", "import os; print(dict(os.environ))", sure=False),
    Escape("read that of its first process", "print(open('/proc/1/environ').read())", sure=False),
    Escape("ask for the environment of a shell", shell("env"), sure=False),
]  # fmt: skip

WRITES = [
    Escape("write into home", "open('HOME_/new', 'w').write('x')"),
    Escape("add to .bashrc", "open('HOME_/.bashrc', 'a').write('x')"),
    Escape("add a key for logins", "open('HOME_/.ssh/authorized_keys', 'w').write('x')"),
    Escape("change terp's settings", "open('HOME_/.config/terp/config.yaml', 'a').write('auto_run: true')"),
    Escape("forge the test of a sandbox", "open('HOME_/.local/state/terp/tested-tiers', 'a').write('x')"),
    Escape("plant a program", "import os; os.makedirs('HOME_/.local/bin'); open('HOME_/.local/bin/ls', 'w')"),
    Escape("overwrite a file", "open('OUT_/kept', 'w').write('x')"),
    Escape("remove a file", "import os; os.remove('OUT_/removed')"),
    Escape("remove a tree", "import shutil; shutil.rmtree('OUT_')"),
    Escape("rename a file", "import os; os.rename('OUT_/renamed', 'OUT_/other')"),
    Escape("move a file in", "import os; os.rename('OUT_/renamed', 'PROJ_/other')"),
    Escape("make a folder", "import os; os.mkdir('OUT_/folder')"),
    Escape("make a link", "import os; os.symlink('/etc', 'OUT_/link')"),
    Escape("link a file out", "import os; open('here', 'w'); os.link('here', 'OUT_/there')"),
    Escape("write through a link", "import os; os.symlink('OUT_', 'out'); open('out/new', 'w').write('x')"),
    Escape("write through a linked file", "import os; os.symlink('OUT_/kept', 'kept'); open('kept', 'w').write('x')"),
    Escape("write through a hard link", "import os; os.link('OUT_/linked', 'own'); open('own', 'w').write('x')"),
    Escape("cut a file", "import os; os.truncate('OUT_/cut', 1)"),
    Escape("make a pipe", "import os; os.mkfifo('OUT_/pipe')"),
    Escape("bind a socket", "import socket; socket.socket(socket.AF_UNIX).bind('OUT_/sock')"),
    Escape("make a database", "import sqlite3; sqlite3.connect('OUT_/db').execute('create table t (x)')"),
    Escape("redirect in a shell", shell("echo x > OUT_/kept")),
    Escape("write by a parent folder", "open('../out/kept', 'w').write('x')"),
    Escape("write through /proc/self/root", "open('/proc/self/root/OUT_/kept', 'w').write('x')"),
    Escape("leave a process that writes later", shell("(setsid sh -c 'sleep 0.1; echo x > OUT_/kept' &) ; sleep 0.4")),
    Escape("change permissions", "import os; os.chmod('OUT_/mode', 0o777)", gap=MODES),
    Escape("change times", "import os; os.utime('OUT_/time', (1, 1))", gap=MODES),
    Escape("change a hook", "open('.git/hooks/pre-commit', 'w').write('x')", gap=PROJECT),
    Escape("add a hook beside", "import os; os.rename('.git/hooks', '.git/gone'); os.mkdir('.git/hooks')", gap=PROJECT),
    Escape("make room for another .git", "import os; os.rename('.git', 'gone'); os.makedirs('.git/hooks')", gap=PROJECT),
    Escape("change git's configuration", "open('.git/config', 'a').write('x')", gap=PROJECT),
    Escape("replace git's configuration", "import os; open('c', 'w'); os.replace('c', '.git/config')", gap=PROJECT),
    Escape("change the editor's tasks", "open('.vscode/tasks.json', 'w').write('x')", gap=PROJECT),
    Escape("plant code in the project's Python", "open('.venv/pyvenv.cfg', 'a').write('x')", gap=PROJECT),
    Escape("make room for another Python", "import os; os.rename('.venv', 'old'); os.makedirs('.venv/bin')", gap=PROJECT),
    Escape("change the project's profile", "open('.terp/profile.yaml', 'w').write('x')", gap=PROJECT),
]  # fmt: skip

POWERS = [
    Escape("kill a process", "import os; os.kill(VICTIM_, 9); import time; time.sleep(0.1)"),
    Escape("kill a process in a shell", shell("kill -9 VICTIM_; sleep 0.1")),
    Escape("limit a process", "import resource; resource.prlimit(VICTIM_, resource.RLIMIT_CORE, (0, 0)); print(LEAK_)"),
    Escape("let a process wait for others", "import os; os.setpriority(os.PRIO_PROCESS, VICTIM_, 19); print(LEAK_)"),
    Escape("let all processes of a user wait", """
import os
try:
    os.setpriority(os.PRIO_USER, 0, 19)
finally:
    print(LEAK_ if os.getpriority(os.PRIO_PROCESS, VICTIM_) == 19 else "")
""", sure=False),
    Escape("let a process run when idle", "import os; os.sched_setscheduler(VICTIM_, os.SCHED_IDLE, os.sched_param(0)); print(LEAK_)"),
    Escape("let a process read when idle", """
import ctypes, os
number = {"x86_64": 251, "aarch64": 30}[os.uname().machine]
print(LEAK_ if ctypes.CDLL(None).syscall(number, 1, VICTIM_, 3 << 13) == 0 else "")
"""),
    Escape("choose the processors of a process", "import os; os.sched_setaffinity(VICTIM_, os.sched_getaffinity(0)); print(LEAK_)", gap=PROCESSORS),
    Escape("read shared memory", "print(open('SHM_').read())", gap=SHARED),
    Escape("read a segment of shared memory", """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
at = libc.shmat(SEGMENT_, None, 0o10000)
print("" if at == ctypes.c_void_p(-1).value else ctypes.string_at(at))
"""),
    Escape("read a queue of messages", """
import ctypes
got = ctypes.create_string_buffer(100)
libc = ctypes.CDLL(None)
queue = libc.mq_open(b"QUEUE_", 0o4000)
libc.mq_receive(queue, got, 100, None)
print(got.value)
"""),
    Escape("trace a process", """
import ctypes, os
# In a process that ends: what it traced goes on.
if not (tracer := os.fork()):
    os._exit(7 if ctypes.CDLL(None).ptrace(0x4206, VICTIM_, 0, 0) == 0 else 0)
print(LEAK_ if os.waitstatus_to_exitcode(os.waitpid(tracer, 0)[1]) == 7 else "")
"""),
    Escape("write to a terminal", "import os; os.write(os.open('PTS_', os.O_WRONLY | os.O_NOCTTY), b'hello\\n')", gap=TERMINALS),
    Escape("write into a pipe", "import os; os.write(os.open('TOP_/pipe', os.O_WRONLY | os.O_NONBLOCK), b'x')"),
    Escape("write into a pipe by a link", "import os; os.link('TOP_/pipe', 'pipe'); os.write(os.open('pipe', os.O_RDWR | os.O_NONBLOCK), b'x')"),
    Escape("connect to a socket", "import socket; socket.socket(socket.AF_UNIX).connect('TOP_/sock')", gap=SOCKETS),
    Escape("connect to a socket without a path", "import socket; socket.socket(socket.AF_UNIX).connect('\\0TOP_')"),
    Escape("have a namespace of users", CALL.format(272, 97, "0x10000000"), sure=False),
    Escape("give a file the rights of its owner", set_uid("open('s', 'w'); os.chmod('s', 0o4755)")),
    Escape("give an open file the rights of its owner", set_uid("os.fchmod(os.open('s', os.O_CREAT), 0o4755)")),
    Escape("give a file in a shell the rights of its owner", set_uid("open('s', 'w'); os.system('chmod u+s s')")),
    Escape("give it the rights by the new call", set_uid("open('s', 'w'); ctypes.CDLL(None).syscall(452, -100, b's', 0o4755, 0)"), sure=False),
    Escape("open a file with the rights of its owner", set_uid("os.open('s', os.O_CREAT, 0o4755)")),
    Escape("open it with rights in a structure", set_uid(
        "ctypes.CDLL(None).syscall(437, -100, b's', (ctypes.c_uint64 * 3)(os.O_CREAT, 0o4755, 0), 24)"
    )),
    Escape("create a file with the rights of its owner", set_uid("ctypes.CDLL(None).creat(b's', 0o4755)")),
    Escape("make a node with the rights of its owner", set_uid("os.mknod('s', 0o104755)")),
    Escape("unpack a file with the rights of its owner", set_uid(
        "open('t', 'w'); os.system('tar cf t.tar --mode=u+s --transform=s/t/s/ t; tar xpf t.tar; rm t t.tar')"
    )),
    Escape("give a file the rights of root's group", set_uid("os.getuid() or (open('s', 'w'), os.chmod('s', 0o2755))", 2), sure=False),
    Escape("mount", CALL.format(165, 40, "b'OUT_', b'OUT_', None, 4096, None"), sure=False),
    Escape("mount again with rights", shell("mount -o remount,rw,bind / && echo yellow-bird-3b1f7c"), sure=False),
    Escape("enter another namespace", CALL.format(308, 268, "-1, 0")),
    Escape("use io_uring", CALL.format(425, 425, "1, None")),
    Escape("use keys of the system", CALL.format(250, 219, "0, -3, 1")),
    Escape("load a program into the system", CALL.format(321, 280, "0, None, 0"), sure=False),
    Escape("handle faults of memory", CALL.format(323, 282, "0"), sure=False),
    Escape("watch the processor", CALL.format(298, 241, "None, 0, -1, -1, 0")),
    Escape("open by a handle", CALL.format(304, 265, "-1, None, 0"), sure=False),
    Escape("load a module", CALL.format(313, 273, "-1, b'', 0"), sure=False),
    Escape("get rights by a program of root", "print('' if 'NoNewPrivs:\\t1' in open('/proc/self/status').read() else LEAK_)"),
    Escape("have rights of root", "print('' if 'CapEff:\\t0000000000000000' in open('/proc/self/status').read() else LEAK_)", sure=False),
    Escape("change the system", opened("/proc/sys/kernel/core_pattern"), sure=False),
    Escape("change the hardware", opened("/sys/kernel/mm/transparent_hugepage/enabled"), sure=False),
    Escape("read the passwords of the system", opened("/etc/shadow", "r"), sure=False),
]  # fmt: skip

VSOCK = "import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); print(LEAK_)"
NETWORK = [
    Escape("speak to the host of a virtual machine", VSOCK, sure=False),
    Escape("speak to the host of a virtual machine", VSOCK, network=False, sure=False),
    Escape("connect", "import socket; socket.create_connection(('127.0.0.1', PORT_))", network=False),
    Escape("connect in a shell", shell("bash -c 'echo > /dev/tcp/127.0.0.1/PORT_'"), network=False),
    Escape("send a datagram", "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', UDP_))", network=False),
    Escape("connect without waiting", """
import socket
s = socket.socket()
s.setblocking(False)
s.connect_ex(("127.0.0.1", PORT_))
import time
time.sleep(0.05)
""", network=False),
    Escape("connect as version 6 does", "import socket; socket.socket(socket.AF_INET6).connect(('::ffff:127.0.0.1', PORT_))", network=False, sure=False),
    Escape("connect in another process", """
import multiprocessing, socket
def reach():
    socket.create_connection(("127.0.0.1", PORT_))
p = multiprocessing.Process(target=reach)
p.start()
p.join()
""", network=False),
    Escape("fetch a page", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:PORT_', timeout=0.2)", network=False),
    Escape("have a raw socket", "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print(LEAK_)", network=False, sure=False),
    Escape("connect to a socket", "import socket; socket.socket(socket.AF_UNIX).connect('TOP_/sock')", network=False),
    Escape("connect to a socket without a path", "import socket; socket.socket(socket.AF_UNIX).connect('\\0TOP_')", network=False),
    Escape("send a datagram to a socket", "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', 'TOP_/datagrams')", network=False),
    Escape("send a datagram as a raw one", "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_RAW).sendto(b'x', 'TOP_/datagrams')", network=False),
    Escape("send a datagram from a pair", "import socket; socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', 'TOP_/datagrams')", network=False),
]  # fmt: skip

ESCAPES = [*READS, *AROUND, *WRITES, *POWERS, *NETWORK]
