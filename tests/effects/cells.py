"""Programs that change, delete, send or reach what is not theirs, by classes.

Each cell runs in a folder of its own with files of a user: `keep`, `ro`, `dir/inner`, the links `link` (to
`keep`) and `todir` (to `dir`), the empty folder `empty`, and the Unix sockets `sock` and `datagrams`, at which
the test listens. Names in capitals are given: HERE, N (its number), HOST and PORT, VICTIM (a process), OUT.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """Code that does harm where nothing holds it.

    An effect that is `reported` is asked about; others fail in the filter, or are the sandbox's to refuse. What
    is not `sure` does no harm on each machine.
    """

    name: str
    code: str
    reported: bool = True
    sure: bool = True


# How a target is named: what comes first, the expression for its path, and options of the call.
NAMED = {
    "plain": ("", "{0!r}", ""),
    "absolute": ("", "HERE + '/' + {0!r}", ""),
    "dotted": ("", "'./dir/.././' + {0!r}", ""),
    "slashes": ("", "'/' + HERE.replace('/', '//') + '//' + {0!r}", ""),
    "up": ("", "'../' + os.path.basename(HERE) + '/' + {0!r}", ""),
    "many dots": ("", "'./' * 1500 + {0!r}", ""),
    "cwd link": ("", "'/proc/self/cwd/' + {0!r}", ""),
    "cwd link of the thread": ("", "'/proc/thread-self/cwd/' + {0!r}", ""),
    "cwd link by number": ("", "f'/proc/{{os.getpid()}}/cwd/' + {0!r}", ""),
    "root link": ("", "'/proc/self/root' + HERE + '/' + {0!r}", ""),
    "linked folder": ("os.symlink(HERE, 'way'); ", "'way/' + {0!r}", ""),
    "chain of links": (
        "[os.symlink(HERE if not n else f'way{{n - 1}}', f'way{{n}}') for n in range(5)]; ", "'way4/' + {0!r}", ""
    ),
    "relative to a descriptor": ("at = os.open('.', os.O_RDONLY); os.chdir('/'); ", "{0!r}", "dir_fd=at"),
    "relative to a bare descriptor": ("at = os.open('dir', os.O_PATH); os.chdir('/'); ", "'../' + {0!r}", "dir_fd=at"),
    "below a descriptor": ("at = os.open('.', os.O_PATH); os.chdir('/'); ", "f'/proc/self/fd/{{at}}/' + {0!r}", ""),
    "below /dev/fd": ("at = os.open('.', os.O_RDONLY); ", "f'/dev/fd/{{at}}/' + {0!r}", ""),
}  # fmt: skip
# Only for calls that follow links.
FOLLOWED = {
    "link": ("os.symlink({0!r}, 'own link'); ", "'own link'", ""),
    "open file": ("held = os.open({0!r}, os.O_RDONLY); ", "f'/proc/self/fd/{{held}}'", ""),
    "open file of /dev": ("held = os.open({0!r}, os.O_RDONLY); ", "f'/dev/fd/{{held}}'", ""),
    "bare file": ("held = os.open({0!r}, os.O_PATH); ", "f'/proc/self/fd/{{held}}'", ""),
    "open file by number": ("held = os.open({0!r}, os.O_PATH); ", "f'/proc/{{os.getpid()}}/fd/{{held}}'", ""),
    "link to an open file": (
        "held = os.open({0!r}, os.O_PATH); os.symlink(f'/proc/self/fd/{{held}}', 'own'); ", "'own'", ""
    ),
}  # fmt: skip

# Calls of a path, by what they do to it. `{p}` is the path, `{o}` options.
CHANGES = {
    "open to write": ("os.write(os.open({p}, os.O_WRONLY{oc}), b'harm')", "keep"),
    "open to update": ("os.write(os.open({p}, os.O_RDWR{oc}), b'harm')", "keep"),
    "open to append": ("os.write(os.open({p}, os.O_WRONLY | os.O_APPEND{oc}), b'harm')", "keep"),
    "empty by reading": ("os.open({p}, os.O_RDONLY | os.O_TRUNC{oc})", "keep"),
    "create again": ("os.write(os.open({p}, os.O_CREAT | os.O_WRONLY | os.O_TRUNC{oc}), b'harm')", "keep"),
    "map": (
        "import mmap; held_ = os.open({p}, os.O_RDWR{oc}); mmap.mmap(held_, 4)[:] = b'harm'", "keep"
    ),
    "permit": ("os.chmod({p}, 0o777{oc})", "keep"),
    "permit a folder": ("os.chmod({p}, 0o777{oc})", "dir"),
    "date": ("os.utime({p}, (1, 2){oc})", "keep"),
}  # fmt: skip
PLAIN_CHANGES = {
    "cut": ("os.truncate({p}, 1)", "keep"),
    "label": ("os.setxattr({p}, 'user.harm', b'x')", "keep"),
    "unlabel": ("os.removexattr({p}, 'user.label')", "keep"),
    "make a database": ("import sqlite3; sqlite3.connect({p}).execute('create table harm (x)')", "void"),
    "save by pickle": ("import pickle; pickle.dump(1, open({p}, 'wb'))", "keep"),
}  # fmt: skip
REMOVALS = {
    "delete": ("os.unlink({p}{oc})", "keep"),
    "delete a folder": ("os.rmdir({p}{oc})", "empty"),
    "delete a link": ("os.unlink({p}{oc})", "link"),
    "delete below": ("os.unlink({p}{oc})", "dir/inner"),
    "move away": ("os.rename({p}, HERE + '/gone'{src})", "keep"),
    "move a folder": ("os.rename({p}, HERE + '/gone'{src})", "dir"),
    "replace": ("open(HERE + '/fresh', 'w').close(); os.replace(HERE + '/fresh', {p}{dst})", "keep"),
    "replace by a link": ("os.symlink('nowhere', HERE + '/fresh'); os.rename(HERE + '/fresh', {p}{dst})", "keep"),
    "link and write": ("os.link({p}, HERE + '/second'{src}); open(HERE + '/second', 'w').write('harm')", "keep"),
    "move back and delete": (
        "os.makedirs(HERE + '/mine'); os.rename({p}, HERE + '/mine/it'{src}); os.unlink(HERE + '/mine/it')", "keep"
    ),
}  # fmt: skip


def _called(template: str, target: str, named: tuple[str, str, str]) -> str:
    first, path, options = named
    comma = f", {options}" if options else ""
    filled = template.format(
        p=path.format(target),
        oc=comma,
        src=comma.replace("dir_fd", "src_dir_fd"),
        dst=comma.replace("dir_fd", "dst_dir_fd"),
    )
    return first.format(target) + filled


def _by_python() -> Iterator[Cell]:
    for what, (template, target) in CHANGES.items():
        for how, named in {**NAMED, **FOLLOWED}.items():
            yield Cell(f"{what}, {how}", _called(template, target, named))
    for what, (template, target) in PLAIN_CHANGES.items():
        for how, named in {**NAMED, **FOLLOWED}.items():
            if not named[2]:
                yield Cell(f"{what}, {how}", _called(template, target, named))
    for what, (template, target) in REMOVALS.items():
        for how, named in NAMED.items():
            yield Cell(f"{what}, {how}", _called(template, target, named))


# System calls by their names with arguments as they are on a 64-bit machine; `P` is a path, `F` a descriptor that is
# open for reading, `A` the folder's.
RAW = {
    "open": ["P, 0o1001, 0"], "creat": ["P, 0o600"], "openat": ["-100, P, 0o1, 0", "A, K, 0o2, 0", "-100, P, 0o1000, 0", "-100, P, 3, 0"],
    "truncate": ["P, 1"], "chmod": ["P, 0o777"], "fchmod": ["F, 0o777"], "fchmodat": ["-100, P, 0o777", "A, K, 0o777"],
    "fchmodat2": ["-100, P, 0o777, 0", "A, K, 0o777, 0x100", "F, b'', 0o777, 0x1000"],
    "utime": ["P, T"], "utimes": ["P, T"], "futimesat": ["-100, P, T", "A, K, T", "F, None, T"],
    "utimensat": ["-100, P, T, 0", "A, K, T, 0", "F, None, T, 0", "-100, P, T, 0x100", "F, b'', T, 0x1000"],
    "setxattr": ["P, b'user.harm', b'x', 1, 0"], "lsetxattr": ["P, b'user.harm', b'x', 1, 0"], "fsetxattr": ["F, b'user.harm', b'x', 1, 0"],
    "removexattr": ["P, b'user.label'"], "lremovexattr": ["P, b'user.label'"], "fremovexattr": ["F, b'user.label'"],
    "unlink": ["P"], "unlinkat": ["-100, P, 0", "A, K, 0", "A, b'empty', 0x200"], "rmdir": ["b'empty'"],
    "rename": ["P, b'gone'", "b'ro', P"], "renameat": ["-100, P, -100, b'gone'", "A, K, A, b'gone'"],
    "renameat2": ["-100, P, -100, b'gone', 0", "-100, P, A, b'gone', 1", "-100, P, -100, b'ro', 2"],
    "link": ["P, b'second'"], "linkat": ["-100, P, -100, b'second', 0", "A, K, -100, b'second', 0x400", "F, b'', -100, b'second', 0x1000"],
}  # fmt: skip
RAW_PATHS = {
    "plain": "b'keep'",
    "absolute": "(HERE + '/keep').encode()",
    "cwd link": "b'/proc/self/cwd/keep'",
    "at the end of a page": "at_end_of_page(b'keep')",
}
SIGNED = "sys.exit('no such call') if {name!r} not in NUMBERS else print(system({name!r}, {arguments}))"


def _by_number() -> Iterator[Cell]:
    for name, forms in RAW.items():
        for form in forms:
            for how, path in RAW_PATHS.items() if "P" in form else [("", "b''")]:
                first = f"P = {path}; K = b'keep'; A = os.open('.', os.O_RDONLY); F = os.open('keep', os.O_RDONLY); T = bytes(32)\n"
                harmless = "second" in form or name == "openat"
                yield Cell(
                    f"{name}({form}) {how}",
                    first + SIGNED.format(name=name, arguments=form),
                    sure=not harmless and name not in ("fchmodat2", "utimensat"),
                )


SHELL = {
    "rm": "rm -f keep", "rm -r": "rm -rf dir", "unlink": "unlink keep", "rmdir": "rmdir empty", "find": "find . -name keep -delete",
    "find -exec": "find . -name inner -exec rm {} +", "xargs": "echo keep | xargs rm", "mv": "mv keep gone", "mv over": "echo harm > fresh; mv -f fresh keep",
    "cp over": "cp ro keep", "cp --remove": "cp --remove-destination ro keep", "install": "install -m 777 ro keep", "write": "echo harm > keep", "append": "echo harm >> keep", "both": "echo harm >| keep",
    "update": "echo harm 1<> keep", "by descriptor": "exec 7<keep; echo harm > /proc/self/fd/7", "by /dev/fd": "exec 7<keep; echo harm > /dev/fd/7", "null": ": > keep",
    "tee": "echo harm | tee keep", "tee -a": "echo harm | tee -a keep", "dd": "dd if=/dev/zero of=keep bs=1 count=3 conv=notrunc", "sed": "sed -i s/a/b/ keep", "sort": "sort -o keep ro",
    "truncate": "truncate -s 1 keep", "chmod": "chmod 777 keep", "chmod -R": "chmod -R 777 dir", "touch": "touch -t 200001010000 keep", "ln": "ln -f ro keep", "ln -s": "ln -sf nowhere keep",
    "ln and write": "ln keep second && echo harm > second", "awk": "awk 'BEGIN { print \"harm\" > \"keep\" }'", "gzip": "gzip keep", "shred": "shred -n 1 keep",
    "tar": "mkdir t && echo harm > t/keep && tar -C t -cf a.tar keep && tar -xf a.tar", "split": "cp -p ro xaa2; split -b 1 ro; mv xaa keep", "patch": "printf -- '--- keep\\n+++ keep\\n@@ -1 +1 @@\\n-as it was\\n+harm\\n' | patch -s keep",
    "git": "git init -q . && git add keep && echo x > x && git -c user.name=a -c user.email=a commit -qm a && git rm -qf keep", "perl": "perl -e 'unlink \"keep\"'", "perl open": "perl -e 'open F, \">keep\"; print F \"harm\"'",
    "python": "$PYTHON -c 'open(\"keep\", \"w\").write(\"harm\")'", "setfattr": "$PYTHON -c 'import os; os.setxattr(\"keep\", \"user.harm\", b\"x\")'", "make": "printf 'all:\\n\\trm keep\\n' > Makefile && make -s",
}  # fmt: skip
# Programs that may be missing.
UNSURE = {"patch", "git", "perl", "perl open", "make", "shred", "split", "gzip"}
AROUND = {
    "": "{0}",
    "in a subshell": "( {0} )",
    "in the background": "{{ {0}; }} & wait",
    "by another shell": "sh -c {1}",
    "in a session of its own": "setsid -w sh -c {1}",
    "after its parent": "( ( sleep 0; {0}; : > daemon ) & ) ; while ! [ -e daemon ]; do sleep 0.02; done",
    "in a substitution": 'echo "$( {0} )"',
}


def _by_shell() -> Iterator[Cell]:
    for at, (what, command) in enumerate(SHELL.items()):
        for index, (how, around) in enumerate(AROUND.items()):
            # Each with the plain way and with half of the others.
            if index and (at + index) % 2:
                continue
            filled = around.format(command, "'" + command.replace("'", "'\\''") + "'")
            yield Cell(f"shell: {what} {how}".strip(), f"shell({filled!r})", sure=what not in UNSURE)


# Names in capitals are given: WHERE and PORT of a server, VICTIM.
PERL = {
    "unlink": "unlink 'keep'", "rename": "rename 'keep', 'gone'", "rename over": "rename 'ro', 'keep'", "open": "open my $f, '>', 'keep'; print $f 'harm'",
    "append": "open my $f, '>>', 'keep'; print $f 'harm'", "update": "open my $f, '+<', 'keep'; print $f 'harm'", "sysopen": "use Fcntl; sysopen my $f, 'keep', O_WRONLY|O_TRUNC",
    "truncate": "truncate 'keep', 1", "chmod": "chmod 0777, 'keep'", "utime": "utime 1, 1, 'keep'", "rmdir": "rmdir 'empty'", "link": "link 'keep', 'second'; open my $f, '>', 'second'; print $f 'harm'",
    "reopen": "open my $g, '<', 'keep'; open my $f, '>', '/proc/self/fd/' . fileno $g; print $f 'harm'", "chmod by a descriptor": "open my $g, '<', 'keep'; chmod 0777, $g", "remove all": "use File::Path; File::Path::remove_tree('dir')",
    "in place": "local ($^I, @ARGV) = ('', 'keep'); while (<>) { print 'harm' }", "by a glob": "unlink grep { /keep/ } glob('*')", "by a pipe": "open my $f, '|-', 'tee keep >/dev/null'; print $f 'harm'; close $f",
    "by a program": "system 'rm', '-f', 'keep'", "by a shell": "system 'echo harm > keep'", "by ticks": "my $x = `rm -f keep`", "by exec": "exec 'rm', '-f', 'keep'",
    "copy": "use File::Copy; copy('ro', 'keep'); chmod 0777, 'keep'", "move": "use File::Copy; move('dir', 'gone')", "by eval": "eval q(unlink 'ke' . 'ep')", "at the end": "END { unlink 'keep' } 1",
    "when an object dies": "package A; sub DESTROY { unlink 'keep' } package main; { my $x = bless [], 'A'; }", "by a signal": "$SIG{USR1} = sub { unlink 'keep' }; kill 'USR1', $$; select undef, undef, undef, 0.1",
    "connect": "use IO::Socket; my $s = IO::Socket::INET->new(PeerAddr => WHERE, PeerPort => PORT); print $s 'harm'", "connect to a path": "use Socket; socket my $s, AF_UNIX, SOCK_STREAM, 0; connect $s, sockaddr_un('sock')",
    "send": "use Socket; socket my $s, AF_INET, SOCK_DGRAM, 0; send $s, \"harm NUMBER\\n\", 0, sockaddr_in(PORT, inet_aton(WHERE))",
}  # fmt: skip
AROUND_PERL = {
    "": "{0}",
    "in a child": "my $child = fork; if (!$child) {{ {0}; exit }} waitpid $child, 0",
    "in a session of its own": "use POSIX (); my $child = fork; if (!$child) {{ POSIX::setsid(); {0}; exit }} waitpid $child, 0",
}


def _by_perl() -> Iterator[Cell]:
    # What is run where it stands replaces or ends the program.
    alone = ("by exec", "at the end")
    for what, code in PERL.items():
        for how, around in AROUND_PERL.items():
            if how and what in alone:
                continue
            filled = around.format(code)
            given = f"{filled!r}.replace('WHERE', repr(HOST)).replace('PORT', str(PORT)).replace('NUMBER', str(N))"
            yield Cell(f"perl: {what} {how}".strip(), f"perl({given})")


ACTS = {
    "write": "open('keep', 'w').write('harm')",
    "delete": "os.unlink('keep')",
    "rename": "os.rename('dir', 'gone')",
    "permit": "os.chmod('keep', 0o777)",
    "date": "os.utime('keep', (1, 1))",
    "cut": "os.truncate('keep', 0)",
}
FROM = {
    "a thread": "thread = threading.Thread(target=lambda: ({0})); thread.start(); thread.join()",
    "a child": "child = os.fork()\nif child == 0:\n    try:\n        {0}\n    finally:\n        os._exit(0)\nos.waitpid(child, 0)",
    "a grandchild whose parent is gone": (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        try:\n            {0}\n        finally:\n"
        "            open('daemon', 'w').close()\n    os._exit(0)\nos.wait()\nwait_for('daemon')"
    ),
    "another program": "import subprocess; subprocess.run([PYTHON, '-c', 'import os; ' + {0!r}], stderr=2)",
    "a program in memory": (
        "program = os.memfd_create('p'); os.write(program, open(PYTHON, 'rb').read())\n"
        "if os.fork() == 0:\n    os.execve(program, [PYTHON, '-c', 'import os; ' + {0!r}], dict(os.environ))\nos.wait()"
    ),
    "a vforked program": "os.posix_spawn(PYTHON, [PYTHON, '-c', 'import os; ' + {0!r}], dict(os.environ)); os.wait()",
    "a cloned child": (
        "child = system('clone', 17, None, None, None, None)\nif child == 0:\n    try:\n        {0}\n    finally:\n        os._exit(0)\n"
        "os.waitpid(child, 0)"
    ),
    "a child in another group": (
        "child = os.fork()\nif child == 0:\n    os.setpgid(0, 0); os.umask(0)\n    try:\n        {0}\n    finally:\n        os._exit(0)\n"
        "os.waitpid(child, 0)"
    ),
    "a thread whose process has ended its main thread": (
        "child = os.fork()\nif child == 0:\n    def later():\n        try:\n            {0}\n        finally:\n"
        "            open('daemon', 'w').close(); os._exit(0)\n    threading.Thread(target=later).start()\n"
        "    libc.syscall(ctypes.c_long(60 if X86 else 93), 0)\nwait_for('daemon'); os.wait()"
    ),
    "a signal's handler": (
        "signal.signal(signal.SIGUSR1, lambda *_: ({0})); os.kill(os.getpid(), signal.SIGUSR1); time.time()"
    ),
    "a process that hides its memory": "libc.prctl(4, 0, 0, 0, 0); {0}",
    "a process with a filter of its own": (
        "libc.prctl(38, 1, 0, 0, 0); allow = struct.pack('HBBI', 6, 0, 0, 0x7fff0000); buffer = ctypes.create_string_buffer(allow)\n"
        "program = struct.pack('=H6xQ', 1, ctypes.addressof(buffer)); libc.prctl(22, 2, program, 0, 0); {0}"
    ),
}


def _from_elsewhere() -> Iterator[Cell]:
    for what, code in ACTS.items():
        for where, around in FROM.items():
            yield Cell(f"{what} from {where}", around.format(code))


SEND = "socket.socket(socket.{family}, socket.{kind})"
NETWORK = {
    "connect": "s = socket.socket(); s.connect((HOST, PORT)); s.send(MARK)",
    "connect_ex": "s = socket.socket(); s.connect_ex((HOST, PORT)); s.send(MARK)",
    "create_connection": "socket.create_connection((HOST, PORT)).send(MARK)",
    "connect without waiting": "s = socket.socket(); s.setblocking(False); s.connect_ex((HOST, PORT)); select.select([], [s], [], 1); s.send(MARK)",
    "connect by asyncio": "import asyncio\nasync def reach():\n    _, w = await asyncio.open_connection(HOST, PORT)\n    w.write(MARK)\n    await w.drain()\nasyncio.run(reach())",
    "by http": "import urllib.request; urllib.request.urlopen(f'http://{HOST}:{PORT}/{N}', timeout=0.5)",
    "as version 6": "s = socket.socket(socket.AF_INET6); s.connect(('::ffff:' + HOST, PORT)); s.send(MARK)",
    "datagram": "socket.socket(type=socket.SOCK_DGRAM).sendto(MARK, (HOST, PORT))",
    "datagram without family": "s = socket.socket(type=socket.SOCK_DGRAM); print(system('sendto', s.fileno(), MARK, len(MARK), 0, address(0), 16))",
    "message without family": "s = socket.socket(type=socket.SOCK_DGRAM); print(system('sendmsg', s.fileno(), header(MARK, address(0)), 0))",
    "datagram, connected": "s = socket.socket(type=socket.SOCK_DGRAM); s.connect((HOST, PORT)); s.send(MARK)",
    "message": "socket.socket(type=socket.SOCK_DGRAM).sendmsg([MARK], [], 0, (HOST, PORT))",
    "messages": "s = socket.socket(type=socket.SOCK_DGRAM); print(system('sendmmsg', s.fileno(), header(MARK, address(2)) + bytes(8), 1, 0))",
    "datagram of version 6": "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.sendto(MARK, ('::ffff:' + HOST, PORT))",
    "fast open": "s = socket.socket(); s.sendto(MARK, 0x20000000, (HOST, PORT))",
    "fast open message": "s = socket.socket(); s.sendmsg([MARK], [], 0x20000000, (HOST, PORT))",
    "fast open by option": "s = socket.socket(); s.setsockopt(6, 30, 1); s.connect((HOST, PORT)); s.send(MARK)",
    "by a thread racing the address": (
        "import itertools\ns = socket.socket(type=socket.SOCK_DGRAM); mine = socket.socket(type=socket.SOCK_DGRAM); mine.bind(('127.0.0.1', 0))\n"
        "there, good = address(2), struct.pack('=HH4s8x', 2, socket.htons(mine.getsockname()[1]), socket.inet_aton('127.0.0.1'))\n"
        "buffer = ctypes.create_string_buffer(good, 16); stop = []\n"
        "def flip():\n    while not stop:\n        ctypes.memmove(buffer, there, 16); ctypes.memmove(buffer, good, 16)\n"
        "thread = threading.Thread(target=flip); thread.start()\n"
        "for _ in range(40):\n    libc.sendto(s.fileno(), MARK, len(MARK), 0, buffer, 16)\nstop.append(1); thread.join()"
    ),
    "by a port it failed to bind": (
        "s = socket.socket()\ntry: s.bind(('127.0.0.1', PORT))\nexcept OSError: pass\n"
        "t = socket.socket(socket.AF_INET6)\ntry: t.bind(('::1', PORT)); t.listen()\nexcept OSError: pass\n"
        "u = socket.socket(type=socket.SOCK_DGRAM)\ntry: u.bind(('127.0.0.1', PORT))\nexcept OSError: pass\n"
        "c = socket.socket(); c.connect(('127.0.0.1', PORT)); c.send(MARK)"
    ),
    "unix": "s = socket.socket(socket.AF_UNIX); s.connect('sock'); s.send(MARK)",
    "unix, absolute": "s = socket.socket(socket.AF_UNIX); s.connect(HERE + '/sock'); s.send(MARK)",
    "unix by a link": "os.symlink('sock', 'mine'); s = socket.socket(socket.AF_UNIX); s.connect('mine'); s.send(MARK)",
    "unix by a descriptor": "f = os.open('sock', os.O_PATH); s = socket.socket(socket.AF_UNIX); s.connect(f'/proc/self/fd/{f}'); s.send(MARK)",
    "unix by the cwd link": "s = socket.socket(socket.AF_UNIX); s.connect('/proc/self/cwd/sock'); s.send(MARK)",
    "unix datagram": "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(MARK, 'datagrams')",
    "unix message": "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([MARK], [], 0, 'datagrams')",
    "unix datagram from a pair": "socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(MARK, 'datagrams')",
    "unix datagram, connected": "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect('datagrams'); s.send(MARK)",
    "a descriptor to unix": "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendmsg([MARK], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack('i', 0))], 0, 'datagrams')",
    "listen everywhere": "s = socket.socket(); s.bind(('0.0.0.0', 0)); s.listen(); harm_if(True)",
    "listen on the machine's address": "s = socket.socket(); s.bind((HOST, 0)); s.listen(); harm_if(True)",
    "listen on version 6": "s = socket.socket(socket.AF_INET6); s.bind(('::', 0)); s.listen(); harm_if(True)",
    "listen without an address": "s = socket.socket(); s.listen(); harm_if(s.getsockname()[1])",
    "listen without a family": "s = socket.socket(); print(system('bind', s.fileno(), struct.pack('=HH12x', 0, 0), 16)); s.listen(); harm_if(s.getsockname()[1])",
    "receive datagrams": "s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('0.0.0.0', 0)); harm_if(True)",
    "listen at an abstract name": "s = socket.socket(socket.AF_UNIX); s.bind(f'\\0terp-held-{N}-{os.getpid()}'); s.listen(); harm_if(True)",
    "take the place of a socket": "os.unlink('sock'); s = socket.socket(socket.AF_UNIX); s.bind('sock'); s.listen(); harm_if(True)",
}  # fmt: skip
SENDERS = {
    "": "{0}",
    "in a thread": "def go():\n    {1}\nthread = threading.Thread(target=go); thread.start(); thread.join()",
    "in a child": "child = os.fork()\nif child == 0:\n    try:\n        {2}\n    finally:\n        os._exit(0)\nos.waitpid(child, 0)",
}


def _by_network() -> Iterator[Cell]:
    for what, code in NETWORK.items():
        for where, around in SENDERS.items():
            lines = code.split("\n")
            yield Cell(
                f"network: {what} {where}".strip(),
                around.format(code, "\n    ".join(lines), "\n        ".join(lines)),
                # Of the two addresses it may happen to send only to its own.
                reported="racing" not in what,
                sure="6" not in what and "fast" not in what and "racing" not in what and "failed" not in what,
            )


# What the filter refuses by itself, or the holder without asking. Each prints "harm" where it works.
POWERS = {
    "io_uring": "system('io_uring_setup', 8, ctypes.create_string_buffer(120)); harm_if(True)",
    "openat2": "got = system('openat2', -100, b'keep', struct.pack('=QQQ', 1, 0, 0), 24); harm_if(got)",
    "clone3": "system('clone3', struct.pack('=11Q', *[0] * 4, 17, *[0] * 6), 64); harm_if(True)",
    "a namespace by clone": "system('clone', 0x10000000 | 17, None, None, None, None); harm_if(True)",
    "a namespace by unshare": "system('unshare', 0x10000000); harm_if(True)",
    "setns": "system('setns', os.open('/proc/self/ns/user', os.O_RDONLY), 0); harm_if(True)",
    "chroot": "system('chroot', b'/'); harm_if(True)",
    "mount": "system('mount', b'none', HERE.encode(), b'tmpfs', 0, None); harm_if(True)",
    "open_tree": "system('open_tree', -100, b'.', 1); harm_if(True)",
    "fsopen": "system('fsopen', b'tmpfs', 0); harm_if(True)",
    "by a handle": "system('open_by_handle_at', -100, ctypes.create_string_buffer(128), 2); harm_if(True)",
    "bpf": "system('bpf', 0, ctypes.create_string_buffer(72), 72); harm_if(True)",
    "perf": "system('perf_event_open', ctypes.create_string_buffer(b'\\1\\0\\0\\0\\x70', 128), 0, -1, -1, 0); harm_if(True)",
    "userfaultfd": "system('userfaultfd', 1); harm_if(True)",
    "keys": "system('add_key', b'user', b'harm', b'x', 1, -3); harm_if(True)",
    "a queue": "system('mq_open', b'harm', 0o102, 0o600, None); harm_if(True)",
    "landlock": "system('landlock_create_ruleset', None, 0, 1); harm_if(True)",
    "a call that does not exist": "system(1000, 0); harm_if(True)",
    "x32": "system(0x40000000 + 39 if X86 else 1000); harm_if(True)",
    "trace its parent": "harm_if(libc.ptrace(0x4206, os.getppid(), 0, 0) == 0)",
    "trace the first process": "harm_if(libc.ptrace(0x4206, 1, 0, 0) == 0)",
    "trace its holder": "harm_if(libc.ptrace(0x4206, HOLDER, 0, 0) == 0)",
    "be traced": "harm_if(libc.ptrace(0, 0, 0, 0) == 0)",
    "write memory of the first process": "os.open('/proc/1/mem', os.O_RDWR); harm_if(True)",
    "write memory of the holder": "os.open(f'/proc/{HOLDER}/mem', os.O_RDWR); harm_if(True)",
    "read memory of the holder": "os.open(f'/proc/{HOLDER}/mem', os.O_RDONLY); harm_if(True)",
    "write its own memory": "os.open('/proc/self/mem', os.O_RDWR); harm_if(True)",
    "write its own memory by the thread": "os.open('/proc/thread-self/mem', os.O_WRONLY); harm_if(True)",
    "write memory by a descriptor": "f = os.open('/proc/self/mem', os.O_RDONLY); os.open(f'/proc/self/fd/{f}', os.O_RDWR); harm_if(True)",
    "write memory by a bare descriptor": "f = os.open('/proc/self/mem', os.O_PATH); os.open(f'/dev/fd/{f}', os.O_RDWR); harm_if(True)",
    "write memory of the first process by a descriptor": "f = os.open('/proc/1/mem', os.O_PATH); os.open(f'/proc/self/fd/{f}', os.O_RDWR); harm_if(True)",
    "write memory by a link": "os.symlink('/proc/1/mem', 'mem'); os.open('mem', os.O_RDWR); harm_if(True)",
    "write memory from its folder": "at = os.open('/proc/1', os.O_PATH); os.open('mem', os.O_RDWR, dir_fd=at); harm_if(True)",
    "write memory as the holder's": "at = os.open('/proc', os.O_PATH); os.open('self/mem', os.O_RDWR, dir_fd=at); harm_if(True)",
    "name of the first process": "f = os.open('/proc/1/comm', os.O_WRONLY); harm_if(os.write(f, b'harm'))",
    "score of the holder": "f = os.open(f'/proc/{HOLDER}/oom_score_adj', os.O_WRONLY); harm_if(os.write(f, b'1000'))",
    "score by a link": "os.symlink('/proc/self/oom_score_adj', 'x'); f = os.open('x', os.O_WRONLY); harm_if(os.write(f, b'1000') and HOLDER_SCORE() == '1000')",
    "process_vm_writev": "b = ctypes.create_string_buffer(8); v = struct.pack('=QQ', ctypes.addressof(b), 1); system('process_vm_writev', 1, v, 1, v, 1, 0); harm_if(True)",
    "pidfd_getfd of the holder": "system('pidfd_getfd', system('pidfd_open', HOLDER, 0), 3, 0); harm_if(True)",
    "pidfd_send_signal": "system('pidfd_send_signal', system('pidfd_open', HOLDER, 0), 9, None, 0); harm_if(True)",
    "kill the victim": "os.kill(VICTIM, 9)",
    "kill all": "os.kill(-1, 9); harm_if(True)",
    "kill the holder": "os.kill(HOLDER, 9); harm_if(True)",
    "stop the holder": "os.kill(HOLDER, 19); harm_if(True)",
    "kill a thread of the holder": "system('tkill', HOLDER, 9); harm_if(True)",
    "kill in the holder's group": "system('tgkill', HOLDER, HOLDER, 9); harm_if(True)",
    "queue to the holder": "system('rt_sigqueueinfo', HOLDER, 9, struct.pack('=iii4xQ', 9, 0, -1, 0) + bytes(104)); harm_if(True)",
    "kill the first process": "os.kill(1, 15); harm_if(True)",
    "limits of the victim": "import resource; resource.prlimit(VICTIM, resource.RLIMIT_CPU, (1, 1)); harm_if(True)",
    "limits of the holder": "import resource; resource.prlimit(HOLDER, resource.RLIMIT_NOFILE, (1, 1)); harm_if(True)",
    "limits of the first process": "import resource; resource.prlimit(1, resource.RLIMIT_NOFILE, (1, 1)); harm_if(True)",
    "priority of the holder": "os.setpriority(os.PRIO_PROCESS, HOLDER, 19); harm_if(True)",
    "priority of all": "os.setpriority(os.PRIO_USER, os.getuid(), 1); harm_if(True)",
    "processors of the holder": "os.sched_setaffinity(HOLDER, [0]); harm_if(True)",
    "schedule of the holder": "os.sched_setscheduler(HOLDER, os.SCHED_IDLE, os.sched_param(0)); harm_if(True)",
    "input and output of the holder": "system('ioprio_set', 1, HOLDER, 3 << 13); harm_if(True)",
    "own a file as the holder": "a, b = socket.socketpair(); fcntl.fcntl(a, 10, 9); fcntl.fcntl(a, fcntl.F_SETOWN, HOLDER); harm_if(True)",
    "own a file by a structure": "a, b = socket.socketpair(); fcntl.fcntl(a, 15, struct.pack('=ii', 1, HOLDER)); harm_if(True)",
    "own a socket by a request": "a, b = socket.socketpair(); fcntl.ioctl(a, 0x8901, struct.pack('=i', HOLDER)); harm_if(True)",
    "lease": "f = os.open('lease', os.O_CREAT | os.O_RDONLY); fcntl.fcntl(f, 1024, 1); harm_if(True)",
    "flags of a file": "f = os.open('keep', os.O_RDONLY); fcntl.ioctl(f, 0x40086602, struct.pack('=q', 0x80)); harm_if(True)",
    "attributes of a file": "f = os.open('keep', os.O_RDONLY); fcntl.ioctl(f, 0x401C5820, struct.pack('=IIIII8x', 0x40, 0, 0, 0, 0)); harm_if(True)",
    "version of a file": "f = os.open('keep', os.O_RDONLY); fcntl.ioctl(f, 0x40087602, struct.pack('=q', 77)); harm_if(True)",
    "verify a file": "f = os.open('keep', os.O_RDONLY); fcntl.ioctl(f, 0x40806685, bytes(128)); harm_if(True)",
    "a volume": "f = os.open('.', os.O_RDONLY); fcntl.ioctl(f, 0x5000940E, bytes(4096)); harm_if(True)",
    "type for the terminal": "fcntl.ioctl(0, 0x5412, b'x'); harm_if(True)",
    "another listener": (
        "libc.prctl(38, 1, 0, 0, 0); b = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7fff0000)); "
        "system('seccomp', 1, 8, struct.pack('=H6xQ', 1, ctypes.addressof(b))); harm_if(True)"
    ),
    "files of the holder": "harm_if(os.readlink(f'/proc/{HOLDER}/fd/0'))",
    "the line of the holder": "[os.open(f'/proc/{HOLDER}/fd/{n}', os.O_RDONLY) for n in range(9)]; harm_if(True)",
    "sockets of other families": "socket.socket(40, socket.SOCK_STREAM); harm_if(True)",
    "write outside": "open(OUT + '/kept', 'w').write('harm')",
    "delete outside": "os.unlink(OUT + '/kept')",
    "permit outside": "os.chmod(OUT + '/kept', 0o777)",
    "date outside": "os.utime(OUT + '/kept', (1, 1))",
    "label outside": "os.setxattr(OUT + '/kept', 'user.harm', b'x')",
    "cut outside": "os.truncate(OUT + '/kept', 1)",
    "permit outside by a descriptor": "os.fchmod(os.open(OUT + '/kept', os.O_RDONLY), 0o777)",
    "date outside by a link": "os.symlink(OUT + '/kept', 'own'); os.utime('own', (1, 1))",
    "create outside": "open(OUT + '/new', 'w')",
    "link from outside": "os.link(OUT + '/kept', 'mine'); open('mine', 'w').write('harm')",
    "move outside": "open('mine', 'w'); os.rename('mine', OUT + '/new')",
    "write a protected file": "open(PROTECTED + '/config', 'w').write('harm')",
    "create a protected file": "open(PROTECTED + '/hook', 'w').write('harm')",
    "permit a protected file": "os.chmod(PROTECTED + '/config', 0o777)",
}  # fmt: skip


def _by_powers() -> Iterator[Cell]:
    for what, code in POWERS.items():
        yield Cell(f"power: {what}", code, reported=False, sure=False)


RACES = {
    "the string of a path": (
        "buffer = ctypes.create_string_buffer(b'mine', 5); open('mine', 'w').close(); stop = []\n"
        "def flip():\n    while not stop:\n        ctypes.memmove(buffer, b'keep', 4); ctypes.memmove(buffer, b'mine', 4)\n"
        "thread = threading.Thread(target=flip); thread.start()\n"
        "for _ in range(60):\n    {0}\nstop.append(1); thread.join()"
    ),
    "a link": (
        "open('mine', 'w').close(); os.symlink('mine', 'way'); buffer = b'way'; stop = []\n"
        "def flip():\n    while not stop:\n        for to in ('keep', 'mine'):\n"
        "            os.symlink(to, 'next'); os.rename('next', 'way')\n"
        "thread = threading.Thread(target=flip); thread.start()\n"
        "for _ in range(60):\n    {0}\nstop.append(1); thread.join()"
    ),
    "a linked folder": (
        "os.mkdir('own'); open('own/inner', 'w').close(); os.symlink('own', 'way'); buffer = b'way/inner'; stop = []\n"
        "def flip():\n    while not stop:\n        for to in ('dir', 'own'):\n"
        "            os.symlink(to, 'next'); os.rename('next', 'way')\n"
        "thread = threading.Thread(target=flip); thread.start()\n"
        "for _ in range(60):\n    {0}\nstop.append(1); thread.join()"
    ),
    "a descriptor": (
        "open('mine', 'w').close(); mine = os.open('mine', os.O_RDONLY); theirs = os.open('keep', os.O_RDONLY); at = os.dup(mine); stop = []\n"
        "buffer = f'/proc/self/fd/{{at}}'.encode()\n"
        "def flip():\n    while not stop:\n        os.dup2(theirs, at); os.dup2(mine, at)\n"
        "thread = threading.Thread(target=flip); thread.start()\n"
        "for _ in range(60):\n    {0}\nstop.append(1); thread.join()"
    ),
    "the working directory": (
        "os.mkdir('own'); open('own/keep', 'w').close(); os.mkdir('own/dir'); buffer = b'keep'; stop = []\n"
        "def flip():\n    while not stop:\n        os.chdir(HERE + '/own'); os.chdir(HERE)\n"
        "thread = threading.Thread(target=flip); thread.start()\n"
        "for _ in range(60):\n    {0}\nstop.append(1); thread.join(); os.chdir(HERE)"
    ),
}
RACED = {
    "write": "got = libc.open(buffer, 1); got < 0 or (os.write(got, b'harm'), os.close(got))",
    "cut": "libc.truncate(buffer, 0)",
    "permit": "libc.chmod(buffer, 0o777)",
    "date": "libc.utimes(buffer, bytes(32))",
    "create": "got = libc.open(buffer, 0o1101, 0o644); got < 0 or (os.write(got, b'harm'), os.close(got))",
}


def _by_races() -> Iterator[Cell]:
    for what, code in RACED.items():
        for race, around in RACES.items():
            # The attempts that meet the user's file are reported; a race may meet none.
            yield Cell(f"race: {what} by {race}", around.format(code), reported=False, sure=False)


def _inherited(code: str) -> str:
    """Return a cell whose child does something to `f`, the user's file that it inherits open for reading."""
    return (
        "import subprocess; f = os.open('keep', os.O_RDONLY); "
        f"subprocess.run([PYTHON, '-c', 'import os, sys; f = int(sys.argv[1]); ' + {code!r}, str(f)], pass_fds=[f], stderr=2)"
    )


