"""Checkpoints of variables on disk: what is kept, what is not, and what something else has changed."""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from terp.errors import SessionError
from terp.kernels.inside.known import StoredValue
from terp.secrets.redactor import Redactor
from terp.store.catalogue import Catalogue
from terp.store.checkpoints import CheckpointStore, Receiver, StoredCheckpoint
from terp.store.journal import NAME
from tests.core.store.handed import SECRET, StoringKernel, digests, resumed

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "expression",
    [
        "1",
        "'Zoë \\ud800'",
        "[1, 2.5, None, {'a': [True]}]",
        "(1, 'two')",
        "{1: {2, 3}}",
        "float('inf')",
        "__import__('decimal').Decimal('0.1')",
        "__import__('numpy').arange(6, dtype='int16').reshape(2, 3)",
        "__import__('numpy').array(['2024-01-01'], 'M8[D]')",
        "__import__('numpy').float32(0.1)",
        "__import__('pandas').DataFrame({'n': [1, 2], 'who': ['Zoë', None]}, index=[3, 1])",
        "__import__('pandas').Series([1.5, None], name='x')",
        "__import__('pandas').date_range('2024', periods=3).to_series()",
    ],
)
def test_values_come_back_as_they_were(tmp_path: Path, expression: str) -> None:
    kernel, _ = resumed(tmp_path, f"value = {expression}")
    before, after = eval(expression), kernel["value"]
    assert type(after) is type(before)
    assert repr(after) == repr(before)


def test_values_that_share_objects_share_them_again(tmp_path: Path) -> None:
    kernel, _ = resumed(tmp_path, "items = [1]; both = (items, items); also = items")
    assert kernel["both[0] is both[1] is items is also"]


def test_all_who_make_the_key_at_once_sign_with_the_same(tmp_path: Path) -> None:
    stores = [CheckpointStore(tmp_path / str(number), tmp_path / "key") for number in range(8)]
    begin = threading.Barrier(len(stores))

    def write(store: CheckpointStore) -> None:
        store.folder.mkdir()
        begin.wait()
        store.write(StoredCheckpoint("last", 1.0, "none", "/", ()))

    with ThreadPoolExecutor(len(stores)) as threads:
        list(threads.map(write, stores))
    assert [store.read("last").name for store in stores] == ["last"] * len(stores)


def test_an_array_in_a_dict_is_stored_once(tmp_path: Path) -> None:
    kernel, checkpoint = resumed(
        tmp_path, "import numpy; array = numpy.zeros(100_000); held = {'array': array}"
    )
    assert sum(piece["size"] for piece in checkpoint.pieces) < 900_000
    assert kernel["held['array'] is array"]


def test_functions_and_classes_come_back_from_their_source(tmp_path: Path) -> None:
    kernel, _ = resumed(
        tmp_path,
        "factor = 2\nclass Point:\n    def __init__(self, x): self.x = x\n"
        "    def scaled(self): return self.x * factor",
        "point = Point(4)",
    )
    assert kernel["point.scaled(), isinstance(point, Point)"] == (8, True)


def test_a_decorated_class_without_methods_comes_back(tmp_path: Path) -> None:
    cell = "from dataclasses import dataclass\n@dataclass\nclass Row:\n    n: int = 3"
    kernel, _ = resumed(tmp_path, cell, "row = Row(5)")
    assert repr(kernel["row"]) == "Row(n=5)"


@pytest.mark.parametrize(
    ("cell", "expression"),
    [
        ("import functools\n@functools.cache\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)",
         "fib(30), fib.cache_info().currsize"),
        ("from typing import NewType; Id = NewType('Id', int)", "Id(832_040), 31"),
        ("from collections import namedtuple; Two = namedtuple('Two', 'a b')", "Two(832_040, 31)"),
    ],
)  # fmt: skip
def test_what_pickles_only_name_comes_back_from_its_statement(
    tmp_path: Path, cell: str, expression: str
) -> None:
    kernel, _ = resumed(tmp_path, cell)
    assert kernel[expression] == (832_040, 31)


