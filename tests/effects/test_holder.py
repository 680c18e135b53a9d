"""A call waits for its answer and happens once, or not at all; the holder gives no rights."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from terp.kernels.hosts.processes import children
from terp.kernels.sandbox.tier import Tier
from tests.effects.driver import Ask, Bench, everything, nobody

PRINTING = "import os, sys\ndef tried(call, *arguments):\n    try:\n        print(call(*arguments))\n    except OSError as error:\n        print(error.errno)\n"


def photo(bench: Bench, name: str = "photo") -> Path:
    path = bench.work / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("as it was")
    return path


def test_a_refused_effect_fails_and_the_code_goes_on(bench: Bench) -> None:
    path = photo(bench)
    ran = bench.python(f"{PRINTING}tried(os.unlink, 'photo'); print('on')")
    assert (ran.output, ran.questions, path.exists()) == ("1\non\n", [("delete", str(path))], True)
    assert ("refused delete", str(path), "", 1) in ran.effects


def test_an_allowed_effect_happens_once_and_is_in_the_account(bench: Bench) -> None:
    path = photo(bench)
    ran = bench.python(f"{PRINTING}tried(os.unlink, 'photo'); tried(os.unlink, 'photo')", answer=everything)
    assert (ran.output, len(ran.asked)) == ("None\n2\n", 1)
    assert [row for row in ran.effects if row[0] != "run"] == [("delete", str(path), "", 1)]


def test_nothing_happens_before_the_answer(bench: Bench) -> None:
    path = photo(bench)
    seen: list[str] = []

    def look(_: Ask) -> bool:
        seen.append(path.read_text())
        return True

    bench.python("open('photo', 'w').write('new')", answer=look)
    assert (seen, path.read_text()) == (["as it was"], "new")


def test_a_file_that_appears_during_the_decision_is_not_made_by_the_code(bench: Bench) -> None:
    bench.grants = []
    path = bench.work / "photo"

    def appear(ask: Ask) -> bool:
        path.write_text("as it was")
        return bool(ask["verb"] != "delete")

    ran = bench.python(f"{PRINTING}open('photo', 'a').close(); tried(os.unlink, 'photo')", answer=appear)
    assert [ask["verb"] for ask in ran.asked] == ["create", "modify", "delete"]
    assert [row[0] for row in ran.effects if row[1] == str(path)] == ["modify", "refused delete"]


def test_new_files_are_free_and_their_changes_too(bench: Bench) -> None:
    code = "import os, shutil\nos.makedirs('a/b'); open('a/b/c', 'w').write('1'); open('a/b/c', 'a').write('2'); os.rename('a', 'd'); shutil.rmtree('d')"
    assert bench.python(code).asked == []


def test_an_effect_that_cannot_happen_is_not_asked_about(bench: Bench) -> None:
    photo(bench)
    code = f"{PRINTING}tried(os.unlink, 'none'); tried(os.mkdir, 'photo'); tried(os.rename, 'none', 'photo'); tried(os.rmdir, 'none')"
    ran = bench.python(code)
    assert (ran.output.split(), ran.asked) == (["2", "17", "2", "2"], [])


SWAPS: list[tuple[str, Callable[[Path], None]]] = [
    ("a link to the file", lambda work: _swap_link(work / "way", "photo")),
    ("a link to the folder", lambda work: _swap_link(work / "folder", "album")),
]


def _swap_link(link: Path, to: str) -> None:
    link.unlink()
    link.symlink_to(to)


@pytest.mark.parametrize(("name", "swap"), SWAPS, ids=[name for name, _ in SWAPS])
def test_a_link_that_is_exchanged_during_the_decision_leads_nowhere(
    bench: Bench, name: str, swap: Callable[[Path], None]
) -> None:
    path, inner = photo(bench), photo(bench, "album/1")
    mine, other = photo(bench, "mine"), photo(bench, "own/1")
    (bench.work / "way").symlink_to("mine")
    (bench.work / "folder").symlink_to("own")
    target = "way" if name == "a link to the file" else "folder/1"

    def swapped(ask: Ask) -> bool:
        assert ask["what"] == str(mine if target == "way" else other)
        swap(bench.work)
        return True

    bench.python(f"open({target!r}, 'w').write('harm')", answer=swapped)
    assert (path.read_text(), inner.read_text()) == ("as it was", "as it was")
    assert (mine if target == "way" else other).read_text() == "harm"


def test_a_file_that_takes_the_place_of_the_asked_one_is_not_written(bench: Bench) -> None:
    path, other = photo(bench), photo(bench, "other")

    def swapped(_: Ask) -> bool:
        path.rename(bench.work / "moved")
        other.rename(path)
        return True

    bench.python("open('photo', 'w').write('harm')", answer=swapped)
    assert (path.read_text(), (bench.work / "moved").read_text()) == ("as it was", "harm")


def test_a_question_holds_only_its_own_thread(bench: Bench) -> None:
    photo(bench)
    code = "import os, threading\nt = threading.Thread(target=os.unlink, args=('photo',)); t.start()\nfor n in range(20): os.mkdir(f'd{n}')\nopen('ready', 'w').close(); t.join()"
    with bench.started((sys.executable, "-I", "-S", "-c", code)) as running:
        running.next_question()
        while not (bench.work / "ready").exists():
            assert running.process.poll() is None
        assert (bench.work / "photo").exists()
        running.say({"answer": 1, "allow": True})
        assert running.finished(nobody, 20).status == 0
    assert not (bench.work / "photo").exists()


def test_an_interrupt_ends_what_waits_with_eintr(bench: Bench) -> None:
    path = photo(bench)
    code = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(libc.unlink(b'photo'), ctypes.get_errno())"
    with bench.started((sys.executable, "-I", "-S", "-c", code)) as running:
        running.next_question()
        running.say({"interrupt": True})
        assert running.finished(nobody, 20).output == "-1 4\n"
    assert path.exists()


def test_a_later_grant_answers_what_waits(bench: Bench) -> None:
    path = photo(bench)
    with bench.started((sys.executable, "-I", "-S", "-c", "import os; os.unlink('photo')")) as running:
        running.next_question()
        running.say({"free": False, "grants": [(("delete",), ".*", True, False)]})
        assert running.finished(nobody, 20).status == 0
    assert not path.exists()


SIGNALLED = """
import os, signal, sys
fired, wrong, interrupted = [], 0, 0
signal.signal(signal.SIGALRM, lambda *_: fired.append(1)); signal.signal(signal.SIGCHLD, lambda *_: fired.append(1))
def done(call, name):
    # Before the holder has received a call, a signal ends it as it ends a read.
    global interrupted
    while True:
        try:
            return call(name)
        except InterruptedError:
            interrupted += 1
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
for n in range(int(sys.argv[1])):
    if n % 200 == 0 and os.fork() == 0:
        os._exit(0)
    try:
        done(os.mkdir, "x")
        done(os.rmdir, "x")
    except OSError:
        wrong += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(wrong, len(fired) > 10, interrupted)
