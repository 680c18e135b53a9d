"""Files are saved right before code, or a program that it starts, changes them, and are restored."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from terp.kernels.sandbox.policy import ResourceLimits
from tests.effects.driver import NO_LIMITS, Bench, Running, everything

Tree = dict[str, tuple[int, bytes]]
TOO_LARGE = 65 << 20
STOP = "\ntry: os.unlink('stop')\nexcept OSError: pass\n"


def tree(folder: Path) -> Tree:
    """Modes and contents of all that is below a folder."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[str(path.relative_to(folder))] = mode, os.fsencode(path.readlink())
        else:
            content = path.read_bytes() if stat.S_ISREG(mode) and os.access(path, os.R_OK) else b""
            found[str(path.relative_to(folder))] = mode, content
    return found


@contextmanager
def turns(bench: Bench, *codes: str, limits: ResourceLimits = NO_LIMITS) -> Iterator[Running]:
    """A Python that has run codes, each in a turn of its own, from 1 on, and waits."""
    verbs = ("create", "modify", "delete")
    bench.grants = [(("delete",), ".*/stop", None), (verbs, ".*", True)]  # type: ignore[list-item]
    (bench.work / "stop").touch()
    program = "import os, shutil, subprocess\n" + "".join(code + STOP for code in codes)
    with bench.started((sys.executable, "-I", "-S", "-c", program), moment=1, limits=limits) as running:
        for moment in range(1, len(codes) + 1):
            ask = running.next_question()
            running.answer_to({"account": moment})
            if moment < len(codes):
                grants = {"free": False, "grants": bench.grants, "moment": moment + 1}
                running.say(grants)
                running.say({"answer": ask["ask"], "allow": False})
        yield running


def rows(running: Running, bench: Bench, moment: int = 1) -> dict[str, tuple[str, str, bool]]:
    """Possible action, reason, and the state left by the last run, by path."""
    files = running.answer_to({"changed": 1, "moment": moment})["files"]
    top = f"{bench.work}/"
    return {path.removeprefix(top): (can, why, as_left) for path, can, why, _, as_left in files}


def restored(running: Running, bench: Bench, moment: int = 1) -> dict[str, str]:
    """Restore all, in terp's order."""
    can = {path: action for path, (action, _, _) in rows(running, bench, moment).items()}
    new = sorted((path for path in can if can[path] == "remove"), reverse=True)
    paths = [*new, *sorted(path for path in can if can[path] == "put back")]
    paths = [f"{bench.work}/{path}" for path in paths]
    answer = running.answer_to({"restore": 2, "moment": moment, "paths": paths})
    return {Path(path).name: what for path, what, _ in answer["files"]}


def photos(bench: Bench) -> Tree:
    """Make a folder of files; return how it is."""
    for name in ("a", "b", "album/c", "album/deep/d"):
        path = bench.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"{name} as it was\0\xff".encode("latin-1") * 1000)
    (bench.work / "b").chmod(0o640)
    (bench.work / "album/deep").chmod(0o750)
    (bench.work / "link").symlink_to("a")
    (bench.work / "empty").touch()
    (bench.work / "stop").touch()
    before = bench.work.stat().st_ctime_ns
    # Files are dated by a clock that ticks every few milliseconds: the turn begins later.
    while (bench.work / "stop").stat().st_mtime_ns <= before:
        (bench.work / "stop").touch()
    return tree(bench.work)