def test_a_value_that_its_pickle_would_only_name_is_not_kept(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, "import typing; T, = map(typing.TypeVar, 'T')")
    assert dict(kernel.save().left) == {"T": "the source of T is not known"}


def test_names_with_two_underscores_come_back(tmp_path: Path) -> None:
    kernel, _ = resumed(tmp_path, "__half = 21; x__ = 2")
    assert kernel["__half * x__"] == 42


def test_modules_come_back_by_name(tmp_path: Path) -> None:
    kernel, _ = resumed(tmp_path, "import json as j")
    assert kernel["j"] is json


def test_a_second_checkpoint_keeps_what_was_never_loaded(tmp_path: Path) -> None:
    kernel, first = resumed(tmp_path, "items = [1]; pair = (items,); x = 2; f = len")
    kernel.run(1, "x = 3")
    assert type(kernel.names["pair"]) is StoredValue
    second = kernel.save(known=digests(first))
    assert second.names["pair"]["digest"] == first.names["pair"]["digest"]
    again = StoringKernel(tmp_path)
    again.load(second)
    assert again["pair, x"] == (([1],), 3)


def test_what_waits_keeps_its_part_when_that_name_gets_another_value(tmp_path: Path) -> None:
    kernel, first = resumed(tmp_path, "import numpy; part = numpy.arange(3); whole = {'part': part}")
    kernel.run(1, "part = numpy.arange(5)")
    second = kernel.save(known=digests(first))
    again = StoringKernel(tmp_path)
    again.load(second)
    assert again["len(whole['part']), len(part)"] == (3, 5)


def test_a_name_waits_until_code_mentions_it(tmp_path: Path) -> None:
    kernel, _ = resumed(tmp_path, "a = [1]; b = (2,)")
    kernel.run(1, "a.append(2)")
    assert kernel.names["a"] == [1, 2]
    assert type(kernel.names["b"]) is StoredValue


def test_a_name_in_the_body_of_a_called_method_is_loaded(tmp_path: Path) -> None:
    kernel, _ = resumed(tmp_path, "n = 3\nclass A:\n    def get(self): return n", "a = A()")
    assert kernel["a.get()"] == 3


def test_code_that_reaches_all_names_finds_the_values(tmp_path: Path) -> None:
    kernel, _ = resumed(tmp_path, "left = (1,); right = (2,)")
    assert kernel["[globals()[n] for n in ('le' + 'ft', 'ri' + 'ght')]"] == [(1,), (2,)]


def test_loading_is_no_change_of_the_cell(tmp_path: Path) -> None:
    kernel, _ = resumed(tmp_path, "items = [1]")
    kernel.run(1, "len(items)")
    assert kernel.namespace.found["changes"] == []


def test_a_restore_of_a_turn_works_with_loaded_values(tmp_path: Path) -> None:
    kernel, _ = resumed(tmp_path, "items = [1]; x = 5")
    kernel.run(1, "x = 6")
    kernel.run(2, "items.append(2)")
    kernel.back_to(1)
    assert kernel["items, x"] == ([1], 5)