"""


def test_a_signal_does_not_make_a_call_happen_twice(bench: Bench) -> None:
    assert bench.python(SIGNALLED, "1000", timeout_s=120).output.startswith("0 True")


def holder_of(running: object, tier: Tier) -> int:
    """The holder's pid."""
    pid = tier.process_of(running.process.pid)  # type: ignore[attr-defined]
    assert pid
    return pid


def test_without_its_holder_nothing_happens(bench: Bench, tier: Tier) -> None:
    path = photo(bench)
    # A process that would outlive the kernel.
    code = "import os, time\nos.setsid()\nif os.fork() == 0:\n    os.close(1)\n    while True:\n        try: os.unlink('photo')\n        except OSError: pass\ntime.sleep(600)"
    with bench.started((sys.executable, "-I", "-S", "-c", code)) as running:
        running.next_question()
        holder = holder_of(running, tier)
        below = [pid for child in children(holder) for pid in (child, *children(child))]
        os.kill(holder, signal.SIGKILL)
        running.process.wait(20)
        assert path.exists()
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
    assert path.exists()


def test_a_stopped_holder_lets_nothing_happen(bench: Bench, tier: Tier) -> None:
    path = photo(bench)
    code = "import os, sys, time\nsys.stdin.read()\nopen('new', 'w').close()\nos.unlink('photo')"
    with bench.started((sys.executable, "-I", "-S", "-c", code)) as running:
        ask = running.next_question()
        holder = holder_of(running, tier)
        os.kill(holder, signal.SIGSTOP)
        running.say({"answer": ask["ask"], "allow": True})
        assert path.exists()
        os.kill(holder, signal.SIGCONT)
        assert running.finished(nobody, 20).status == 0
    assert not path.exists()


def test_the_end_of_terp_ends_the_kernel(bench: Bench) -> None:
    path = photo(bench)
    with bench.started((sys.executable, "-I", "-S", "-c", "import os; os.unlink('photo')")) as running:
        running.next_question()
        running._messages.close()
        running._line.shutdown(socket.SHUT_RDWR)
        assert running.process.wait(20) != 0
    assert path.exists()


