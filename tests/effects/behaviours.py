"""Programs that print how system calls behave: the same whether their effects are held or not."""

# Before each program. `tried` prints the result of a call, or the name of its error.
HEAD = """
import ctypes, errno, fcntl, json, os, resource, select, signal, socket, stat, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, call, *arguments, **options):
    try:
        result = call(*arguments, **options)
    except OSError as error:
        result = errno.errorcode.get(error.errno, error.errno)
    print(name, result)
    return result
def system(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result
def tree(where="."):
    for folder, folders, files in sorted(os.walk(where)):
        for name in sorted(folders + files):
            path = os.path.join(folder, name)
            found = os.lstat(path)
            to = os.readlink(path) if stat.S_ISLNK(found.st_mode) else ""
            print(path, oct(found.st_mode), found.st_size if stat.S_ISREG(found.st_mode) else "", found.st_nlink, to)
def write(path, text="x"):
    with open(path, "w") as file:
        file.write(text)
"""

# Each runs in an empty folder of its own.
BEHAVIOURS = {
    "umask": """
for mask in (0, 0o22, 0o77, 0o777, 0o137):
    os.umask(mask)
    os.close(os.open(f"f{mask}", os.O_CREAT | os.O_WRONLY, 0o1666))
    os.mkdir(f"d{mask}", 0o1777)
    os.mkfifo(f"p{mask}", 0o666)
    socket.socket(socket.AF_UNIX).bind(f"s{mask}")
    os.close(os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o666))
tree()
""",
    "flags of open": """
write("there", "0123456789")
os.symlink("there", "link"); os.symlink("nowhere", "dangling"); os.symlink("loop", "loop"); os.mkdir("folder")
os.symlink("folder", "to folder"); os.symlink("folder/new", "to new")
W, R, RW, C, X, T, N, D = (os.O_WRONLY, os.O_RDONLY, os.O_RDWR, os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_NOFOLLOW, os.O_DIRECTORY)
for path in ("there", "there/", "link", "dangling", "loop", "folder", "folder/", "to folder", "to folder/x", "to new",
             "new", "new/", "", "missing/x", ".", "..", "folder/..", "there/x", "/", "x" * 300, "a/" * 2100):
    for name, flags in dict(w=W, rw=RW, wc=W|C, rc=R|C, wcx=W|C|X, wt=W|T, rt=R|T, wn=W|N, wcn=W|C|N, wd=W|D, cd=R|C|D, three=3).items():
        def opened():
            fd = os.open(path, flags, 0o640)
            got = fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_NOFOLLOW, fcntl.fcntl(fd, fcntl.F_GETFD), os.fstat(fd).st_size
            os.close(fd)
            return got
        tried(f"{path[:20]!r} {name}", opened)
        for left in ("new", "nowhere", "folder/new", "to folder/x"):
            if os.path.exists(left):
                os.unlink(left); print("made", left)
        if os.stat("there").st_size != 10:
            write("there", "0123456789"); print("cut")
""",
    "close on exec and append": """
for flags in (0, os.O_CLOEXEC, os.O_APPEND, os.O_SYNC, os.O_NONBLOCK, os.O_NOATIME, os.O_DSYNC):
    got = libc.open(b"file", os.O_RDWR | os.O_CREAT | flags, 0o644)
    print(flags, got, fcntl.fcntl(got, fcntl.F_GETFD), fcntl.fcntl(got, fcntl.F_GETFL))
    os.close(got)
one = os.open("log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
two = os.open("log", os.O_APPEND | os.O_WRONLY)
for number in range(10):
    os.write(one, b"a%d" % number); os.write(two, b"b%d" % number)
print(open("log").read())
""",
    "names in directories": """
os.mkdir("d"); top = os.open("d", os.O_RDONLY); bare = os.open("d", os.O_PATH)
for at in (top, bare):
    tried("make", os.mkdir, "x", dir_fd=at)
    tried("link", os.symlink, "x", "l", dir_fd=at)
    tried("open", lambda: os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=at)))
    tried("up", lambda: os.close(os.open("../up", os.O_CREAT | os.O_WRONLY, dir_fd=at)))
    tried("rename", os.rename, "f", "g", src_dir_fd=at, dst_dir_fd=at)
    tried("hard", os.link, "g", "h", src_dir_fd=at, dst_dir_fd=at)
    tried("mode", os.chmod, "g", 0o600, dir_fd=at)
    tried("time", os.utime, "g", (5, 6), dir_fd=at)
    tried("fifo", os.mkfifo, "p", dir_fd=at)
    tree()
    for name in ("g", "h", "l", "p"):
        tried(name, os.unlink, name, dir_fd=at)
    tried("rmdir", os.rmdir, "x", dir_fd=at)
file = os.open("up", os.O_RDONLY)
tried("not a directory", os.mkdir, "x", dir_fd=file)
tried("no descriptor", os.mkdir, "x", dir_fd=999)
tried("absolute", os.mkdir, os.path.abspath("abs"), dir_fd=999)
os.rename("d", "moved")
tried("after a move", os.mkdir, "later", dir_fd=top)
tree()
""",
    "a file without a name": """
fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o640)
os.write(fd, b"text")
linkat = 265 if os.uname().machine == "x86_64" else 37
follow = lambda fd, name: system(linkat, ctypes.c_int(-100), b"/proc/self/fd/%d" % fd, ctypes.c_int(-100), name, ctypes.c_int(0x400))
tried("by path", follow, fd, b"named")
tried("by descriptor", system, linkat, ctypes.c_int(fd), b"", ctypes.c_int(-100), b"empty", ctypes.c_int(0x1000))
alone = os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_EXCL, 0o640)
tried("exclusive", follow, alone, b"exclusive")
tried("chmod", os.fchmod, fd, 0o604)
tried("in a file", os.open, "named", os.O_TMPFILE | os.O_RDWR)
tried("for reading", os.open, ".", os.O_TMPFILE)
tree()
""",
    "slashes at the end": """
write("f"); os.mkdir("d"); os.symlink("d", "l"); os.symlink("f", "k"); os.symlink("none", "n")
for path in ("f/", "d/", "l/", "k/", "n/", "new/", "new//", "./new/", "d/.", "d/..", "/"):
    for name, call in dict(mkdir=os.mkdir, rmdir=os.rmdir, unlink=os.unlink, mkfifo=os.mkfifo).items():
        tried(f"{name} {path}", call, path)
        if not os.path.isdir("d"): os.mkdir("d")
        if os.path.isdir("new"): os.rmdir("new"); print("made")
    tried(f"symlink {path}", os.symlink, "t", path)
    tried(f"link {path}", os.link, "f", path)
    tried(f"link of {path}", os.link, path, "linked")
    if os.path.lexists("linked"): os.unlink("linked")
    tried(f"chmod {path}", os.chmod, path, 0o755) if path != "/" else None
    tried(f"to {path}", os.rename, "f", path) if path != "/" else None
    tried(f"dir to {path}", os.rename, "d", path)
    tried(f"from {path}", os.rename, path, "other")
    tree()
    for name in ("other", "new", "d"):
        if os.path.isdir(name) and not os.path.islink(name): os.rmdir(name)
        elif os.path.lexists(name): os.unlink(name)
    os.mkdir("d")
    if not os.path.lexists("l"): os.symlink("d", "l")
    if not os.path.exists("f"): write("f")
""",
    "a deleted working directory": """
os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
tried("open", os.open, "f", os.O_CREAT | os.O_WRONLY)
tried("mkdir", os.mkdir, "d")
tried("unlink", os.unlink, "f")
tried("rename", os.rename, "f", "g")
tried("symlink", os.symlink, "f", "g")
tried("chmod", os.chmod, ".", 0o700)
tried("bind", lambda: socket.socket(socket.AF_UNIX).bind("s"))
tried("up", lambda: os.close(os.open("../up", os.O_CREAT | os.O_WRONLY)))
""",
    "limits": """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
fd = os.open("f", os.O_CREAT | os.O_WRONLY)
tried("write", os.write, fd, b"x" * 20)
tried("write more", os.write, fd, b"x" * 20)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
tried("longer", os.truncate, "f", 30)
tried("negative", os.truncate, "f", -1)
print(os.stat("f").st_size)
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (20, most))
opened = []
while tried(len(opened), os.open, "f", os.O_WRONLY) != "EMFILE":
    opened.append(0)
""",
    "pipes with names": """
os.mkfifo("p")
tried("no reader", os.open, "p", os.O_WRONLY | os.O_NONBLOCK)
got = []
def reading():
    with open("p", "rb") as pipe:
        got.append(pipe.read())
reader = threading.Thread(target=reading)
reader.start()
writer = os.open("p", os.O_WRONLY)
print(fcntl.fcntl(writer, fcntl.F_GETFL))
os.write(writer, b"through"); os.close(writer); reader.join()
print(got)
child = os.fork()
if child == 0:
    # Waits for the reader below.
    fd = os.open("p", os.O_WRONLY); os.write(fd, b"later"); os._exit(0)
os.mkdir("meanwhile"); write("other")
print(open("p", "rb").read(), os.waitpid(child, 0)[1])
both = os.open("p", os.O_RDWR | os.O_NONBLOCK)
tried("with both", lambda: os.close(os.open("p", os.O_WRONLY | os.O_NONBLOCK)))
""",
    "names of open files": """
out = os.dup(1)
read, written = os.pipe()
os.dup2(written, 1)
for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", f"/proc/{os.getpid()}/fd/1", "//dev/stdout"):
    with open(path, "w") as file:
        file.write(path.replace(str(os.getpid()), "PID") + " ")
os.dup2(out, 1)
print(os.read(read, 1000))
write("f", "abc")
fd = os.open("f", os.O_RDONLY)
with open(f"/proc/self/fd/{fd}", "r+") as again:
    again.write("X")
with open(f"/dev/fd/{fd}", "a") as again:
    again.write("Y")
print(open("f").read())
tried("missing", os.open, "/proc/self/fd/99", os.O_WRONLY)
os.mkdir("d"); at = os.open("d", os.O_PATH)
write(f"/proc/self/fd/{at}/below"); write("/proc/self/cwd/here"); tried("mkdir", os.mkdir, f"/proc/self/fd/{at}/made")
tried("terminal", os.open, "/dev/tty", os.O_RDWR)
for device in ("null", "zero", "full"):
    with open(f"/dev/{device}", "wb", buffering=0) as file:
        tried(device, file.write, b"x")
os.unlink("f")
with open(f"/proc/self/fd/{fd}", "r+") as again:
    again.write("Z")
print(os.pread(fd, 10, 0))
memory = os.memfd_create("m")
with open(f"/proc/self/fd/{memory}", "w") as again:
    again.write("in memory")
print(os.pread(memory, 20, 0))
tree()
""",
    "a terminal of its own": """
master, slave = os.openpty()
name = os.ttyname(slave)
with open(name, "w") as terminal:
    terminal.write("typed")
print(os.read(master, 20))
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(slave, 0x540E, 0)
    with open("/dev/tty", "w") as terminal:
        terminal.write("by tty")
    os._exit(0)
print(os.waitpid(child, 0)[1], os.read(master, 20))
""",
    "databases with several writers": """
import sqlite3
sqlite3.connect("db").execute("pragma journal_mode=wal").connection.execute("create table t (a, b)")
children = []
for number in range(3):
    children.append(os.fork())
    if children[-1] == 0:
        base = sqlite3.connect("db", timeout=60)
        for row in range(60):
            with base:
                base.execute("insert into t values (?, ?)", (number, row))
        base.close()
        os._exit(0)
print([os.waitpid(child, 0)[1] for child in children])
base = sqlite3.connect("db")
print(base.execute("select a, count(*), sum(b) from t group by a").fetchall(), base.execute("pragma integrity_check").fetchall())
base.execute("vacuum"); base.close()
plain = sqlite3.connect("plain"); plain.execute("create table t (x)"); plain.executemany("insert into t values (?)", [(n,) for n in range(100)]); plain.commit(); plain.close()
tree()
""",
    "locks": """
for round in range(60):
    one = os.open("l", os.O_CREAT | os.O_RDWR)
    fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB); os.close(one)
print("flock")
one = os.open("l", os.O_RDWR); two = os.open("l", os.O_RDWR)
fcntl.flock(one, fcntl.LOCK_EX); tried("second", fcntl.flock, two, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.close(one); tried("after close", fcntl.flock, two, fcntl.LOCK_EX | fcntl.LOCK_NB)
def locked_by_child():
    child = os.fork()
    if child == 0:
        try:
            fcntl.lockf(os.open("p", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
posix = os.open("p", os.O_CREAT | os.O_RDWR)
fcntl.lockf(posix, fcntl.LOCK_EX)
print(locked_by_child()); other = os.open("p", os.O_RDWR); print(locked_by_child()); os.close(other); print(locked_by_child())
busy = 0
for round in range(60):
    fd = os.open("prog", os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o755)
    os.write(fd, b"#!/bin/true\\n"); os.close(fd)
    child = os.fork()
    if child == 0:
        try:
            os.execv("./prog", ["prog"])
        except OSError as error:
            os._exit(error.errno)
    busy += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == errno.ETXTBSY
print("busy", busy)
""",
    "unix sockets": """
server = socket.socket(socket.AF_UNIX); server.bind("s"); server.listen(1)
print(server.getsockname(), oct(os.stat("s").st_mode))
client = socket.socket(socket.AF_UNIX); client.connect("s")
there, _ = server.accept()
print(client.getpeername(), there.getsockname(), struct.unpack("3i", there.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1:])
client.sendall(b"hello"); print(there.recv(10))
write("f", "passed")
fd = os.open("f", os.O_RDONLY)
print(socket.send_fds(client, [b"file"], [fd]))
data, fds, _, _ = socket.recv_fds(there, 10, 2)
print(data, os.read(fds[0], 10))
tried("bad descriptor", socket.send_fds, client, [b"file"], [999])
tried("again", socket.socket(socket.AF_UNIX).bind, "s")
tried("missing", socket.socket(socket.AF_UNIX).connect, "none")
tried("no socket", socket.socket(socket.AF_UNIX).connect, "f")
tried("wrong kind", socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect, "s")
one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); one.bind("one")
two = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); two.bind("two")
print(two.sendto(b"datagram", "one"), one.recvfrom(20))
print(two.sendmsg([b"a", b"b"], [], 0, "one"), one.recvfrom(20))
auto = socket.socket(socket.AF_UNIX)
there.close(); tried("closed", client.send, b"x")
tried("message", client.sendmsg, [b"x"])
os.unlink("s"); tried("unlinked", socket.socket(socket.AF_UNIX).connect, "s")
queue = socket.socket(socket.AF_UNIX); queue.bind("q"); queue.listen(0)
waiting = [socket.socket(socket.AF_UNIX) for _ in range(3)]
for one in waiting:
    one.setblocking(False)
    tried("queued", one.connect, "q")
""",
    "internet sockets": """
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(5)
address = server.getsockname()
client = socket.socket(); tried("connect", client.connect, address)
there, peer = server.accept(); print(peer == client.getsockname())
client.sendall(b"x" * 3000000) if False else client.sendall(b"hello"); print(there.recv(10))
tried("again", client.connect, address)
quick = socket.socket(); quick.setblocking(False)
print(errno.errorcode.get(quick.connect_ex(address), 0))
print([one.fileno() == quick.fileno() for one in select.select([], [quick], [], 5)[1]], quick.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
closed = socket.socket(); closed.bind(("127.0.0.1", 0)); nobody = closed.getsockname(); closed.close()
tried("refused", socket.socket().connect, nobody)
refused = socket.socket(); refused.setblocking(False); refused.connect_ex(nobody)
select.select([], [refused], [], 5); print(errno.errorcode.get(refused.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)))
timed = socket.socket(); timed.settimeout(5); tried("with a timeout", timed.connect, address)
print(fcntl.fcntl(timed, fcntl.F_GETFL) & os.O_NONBLOCK, client.getblocking(), fcntl.fcntl(client, fcntl.F_GETFL) & os.O_NONBLOCK)
one = socket.socket(type=socket.SOCK_DGRAM); one.bind(("127.0.0.1", 0))
two = socket.socket(type=socket.SOCK_DGRAM); two.bind(("127.0.0.1", 0))
print(two.sendto(b"datagram", one.getsockname()), one.recvfrom(20) == (b"datagram", two.getsockname()))
print(two.sendmsg([b"a", b"b"], [], 0, one.getsockname()), one.recvfrom(20)[0])
two.connect(one.getsockname()); print(two.send(b"connected"), one.recv(20))
print(two.sendmsg([b"in pieces"]), one.recv(20))
tried("too long", two.send, b"x" * 70000)
tried("too long a message", two.sendmsg, [b"x" * 70000])
tried("in use", socket.socket().bind, address)
tried("no socket", lambda: socket.socket(fileno=os.open(".", 0)))
tried("short", lambda: system(42 if os.uname().machine == "x86_64" else 203, ctypes.c_int(client.fileno()), b"x", 1))
lone = socket.socket(); lone.listen(); print(lone.getsockname()[0])
if socket.has_ipv6:
    six = socket.socket(socket.AF_INET6); tried("six", six.bind, ("::1", 0)); six.listen()
    tried("to six", socket.socket(socket.AF_INET6).connect, six.getsockname())
class Header(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("name_size", ctypes.c_int), ("parts", ctypes.c_void_p), ("count", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_size", ctypes.c_size_t), ("flags", ctypes.c_size_t), ("length", ctypes.c_size_t)]
data = ctypes.create_string_buffer(b"many")
part = (ctypes.c_void_p * 2)(ctypes.addressof(data), 4)
headers = (Header * 3)(*(Header(None, 0, ctypes.addressof(part), 1, None, 0, 0, 0) for _ in range(3)))
print(libc.sendmmsg(two.fileno(), headers, 3, 0), [one.length for one in headers], [one_.decode() for one_ in (one.recv(9), one.recv(9), one.recv(9))])
""",
    "a stream that is full": """
one, two = socket.socketpair()
sent = []
def sending():
    for number in range(40):
        data = bytes([number]) * 30000
        while data:
            data = data[one.sendmsg([data]):]
    one.close()
thread = threading.Thread(target=sending); thread.start()
received = b""
while piece := two.recv(1 << 20):
    received += piece
thread.join()
print(len(received), received == b"".join(bytes([n]) * 30000 for n in range(40)))
one, two = socket.socketpair(); one.setblocking(False)
try:
    while True: one.sendmsg([b"x" * 100000])
except BlockingIOError: print("full")
""",
    "kinds of rename": """
rename = lambda old, new, flags: system(316 if os.uname().machine == "x86_64" else 276, ctypes.c_int(-100), old, ctypes.c_int(-100), new, ctypes.c_uint(flags))
for flags in (0, 1, 2, 3, 4, 8):
    write("a", "first"); write("b", "second"); os.makedirs("d/e"); os.mkdir("empty"); os.symlink("a", "l")
    for old, new in ((b"a", b"b"), (b"a", b"new"), (b"none", b"b"), (b"a", b"none/x"), (b"d", b"empty"), (b"empty", b"d"), (b"d", b"d/e/f"), (b"b", b"d"), (b"d", b"b"), (b"b", b"b"), (b"l", b"b"), (b".", b"x"), (b"..", b"x"), (b"b", b".."), (b"b", b"")):
        tried(f"{flags} {old} {new}", rename, old, new, flags)
    tree()
    import shutil
    for name in os.listdir():
        shutil.rmtree(name) if os.path.isdir(name) and not os.path.islink(name) else os.unlink(name)
""",
    "links": """
write("f", "text"); os.mkdir("d"); os.symlink("f", "l"); os.symlink("none", "n")
for source in ("f", "l", "n", "d", "none", "", "l/"):
    for follow in (True, False):
        tried(f"{source} {follow}", os.link, source, "new", follow_symlinks=follow)
        if os.path.lexists("new"):
            print(os.path.islink("new"), os.lstat("new").st_nlink); os.unlink("new")
tried("there", os.link, "f", "d"); tried("no folder", os.link, "f", "x/y")
tried("empty", os.symlink, "", "e"); tried("long", os.symlink, "x" * 5000, "e"); tried("there", os.symlink, "x", "l")
tree()
""",
    "attributes": """
write("f"); os.symlink("f", "l"); os.mkdir("d")
for name, call in dict(set=lambda p, **o: os.setxattr(p, "user.a", b"value", **o), create=lambda p, **o: os.setxattr(p, "user.a", b"v", os.XATTR_CREATE, **o), replace=lambda p, **o: os.setxattr(p, "user.b", b"v", os.XATTR_REPLACE, **o), long=lambda p, **o: os.setxattr(p, "user." + "x" * 300, b"v", **o), big=lambda p, **o: os.setxattr(p, "user.big", b"x" * 70000, **o), none=lambda p, **o: os.setxattr(p, "nothing", b"x", **o), remove=lambda p, **o: os.removexattr(p, "user.a", **o)).items():
    for path in ("f", "d", "l", "none"):
        tried(f"{name} {path}", call, path)
        tried(f"{name} {path} itself", call, path, follow_symlinks=False)
    fd = os.open("f", os.O_RDONLY); tried(f"{name} descriptor", call, fd); os.close(fd)
    bare = os.open("f", os.O_PATH); tried(f"{name} bare", call, bare); os.close(bare)
    print(os.listxattr("f"), os.listxattr("d"))
fd = os.open("f", os.O_RDONLY); bare = os.open("f", os.O_PATH)
for target in ("f", "d", "l", "none", fd, bare, 99):
    for mode in (0o600, 0o1777, 0o100644):
        tried(f"chmod {target} {oct(mode)}", os.chmod, target, mode)
    tried(f"chown {target}", os.chown, target, -1, -1)
    tried(f"chown {target}", os.chown, target, os.getuid(), os.getgid())
tried("lchown", os.lchown, "l", -1, os.getgid())
tree()
""",
    "times": """
write("f"); os.symlink("f", "l")
fd = os.open("f", os.O_RDONLY); bare = os.open("f", os.O_PATH)
for target in ("f", "l", "none", fd, bare, 99):
    tried(f"{target}", os.utime, target, ns=(1234567890123456789, 987654321987654321)); print(os.lstat("f").st_mtime_ns // 1000000000000)
    tried(f"{target} now", os.utime, target); print(abs(os.lstat("f").st_mtime - time.time()) < 5)
os.utime("l", (1, 2), follow_symlinks=False); print(os.lstat("l").st_mtime, os.stat("f").st_mtime > 1000)
if os.uname().machine == "x86_64":
    tried("utimes", system, 235, b"f", struct.pack("4q", 1, 2, 3, 4)); print(os.stat("f").st_mtime_ns)
    tried("utime", system, 132, b"f", struct.pack("2q", 7, 8)); print(os.stat("f").st_mtime_ns)
    tried("futimesat", system, 261, ctypes.c_int(-100), b"l", struct.pack("4q", 9, 1, 10, 2)); print(os.stat("f").st_mtime_ns)
    for part in (-1, 1000000, 1 << 60):
        tried(f"part {part}", system, 235, b"f", struct.pack("4q", 1, part, 3, part)); print(os.stat("f").st_mtime_ns)
number = 280 if os.uname().machine == "x86_64" else 88
for pair in (((1 << 30) - 1, (1 << 30) - 2), ((1 << 30) - 2, (1 << 30) - 2), (5, 1 << 31), (5, 6)):
    tried(f"{pair}", system, number, ctypes.c_int(-100), b"f", struct.pack("4q", 50, pair[0], 60, pair[1]), ctypes.c_int(0))
    print(os.stat("f").st_mtime_ns)
tried("flags", system, number, ctypes.c_int(-100), b"f", None, ctypes.c_int(0x8000))
tried("nobody", system, number, ctypes.c_int(99), None, None, ctypes.c_int(0))
""",
    "nodes": """
for mode in (0, stat.S_IFREG, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFDIR, stat.S_IFLNK, 0o170000):
    tried(oct(mode), os.mknod, f"n{mode}", mode | 0o640)
tried("device", os.mknod, "dev", stat.S_IFCHR | 0o600, os.makedev(1, 3))
tried("there", os.mknod, "n0", 0o600); tried("no folder", os.mkfifo, "x/y")
tree()
""",
    "bad addresses": """
x86 = os.uname().machine == "x86_64"
for name, number in dict(openat=257 if x86 else 56, mkdirat=258 if x86 else 34, unlinkat=263 if x86 else 35).items():
    tried(name, system, number, ctypes.c_int(-100), ctypes.c_void_p(8), ctypes.c_int(0o1000 if name == "unlinkat" else 0o101), ctypes.c_int(0))
alone, (one, two) = socket.socket(), socket.socketpair()
tried("connect", system, 42 if x86 else 203, ctypes.c_int(alone.fileno()), ctypes.c_void_p(8), 16)
tried("sendmsg", system, 46 if x86 else 211, ctypes.c_int(one.fileno()), ctypes.c_void_p(8), 0)
tried("no socket", system, 42 if x86 else 203, ctypes.c_int(0), struct.pack("=HH4s8x", 2, 80, bytes(4)), 16)
tried("no descriptor", system, 42 if x86 else 203, ctypes.c_int(99), struct.pack("=HH4s8x", 2, 80, bytes(4)), 16)
tried("unlinkat flags", system, 263 if x86 else 35, ctypes.c_int(-100), b"x", ctypes.c_int(0x100))
tried("linkat flags", system, 265 if x86 else 37, ctypes.c_int(-100), b"x", ctypes.c_int(-100), b"y", ctypes.c_int(0x40))
""",
    "signals and limits of its own": """
tried("itself", os.kill, os.getpid(), 0)
child = os.fork()
if child == 0:
    signal.pause(); os._exit(0)
tried("is there", os.kill, child, 0); tried("child", os.kill, child, signal.SIGTERM)
print(os.waitpid(child, 0)[1]); tried("gone", os.kill, child, 0); tried("ended", os.kill, child, signal.SIGTERM)
tried("nobody", os.kill, 4194300, 0)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    if os.fork() == 0:
        signal.pause()
    os._exit(0)
os.waitpid(child, 0)
tried("a group without its leader", os.killpg, child, signal.SIGKILL)
tried("no group", os.killpg, 4194300, 0)
print(resource.prlimit(0, resource.RLIMIT_CORE)[0])
tried("nice", os.setpriority, os.PRIO_PROCESS, 0, 1); print(os.nice(0))
tried("processors", os.sched_setaffinity, threading.get_native_id(), os.sched_getaffinity(0))
tried("schedule", os.sched_setscheduler, 0, os.SCHED_BATCH, os.sched_param(0))
signal.pthread_kill(threading.main_thread().ident, 0)
fired = []
signal.signal(signal.SIGIO, lambda *_: fired.append(1))
one, two = socket.socketpair(); fcntl.fcntl(one, fcntl.F_SETOWN, os.getpid()); print(fcntl.fcntl(one, fcntl.F_GETOWN) == os.getpid())
fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC); two.send(b"x")
for _ in range(1000): os.getpid()
print(fired)
""",
    "threads at once": """
import concurrent.futures
def work(number):
    os.mkdir(f"d{number}")
    for at in range(20):
        write(f"d{number}/f{at}", str(at)); os.rename(f"d{number}/f{at}", f"d{number}/g{at}")
    for at in range(0, 20, 2):
        os.unlink(f"d{number}/g{at}")
    return sorted(os.listdir(f"d{number}"))
with concurrent.futures.ThreadPoolExecutor(12) as pool:
    print([len(one) for one in pool.map(work, range(24))])
tree()
""",
}

RUN_ALL = """
import json, os, signal, sys
with open(sys.argv[1]) as file:
    head, programs = json.load(file)
found = {}
for number, (name, code) in enumerate(programs.items()):
    folder = f"{sys.argv[2]}/{number}"
    os.makedirs(folder); os.chdir(folder)
    read, written = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.dup2(written, 1); os.dup2(written, 2); os.close(written)
        sys.stdout = sys.stderr = open(1, "w", closefd=False)
        signal.alarm(30)
        try:
            exec(head + code, {"__name__": "program"})
        except BaseException:
            import traceback
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(0)
    os.close(written)
    with open(read, errors="replace") as output:
        found[name] = output.read()
    if status := os.waitpid(child, 0)[1]:
        found[name] += f"ended with {status}"
sys.stdout.write("\\n" + json.dumps(found))
"""