def test_what_is_not_kept_is_named_with_its_type(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(
        1,
        "import sqlite3, threading\nconn = sqlite3.connect(':memory:'); gen = (i for i in 'ab')\n"
        "lock = threading.Lock(); file = open('/dev/null'); held = {'file': file}; kept = 1",
    )
    checkpoint = kernel.save()
    kernel.run(2, "file.close(); conn.close()")
    left = {name: why.replace("_io.", "") for name, why in dict(checkpoint.left).items()}
    assert left.pop("held").startswith("dict: TypeError: cannot pickle 'TextIOWrapper' ")
    assert left == {
        "conn": "sqlite3.Connection",
        "gen": "generator",
        "lock": "_thread.lock",
        "file": "TextIOWrapper",
    }
    assert set(checkpoint.names) == {"kept", "sqlite3", "threading"}
    assert checkpoint.summary().endswith(" · 5 not kept: conn, file, gen, held, lock")


def test_an_unpicklable_value_leaves_those_that_share_parts_with_it(tmp_path: Path) -> None:
    kernel, checkpoint = resumed(tmp_path, "items = [1]; gen = (i for i in items); pair = (items,)")
    assert [name for name, _ in checkpoint.left] == ["gen"]
    assert kernel["pair[0] is items"]


@pytest.mark.parametrize(
    "cell",
    [
        "api_key = 'hunter2'",
        f"text = 'it is {SECRET}.'",
        f"held = ({SECRET!r}, 2)",
        f"import numpy\narray = numpy.array([{SECRET!r}, 'b'])",
        f"import pandas\nframe = pandas.DataFrame({{'a': ['x', {SECRET!r}]}})",
        "made = ['sk-abcdefghijklmnopqrstuvwxyz0123456789']",
    ],
)
def test_a_secret_is_named_and_not_on_disk(tmp_path: Path, cell: str) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, cell)
    checkpoint = kernel.save()
    assert [why for _, why in checkpoint.left] == ["it holds a secret, or has the name of one"]
    content = b"".join(path.read_bytes() for path in kernel.store.folder.rglob("*") if path.is_file())
    assert SECRET.encode() not in content.replace(b"\0", b"")
    assert b"hunter2" not in content


def test_a_secret_between_two_pieces_is_found(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, f"text = 'x' * ((1 << 20) - 10) + {SECRET!r}")
    assert [name for name, _ in kernel.save().left] == ["text"]


def test_an_unchanged_value_is_written_once(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, "import numpy; array = numpy.arange(100_000)")
    first = kernel.save()
    path = kernel.store.objects / first.names["array"]["digest"]
    before = path.stat()
    receiver = kernel.hand_out(digests(first), room=1 << 40)
    assert {piece["digest"] for piece in receiver.pieces} == set(digests(first).values())
    assert path.stat() == before


def test_the_arrays_of_an_unchanged_object_are_neither_copied_nor_hashed_again(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    box = "def __reduce_ex__(self, protocol):\n        seen.append(protocol)\n        return Box, ()"
    kernel.run(1, "seen = []", f"class Box:\n    {box}", "box = [Box()]")
    second = kernel.save(known=digests(kernel.save()))
    kernel.run(2, "seen.clear()")
    kernel.save(known=digests(second))
    # Only from protocol 5 on are arrays beside the pickle.
    assert kernel["seen"] == [5]


@pytest.mark.parametrize(
    "code", ["array[5] = 7", "array.resize((10, 100), refcheck=False)", "array = array.astype('i4')"]
)
def test_a_change_of_an_array_is_saved_after_checkpoints_without_one(tmp_path: Path, code: str) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, "import numpy; array = numpy.arange(1000)")
    known = digests(kernel.save())
    for _ in range(2):
        known = digests(kernel.save(known=known))
    kernel.run(2, code)
    assert digests(kernel.save(known=known))["array"] != known["array"]


def test_an_array_that_was_changed_in_place_is_written_again(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, "import numpy; array = numpy.arange(1000); part = array[5:]")
    first = kernel.save()
    kernel.run(2, "part[0] = 7")
    second = kernel.save(known=digests(first), seconds=10.0)
    assert first.names["array"]["digest"] != second.names["array"]["digest"]
    kernel.load(second)
    assert kernel["array[5]"] == 7