def test_a_child_that_outlives_the_run_does_nothing(bench: Bench) -> None:
    path = photo(bench)
    code = "import os, time\nif os.fork() == 0:\n    os.setsid(); os.close(1); os.close(2)\n    while os.path.exists('go') is False: pass\n    try: os.unlink('photo')\n    finally: os._exit(0)\nprint('over')"
    assert bench.python(code).output == "over\n"
    (bench.work / "go").touch()
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline and path.exists():
        pass
    assert path.exists()


OUTSIDE = """
import os, socket
def tried(name, call, *arguments, **options):
    try:
        call(*arguments, **options)
        print("HAPPENED", name)
    except OSError:
        pass
os.symlink(OUT, "way"); at = os.open(OUT, os.O_RDONLY); bare = os.open(OUT + "/kept", os.O_PATH); read = os.open(OUT + "/kept", os.O_RDONLY)
for where in (OUT + "/", "way/", "/proc/self/root" + OUT + "/", "/proc/self/cwd/way/", f"/proc/self/fd/{at}/"):
    tried("write", open, where + "kept", "w"); tried("append", open, where + "kept", "a"); tried("create", open, where + "new", "w")
    tried("mkdir", os.mkdir, where + "d"); tried("unlink", os.unlink, where + "kept"); tried("rmdir", os.rmdir, where + "empty")
    tried("rename in", os.rename, where + "kept", "mine"); tried("rename", os.rename, where + "kept", where + "other")
    open("own", "w").close(); tried("rename out", os.rename, "own", where + "own"); tried("replace", os.replace, "own", where + "kept")
    tried("link in", os.link, where + "kept", "linked"); tried("link out", os.link, "own", where + "linked"); tried("symlink", os.symlink, "x", where + "s")
    tried("chmod", os.chmod, where + "kept", 0o777); tried("chown", os.chown, where + "kept", os.getuid(), os.getgid()); tried("utime", os.utime, where + "kept", (1, 1))
    tried("truncate", os.truncate, where + "kept", 0); tried("setxattr", os.setxattr, where + "kept", "user.x", b"x"); tried("mkfifo", os.mkfifo, where + "p")
    tried("bind", lambda: socket.socket(socket.AF_UNIX).bind(where + "s"))
    tried("tmpfile", os.open, where, os.O_TMPFILE | os.O_RDWR)
for fd in (bare, read):
    tried("again", os.open, f"/proc/self/fd/{fd}", os.O_RDWR); tried("cut", os.open, f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_TRUNC)
tried("fchmod", os.fchmod, read, 0o777); tried("futime", os.utime, read, (1, 1)); tried("fsetxattr", os.setxattr, read, "user.x", b"x")
tried("dir_fd", os.open, "new", os.O_CREAT | os.O_WRONLY, dir_fd=at); tried("dir_fd unlink", os.unlink, "kept", dir_fd=at)
tried("system", open, "/proc/sys/kernel/core_pattern", "w"); tried("etc", open, "/etc/passwd", "a")
print("tried")
"""


def test_an_allowed_effect_does_not_exceed_the_tier(bench: Bench) -> None:
    kept, empty = bench.out / "kept", bench.out / "empty"
    kept.write_text("as it was")
    empty.mkdir()
    before = kept.stat()
    # Everything that is asked about is allowed.
    ran = bench.python(f"OUT = {str(bench.out)!r}\n{OUTSIDE}", answer=everything, free=True)
    assert ran.output == "tried\n"
    assert kept.read_text() == "as it was"
    assert sorted(path.name for path in bench.out.iterdir()) == ["empty", "kept"]
    after = kept.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_nlink) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_nlink,
    )


def test_an_allowed_connection_does_not_exceed_a_sandbox_without_network(tier: Tier) -> None:
    bench = Bench(tier, network=False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"{PRINTING}import socket\nfor kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):\n    tried(lambda: socket.socket(socket.AF_INET, kind).connect(('127.0.0.1', {port})))\n    tried(lambda: socket.socket(socket.AF_INET, kind).sendto(b'x', ('127.0.0.1', {port})))"
        ran = bench.python(code, answer=everything, free=True)
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    bench.close()
    assert "None" not in ran.output.split()[:1]


def test_protected_files_stay_as_they_are_whatever_is_allowed(tier: Tier) -> None:
    bench = Bench(tier, protected=("hooks",))
    (bench.work / "hooks").mkdir()
    (bench.work / "hooks/old").write_text("as it was")
    code = f"{PRINTING}tried(open, 'hooks/old', 'w'); tried(open, 'hooks/new', 'w'); tried(os.unlink, 'hooks/old'); tried(os.chmod, 'hooks/old', 0o777)"
    bench.python(code, answer=everything, free=True)
    assert (
        (bench.work / "hooks/old").read_text(),
        [path.name for path in (bench.work / "hooks").iterdir()],
    ) == (
        "as it was",
        ["old"],
    )
    bench.close()