CHANGES = {
    "written": "open('a', 'w').write('new'); open('b', 'r+').write('x'); open('empty', 'a').write('y')",
    "cut": "os.truncate('a', 3)",
    "deleted": "os.remove('a'); os.remove('link'); os.remove('empty')",
    "deleted and made again": "os.remove('a'); open('a', 'w').write('again'); os.chmod('a', 0o600)",
    "renamed": "os.rename('a', 'z'); os.rename('b', 'a'); open('a', 'a').write('more')",
    "exchanged for a folder": "os.remove('a'); os.mkdir('a'); open('a/in', 'w').close()",
    "exchanged for a link": "os.remove('a'); os.symlink('b', 'a')",
    "made": "os.makedirs('n/m'); open('n/m/f', 'w').close(); os.symlink('f', 'n/m/l'); os.mkfifo('n/p')",
    "moved with a folder": "os.rename('album', 'z'); open('z/c', 'w').close(); os.rename('z', 'y')",
    "moved into a new folder": "os.mkdir('n'); os.rename('album', 'n/album'); os.rename('n', 'z')",
    "emptied": "shutil.rmtree('album')",
    "modes": "os.chmod('a', 0o600); os.chmod('album', 0o700)",
    "linked": "os.link('a', 'other'); open('other', 'w').write('x'); os.remove('a')",
    "a link in its place": "os.remove('a'); os.link('b', 'a')",
    "read-only": "open('a', 'w').close(); os.chmod('a', 0o400); os.chmod('b', 0)",
    "by the shell": "subprocess.run('echo x > a; rm b; mv album/c album/e; mkdir q; cp album/e q; sed -i s/as/was/ album/deep/d', shell=True)",
    "by a child": "if (pid := os.fork()) == 0:\n    os.remove('a'); os._exit(0)\nos.waitpid(pid, 0)",
}


@pytest.mark.parametrize("name", CHANGES)
def test_all_is_as_it_was(bench: Bench, name: str) -> None:
    before = photos(bench)
    with turns(bench, CHANGES[name]) as running:
        assert tree(bench.work) != before
        assert not {"not"} & set(restored(running, bench).values())
    assert tree(bench.work) == before


def test_other_names_of_a_file_have_its_content_again(bench: Bench) -> None:
    photos(bench)
    (bench.work / "second").hardlink_to(bench.work / "a")
    with turns(bench, "open('a', 'w').write('new')") as running:
        restored(running, bench)
    assert (bench.work / "second").read_bytes().startswith(b"a as it was")


def test_what_does_not_differ_is_not_restored(bench: Bench) -> None:
    photos(bench)
    with turns(bench, "open('n', 'w').close(); os.remove('n'); os.utime('a')") as running:
        assert rows(running, bench) == {"n": ("same", "", True), "a": ("same", "", True)}


def test_each_turn_has_its_own_state(bench: Bench) -> None:
    photos(bench)
    with turns(bench, "open('b', 'w').write('1')", "open('b', 'w').write('2')", "os.remove('b')") as running:
        for moment, content in ((3, b"2"), (2, b"1")):
            assert restored(running, bench, moment) == {"b": "back"}
            assert (bench.work / "b").read_bytes() == content
        restored(running, bench)
    assert (bench.work / "b").read_bytes().startswith(b"b as it was")


def test_a_file_that_something_else_has_changed_since_is_named(bench: Bench) -> None:
    photos(bench)
    with turns(bench, "open('a', 'w').write('1'); open('b', 'w').write('1')") as running:
        (bench.work / "a").write_text("by an editor")
        assert rows(running, bench) == {"a": ("put back", "", False), "b": ("put back", "", True)}


def test_a_file_that_was_open_before_the_turn_is_not_taken_for_what_it_was(bench: Bench) -> None:
    photos(bench)
    codes = ("f = open('a', 'a')", "f.write('more'); f.flush(); os.remove('a')")
    with turns(bench, *codes) as running:
        why = "the turn had written to it before it could be copied"
        assert rows(running, bench, 2)["a"][:2] == ("not", why)
        assert restored(running, bench) == {"a": "back"}


@pytest.mark.parametrize(
    "code", ["os.rename('large', 'z')", "os.link('large', 'z'); os.remove('large')", "os.rename('d', 'e')"]
)
def test_what_has_no_copy_is_not_deleted_under_its_new_name(bench: Bench, code: str) -> None:
    large = bench.work / ("d/large" if "'d'" in code else "large")
    large.parent.mkdir(exist_ok=True)
    with large.open("wb") as file:
        file.truncate(TOO_LARGE)
    photos(bench)
    with turns(bench, code) as running:
        reasons = {why for can, why, _ in rows(running, bench).values() if can == "not"}
        restored(running, bench)
    assert reasons in ({"68 MB is too large to be kept"}, set())
    assert sum(path.stat().st_size for path in bench.work.rglob("*") if path.is_file()) > TOO_LARGE