def test_the_largest_values_are_left_out_where_there_is_no_room(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(
        1, "import numpy; large = numpy.arange(10_000); small = numpy.arange(10); holds = {'of': large}"
    )
    checkpoint = kernel.save(room=2_000)
    assert dict(checkpoint.left) == {"large": "there is no room for it", "holds": "it needs large"}
    assert "small" in checkpoint.names


def test_a_value_whose_pickle_blocks_is_given_up_when_the_time_is_over(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(
        1, "import time\nclass Blocks:\n    def __reduce__(self): time.sleep(60)", "one = Blocks(); x = 1"
    )
    checkpoint = kernel.save(seconds=0.2)
    assert dict(checkpoint.left) == {"one": "it took too long"}
    assert "x" in checkpoint.names


def test_an_object_that_was_given_up_takes_no_room_from_later_ones(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, "import numpy, threading")
    kernel.run(1, "fails = [bytes(900_000), threading.Lock()]; large = ['x' * 900_000]")
    checkpoint = kernel.save(room=1_000_000)
    assert list(dict(checkpoint.left)) == ["fails"]
    assert "large" in checkpoint.names


def test_a_damaged_object_is_named_and_its_name_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel, checkpoint = resumed(tmp_path, "pair = (1, 2); x = 5")
    (kernel.store.objects / checkpoint.names["pair"]["digest"]).write_bytes(b"cos\nsystem\n(S'exit'\ntR.")
    with pytest.raises(NameError):
        kernel.run(1, "pair")
    assert capsys.readouterr().err == (
        "pair could not be loaded from the checkpoint: ValueError: its file was changed or is damaged\n"
    )


@pytest.mark.parametrize("change", [lambda text: text.replace(b'"none"', b'"weak"'), lambda text: text[:-1]])
def test_a_list_that_something_else_changed_is_refused(tmp_path: Path, change: Any) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, "x = 1")
    kernel.save()
    path = kernel.store.folder / "last.json"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(SessionError, match="'last' was changed by something other than terp"):
        kernel.store.read("last")


def test_a_list_signed_with_another_key_is_refused(tmp_path: Path) -> None:
    forged = CheckpointStore(tmp_path / "checkpoints", tmp_path / "other_key")
    forged.objects.mkdir(parents=True)
    forged.write(StoredCheckpoint("last", 1.0, "none", "/", ()))
    store = CheckpointStore(tmp_path / "checkpoints", tmp_path / "key")
    with pytest.raises(SessionError, match="changed by something other"):
        store.read("last")


def test_the_folder_and_the_key_are_the_users_own(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, "x = 1")
    kernel.save()
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "key", *kernel.store.folder.rglob("*"))}
    assert modes == {0o600, 0o700}
    assert kernel.store.folder.stat().st_mode & 0o777 == 0o700


@contextmanager
def writing(pipe: Path, content: bytes) -> Iterator[None]:
    """Write into a pipe as a kernel that says anything."""
    thread = threading.Thread(target=lambda: pipe.write_bytes(content))
    thread.start()
    yield
    thread.join()


ROW = {"names": ["x"], "kinds": ["int"], "form": "json", "by": "json"}


def line(**changed: Any) -> bytes:
    return json.dumps({**ROW, **changed}).encode() + b"\n"


@pytest.mark.parametrize(
    "content",
    [
        b"[]\n",
        b"not json\n",
        line(names=[]),
        line(names=["__builtins__"]),
        line(names=["a b"]),
        line(names=[["x"]]),
        line(names=["../../x"]),
        line(names=["x", "y"]),
        line(form="elf"),
        line(kinds=["\x1b[2J"]),
        line() + struct.pack(">I", 1 << 30),
        line() + struct.pack(">I", 2) + b"11" + struct.pack(">I", 0) + b"7\n",
    ],
)
def test_a_kernel_that_hands_out_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    store = CheckpointStore(tmp_path / "checkpoints", tmp_path / "key")
    receiver = Receiver(store, tmp_path / "pipe", Redactor(), 1_000)
    with writing(tmp_path / "pipe", content), pytest.raises(ValueError):
        receiver.run()
    assert receiver.pieces == []
    store.clean()
    assert not any(store.objects.iterdir())


def test_a_digest_that_names_no_object_is_not_kept(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path / "checkpoints", tmp_path / "key")
    receiver = Receiver(store, tmp_path / "pipe", Redactor(), 1_000)
    with writing(tmp_path / "pipe", line(digest="../../key") + line(digest="0" * 64) + b'{"end": true}\n'):
        assert receiver.run()
    assert (receiver.pieces, receiver.left) == ([], {"x": "its file was removed"})