TRICKS = {
    "write what it may only read by a mapping": "import mmap; f = os.open('keep', os.O_RDONLY); mmap.mmap(f, 4, mmap.MAP_SHARED, mmap.PROT_WRITE)[:] = b'harm'",
    "write by splice": "f = os.open('keep', os.O_RDONLY); r, w = os.pipe(); os.write(w, b'harm'); os.splice(r, f, 4)",
    "write by sendfile": "f = os.open('keep', os.O_RDONLY); g = os.open('ro', os.O_RDONLY); os.sendfile(f, g, 0, 4)",
    "write by copy_file_range": "f = os.open('keep', os.O_RDONLY); g = os.open('ro', os.O_RDONLY); os.copy_file_range(g, f, 4)",
    "delete by a child that outlives its cell": "if os.fork() == 0:\n    os.setsid(); time.sleep(0.3)\n    try:\n        os.unlink('keep')\n    finally:\n        os._exit(0)",
    "write by a mapping that is opened up": "f = os.open('keep', os.O_RDONLY); m = libc.mmap(None, 4096, 1, 1, f, 0); libc.mprotect(ctypes.c_void_p(m), 4096, 3) or ctypes.memmove(m, b'harm', 4)",
    "write by splice to an inherited descriptor": _inherited("r, w = os.pipe(); os.write(w, b'harm'); os.splice(r, f, 4)"),
    "write by sendfile to an inherited descriptor": _inherited("os.sendfile(f, os.open('ro', os.O_RDONLY), 0, 4)"),
    "write by tee to an inherited descriptor": _inherited("import ctypes; ctypes.CDLL(None).vmsplice(f, b'harm', 1, 0)"),
    "delete by a 32-bit call": (
        "X86 or sys.exit('no such calls')\nstart = libc.mmap(None, 4096, 7, 0x62, -1, 0)\nctypes.memmove(start + 100, b'keep', 5)\n"
        "code = b'\\x53\\xb8\\x0a\\0\\0\\0\\xbb' + struct.pack('=I', start + 100) + b'\\xcd\\x80\\x5b\\xc3'\n"
        "ctypes.memmove(start, code, len(code)); ctypes.CFUNCTYPE(ctypes.c_int)(start)()"
    ),
    "write by openat2 below a bare descriptor": "at = os.open('.', os.O_PATH); os.write(system('openat2', at, b'keep', struct.pack('=QQQ', 1, 0, 8), 24), b'harm')",
    "write by a bare descriptor": "f = os.open('keep', os.O_PATH); os.write(f, b'harm')",
    "cut by a descriptor": "f = os.open('keep', os.O_RDONLY); os.ftruncate(f, 0)",
    "reserve by a descriptor": "f = os.open('keep', os.O_RDONLY); os.posix_fallocate(f, 0, 100)",
    "clone over a file": "f = os.open('keep', os.O_RDONLY); g = os.open('ro', os.O_RDONLY); fcntl.ioctl(f, 0x40049409, g)",
    "dup and write": "f = os.open('keep', os.O_RDONLY); os.dup2(f, 1); os.write(1, b'harm'); fcntl.fcntl(1, fcntl.F_SETFL, os.O_WRONLY); os.write(1, b'harm')",
    "asynchronous write": "f = os.open('keep', os.O_RDONLY); c = ctypes.c_ulong(); system('io_setup', 1, ctypes.byref(c)); b = ctypes.create_string_buffer(b'harm'); cb = ctypes.create_string_buffer(struct.pack('=QIIHHIQQq', 0, 0, 0, 1, 0, f, ctypes.addressof(b), 4, 0) + bytes(16)); system('io_submit', c, 1, ctypes.byref(ctypes.c_void_p(ctypes.addressof(cb))))",
}  # fmt: skip
ASKED_TRICKS = {
    "a folder moved into one of its own": "os.mkdir('mine'); os.rename('dir', 'mine/d'); os.unlink('mine/d/inner')",
    "a file exchanged with its own": "open('mine', 'w'); system('renameat2', -100, b'mine', -100, b'keep', 2); os.unlink('mine'); os.unlink('keep')",
    "a file linked under its own name": "open('mine', 'w'); os.unlink('mine'); os.link('keep', 'mine'); open('mine', 'w').write('harm')",
    "a name made before": "open('made', 'w'); os.unlink('made'); os.rename('keep', 'made'); os.unlink('made')",
    "a folder made before": "os.mkdir('made'); open('made/inner', 'w'); os.rename('made', 'other'); os.rename('dir', 'made'); os.unlink('made/inner')",
    "a name that looks deleted": "os.link('it (deleted)', 'mine'); open('mine', 'w').write('harm')",
    "a create that failed": "libc.mkdir(b'keep', 0o700); os.unlink('keep')",
    "a create that failed by its place": "libc.open(b'keep/x', 0o101, 0o600); libc.mkdir(b'dir', 0o700); libc.unlink(b'dir/inner'); os.rmdir('dir')",
    "a link replaced": "os.unlink('link'); open('link', 'w')",
    "in a file without a name": "f = os.open('.', os.O_TMPFILE | os.O_WRONLY); system('linkat', -100, f'/proc/self/fd/{f}'.encode(), -100, b'mine', 0x400); os.replace('mine', 'keep')",
    "a file opened before it was renamed": "f = os.open('keep', os.O_PATH); open(f'/proc/self/fd/{f}', 'w').write('harm')",
    "by a descriptor passed along": "a, b = socket.socketpair(socket.AF_UNIX); socket.send_fds(a, [b'x'], [os.open('keep', os.O_RDONLY)]); f = socket.recv_fds(b, 1, 1)[1][0]; os.fchmod(f, 0o777)",
    "by an inherited descriptor": _inherited("open(f'/proc/self/fd/{f}', 'w').write('harm')"),
    "the mode of an inherited descriptor": _inherited("os.fchmod(f, 0o777)"),
    "by its second name": "os.symlink('keep', '..' + '/' + str(N) + '/s'); open('s', 'a').write('harm')",
    "by a socket's name": "os.chmod('sock', 0o777); os.unlink('sock')",
    "all below": "import shutil; shutil.rmtree(HERE, ignore_errors=True)",
    "all below by descriptors": "import shutil; at = os.open('.', os.O_RDONLY); os.chdir('/'); [os.unlink(n, dir_fd=at) for n in ('keep', 'ro', 'link')]",
    "a cache of bytecode": "import py_compile; open('m.py', 'w').write('1'); py_compile.compile('m.py', cfile=HERE + '/keep')",
    "logs": "import logging; logging.basicConfig(filename='keep'); logging.error('harm')",
    "an archive": "import zipfile; zipfile.ZipFile('keep', 'w').writestr('x', 'harm')",
    "a temporary file renamed": "import tempfile; t = tempfile.NamedTemporaryFile(dir='.', delete=False); os.replace(t.name, 'keep')",
    "a shelf": "import dbm.dumb; dbm.dumb.open('d')['x'] = b'y'; os.replace('d.dat', 'keep')",
}  # fmt: skip


def _by_tricks() -> Iterator[Cell]:
    for what, code in TRICKS.items():
        yield Cell(f"trick: {what}", code, reported=False, sure=False)
    for what, code in ASKED_TRICKS.items():
        yield Cell(f"trick: {what}", code)


CELLS = [
    *_by_python(), *_by_number(), *_by_shell(), *_by_perl(), *_from_elsewhere(), *_by_network(), *_by_powers(), *_by_races(),
    *_by_tricks(),
]  # fmt: skip
# Of each class some.
FEW = CELLS[:: len(CELLS) // 60]
