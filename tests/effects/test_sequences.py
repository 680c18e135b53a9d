"""Any sequence of calls on files gives the same results and the same tree, untouched and held."""

import json
import os
import sys
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from terp.kernels.sandbox.tier import Tier
from tests.effects.behaviours import HEAD
from tests.effects.driver import Bench, everything

PERFORM = """
calls = {
    "open": lambda path, flags, mode: os.close(os.open(path, flags | os.O_NONBLOCK, mode)),
    "write": lambda path, flags, mode: os.write(os.open(path, flags | os.O_WRONLY | os.O_NONBLOCK, mode), b"text"),
    "mkdir": os.mkdir, "unlink": os.unlink, "rmdir": os.rmdir, "rename": os.rename, "link": os.link,
    "symlink": os.symlink, "chmod": os.chmod, "truncate": os.truncate, "mkfifo": os.mkfifo, "chdir": os.chdir,
    "umask": os.umask, "utime": lambda path, when: os.utime(path, (when, when)),
    "label": lambda path, name: os.setxattr(path, "user." + name, b"x", follow_symlinks=False),
    "at": lambda name, path, mode: os.mkdir(path, mode, dir_fd=os.open(name, os.O_PATH)),
    "special": lambda old, new, flags: system(
        316 if os.uname().machine == "x86_64" else 276, ctypes.c_int(-100), old.encode(), ctypes.c_int(-100), new.encode(),
        ctypes.c_uint(flags)
    ),
}
top = os.getcwd()
for name, *arguments in json.load(open("../../../calls")):
    tried(name, calls[name], *arguments)
os.chdir(top)
tree()
for folder, folders, files in os.walk("."):
    for name in sorted(folders + files):
        path = os.path.join(folder, name)
        print(path, sorted(os.listxattr(path, follow_symlinks=False)), int(os.lstat(path).st_mtime) if os.lstat(path).st_mtime < 1000 else "")
"""
NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.one_of(
    NAMES,
    st.builds("{}/{}".format, NAMES, NAMES),
    st.builds("{}/{}/{}".format, NAMES, NAMES, NAMES),
    st.builds("{}/".format, NAMES),
    st.builds("./{}".format, NAMES),
    st.builds("{}/../{}".format, NAMES, NAMES),
    st.sampled_from([".", "..", "", "/proc/self/cwd/a", "/proc/self/fd/99"]),
)
# Not through a link to /proc/self: the holder follows only those to open files.
TARGETS = PATHS.filter(lambda path: not path.startswith("/proc"))
FLAGS = st.lists(
    st.sampled_from(
        [
            os.O_CREAT,
            os.O_EXCL,
            os.O_TRUNC,
            os.O_APPEND,
            os.O_NOFOLLOW,
            os.O_DIRECTORY,
            os.O_WRONLY,
            os.O_RDWR,
            os.O_TMPFILE,
        ]
    ),
    max_size=4,
).map(lambda flags: sum(set(flags)))
MODES = st.sampled_from([0o777, 0o644, 0o700, 0o1777, 0])
CALLS = st.one_of(
    st.tuples(st.just("open"), PATHS, FLAGS, MODES),
    st.tuples(st.just("write"), PATHS, FLAGS, MODES),
    st.tuples(st.sampled_from(["mkdir", "chmod", "mkfifo"]), PATHS, MODES),
    st.tuples(st.sampled_from(["unlink", "rmdir"]), PATHS),
    st.tuples(st.just("chdir"), NAMES),
    st.tuples(st.sampled_from(["rename", "link"]), PATHS, PATHS),
    st.tuples(st.just("symlink"), TARGETS, PATHS),
    st.tuples(st.just("truncate"), PATHS, st.sampled_from([0, 3, 1000, -1])),
    st.tuples(st.just("utime"), PATHS, st.integers(0, 999)),
    st.tuples(st.just("label"), PATHS, NAMES),
    st.tuples(st.just("umask"), st.sampled_from([0, 0o22, 0o77])),
    st.tuples(st.just("at"), NAMES, PATHS, MODES),
    st.tuples(st.just("special"), PATHS, PATHS, st.integers(0, 3)),
)


@settings(
    max_examples=15,
    deadline=None,
    # Two mistakes in one call may be reported in another order, which random sequences find now and then.
    derandomize=True,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
@example(sequence=[("symlink", "b/", "b"), ("open", "b", os.O_CREAT, 0o777)])
@example(sequence=[("symlink", "a", "a"), ("write", "a", os.O_NOFOLLOW | os.O_DIRECTORY, 0o777)])
@given(sequence=st.lists(CALLS, min_size=40, max_size=150))
def test_a_sequence_of_calls_gives_the_same(tier: Tier, sequence: list[tuple[Any, ...]]) -> None:
    assert performed(tier, sequence, held=True) == performed(tier, sequence, held=False)


def performed(tier: Tier, sequence: list[tuple[Any, ...]], *, held: bool) -> str:
    bench = Bench(tier)
    try:
        (bench.work / "calls").write_text(json.dumps(sequence))
        # Deep enough for the parents of the working directory to be its own.
        (bench.work / "1/2/here").mkdir(parents=True)
        argv = (sys.executable, "-I", "-S", "-c", f"{HEAD}os.chdir('1/2/here')\n{PERFORM}")
        ran = bench.run(argv, answer=everything, held=held)
        return f"{ran.status}\n{ran.output}".replace(bench.top.name, "TOP")
    finally:
        bench.close()