def test_an_object_that_another_library_may_still_pickle_is_not_named(tmp_path: Path) -> None:
    receiver = Receiver(
        CheckpointStore(tmp_path / "a", tmp_path / "key"), tmp_path / "pipe", Redactor(), 1_000
    )
    with writing(tmp_path / "pipe", line() + b"\xff" * 4 + b'{"end": true}\n'):
        assert receiver.run()
    assert (receiver.pieces, receiver.left) == ([], {})


def test_a_kernel_that_ends_in_the_middle_leaves_the_former_checkpoint(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, "x = 1")
    before = kernel.save()
    receiver = Receiver(kernel.store, kernel.pipe, Redactor(), 1_000)
    with writing(kernel.pipe, line() + struct.pack(">I", 5) + b"12"):
        assert receiver.run() is False
    assert kernel.store.read("last") == before


def test_a_link_in_place_of_the_pipe_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "pipe").symlink_to(tmp_path / "private")
    with pytest.raises(FileExistsError):
        Receiver(CheckpointStore(tmp_path / "c", tmp_path / "key"), tmp_path / "pipe", Redactor(), 1)


def test_a_removed_checkpoint_leaves_the_objects_of_others(tmp_path: Path) -> None:
    kernel = StoringKernel(tmp_path)
    kernel.run(1, "x = 1; y = 'one'")
    one = kernel.save("one")
    kernel.run(2, "y = 'two'")
    kernel.save("two")
    kernel.store.drop("one")
    assert kernel.store.all() == ["two"]
    assert not (kernel.store.objects / one.names["y"]["digest"]).exists()
    kernel.load(kernel.store.read("two"))
    assert kernel["x, y"] == (1, "two")


def test_old_checkpoints_do_not_count_and_go_after_a_month(tmp_path: Path) -> None:
    for name, days in (("2026-01-01-00000001", 31), ("2026-01-01-00000002", 29)):
        (tmp_path / name / "checkpoints").mkdir(parents=True)
        (tmp_path / name / "checkpoints" / "large").write_bytes(bytes(10_000))
        (tmp_path / name / NAME).write_text("{}\n")
        os.utime(tmp_path / name / NAME, (time.time() - days * 86_400,) * 2)
    pruned = Catalogue(tmp_path).prune(1_000)
    assert pruned.removed == ()
    assert [path.parent.name for path in tmp_path.glob("*/checkpoints")] == ["2026-01-01-00000002"]


# Forks, for each number that it reads, a process that saves checkpoints from that number on.
SAVING = """
import os, sys
from pathlib import Path
from tests.core.store.handed import StoringKernel, digests

def save(number, known):
    kernel = StoringKernel(Path(sys.argv[1]))
    while True:
        kernel.run(number, f"number = {number}; many = ({number},) * 100_000")
        known = digests(kernel.save(known=known))
        number += 1

for line in sys.stdin:
    child = os.fork()
    if not child:
        save(int(line), {})
    print(child, flush=True)
    os.waitpid(child, 0)
    print("killed", flush=True)
"""


@pytest.mark.parametrize("times", [20, pytest.param(200, marks=pytest.mark.faults)])
def test_a_kill_at_any_moment_leaves_the_former_checkpoint_whole(tmp_path: Path, times: int) -> None:
    kernel, last = StoringKernel(tmp_path), 1
    kernel.run(1, "number = 1; many = (1,) * 100_000")
    began = time.monotonic()
    kernel.save()
    whole_s = time.monotonic() - began
    moments = random.Random(20)
    with subprocess.Popen(
        [sys.executable, "-c", SAVING, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as saving:
        assert saving.stdin is not None and saving.stdout is not None
        for _ in range(times):
            (tmp_path / "pipe").unlink(missing_ok=True)
            print(last + 1, file=saving.stdin, flush=True)
            pid = int(saving.stdout.readline())
            threading.Timer(moments.uniform(0.0, 3 * whole_s), os.kill, (pid, signal.SIGKILL)).start()
            assert saving.stdout.readline() == "killed\n"
            kernel.load(kernel.store.read("last"))
            number, many = kernel["number, set(many)"]
            assert many == {number}
            assert number >= last
            last = number
        saving.stdin.close()
    assert last > 1