HOSTILE = {
    "a link in place of the folder": "os.remove('album/c'); os.rename('album', 'z'); os.symlink(OUT, 'album')",
    "a link in place of the file": "os.remove('a'); os.symlink(OUT + '/c', 'a')",
    "a link in place of a folder above": "os.remove('album/deep/d'); shutil.rmtree('album'); os.symlink(OUT, 'album')",
    "new files behind a link": "os.mkdir('n'); open('n/c', 'w').close(); os.rename('n', 'm'); os.symlink(OUT, 'n')",
    "an empty folder": "os.mkdir('n'); os.rmdir('n'); os.symlink(OUT + '/deep', 'n')",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_outside_is_written_or_deleted(bench: Bench, name: str) -> None:
    before = photos(bench)
    (bench.out / "deep").mkdir()
    (bench.out / "c").write_text("outside")
    (bench.out / "deep/d").write_text("outside")
    outside = tree(bench.out)
    with turns(bench, f"OUT = {str(bench.out)!r}\n{HOSTILE[name]}") as running:
        # The link is made before the copies are written, and again as often as code likes.
        paths = [f"{bench.work}/{path}" for path in rows(running, bench)]
        running.answer_to({"restore": 1, "moment": 1, "paths": paths})
        assert tree(bench.out) == outside
        restored(running, bench)
    assert tree(bench.out) == outside
    assert tree(bench.work) == before


def test_a_missing_folder_is_made_for_a_file_alone(bench: Bench) -> None:
    photos(bench)
    with turns(bench, "shutil.rmtree('album')") as running:
        path = f"{bench.work}/album/deep/d"
        answer = running.answer_to({"restore": 1, "moment": 1, "paths": [path]})
    assert answer["files"] == [[path, "back", ""]]
    assert (bench.work / "album/deep/d").read_bytes().startswith(b"album/deep/d as")


def test_temporary_files_of_the_kernel_are_not_saved(bench: Bench) -> None:
    photos(bench)
    code = "t = os.environ['TMPDIR']; open(t + '/x', 'w').close(); open(t + '/x', 'w').close(); os.remove(t + '/x')"
    with turns(bench, code) as running:
        assert rows(running, bench) == {}


def test_what_is_moved_in_from_temporary_files_is_new(bench: Bench) -> None:
    before = photos(bench)
    code = "t = os.environ['TMPDIR'] + '/x'; os.mkdir(t); open(t + '/y', 'w').close(); shutil.move(t, 'n')"
    with turns(bench, code) as running:
        assert restored(running, bench) == {"y": "removed", "n": "removed"}
    assert tree(bench.work) == before


def test_the_working_directory_itself_is_not_restored(bench: Bench) -> None:
    photos(bench)
    with turns(bench, "os.chmod('.', 0o700); os.utime('.')") as running:
        assert rows(running, bench) == {}


def test_code_cannot_open_the_copies(bench: Bench) -> None:
    photos(bench)
    code = "open('a', 'w').close()\nfor n in range(100):\n    for way in 'r', 'r+':\n        try: open(f'/proc/{os.getppid()}/fd/{n}', way); print(n)\n        except OSError: pass\nprint('tried')"
    with turns(bench, code) as running:
        running.say({"answer": 1, "allow": False})
        assert running.finished(everything, 20).output == "tried\n"


def test_copies_fit_into_a_limit_of_the_size_of_files(bench: Bench) -> None:
    for name in ("one", "two", "three"):
        (bench.work / name).write_bytes(name.encode() * 100_000)
    before = photos(bench)
    code = "for name in ('one', 'two', 'three'): os.remove(name)"
    with turns(bench, code, limits=ResourceLimits(file_mb=1)) as running:
        restored(running, bench)
    assert tree(bench.work) == before


def test_without_a_turn_nothing_is_saved(bench: Bench) -> None:
    photos(bench)
    with bench.started(
        (sys.executable, "-I", "-S", "-c", "import os; os.remove('a'); os.unlink('stop')")
    ) as running:
        running.say({"free": False, "grants": [(("delete",), ".*/a", True)]})
        running.next_question()
        assert rows(running, bench) == {}
