"""Dataclasses whose methods are made at first use are those of the standard library."""

import copy
import dataclasses
import inspect
import pickle
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.text import dataclasses as later

HEAD = (
    "from dataclasses import InitVar, KW_ONLY\nfrom typing import Any, ClassVar, Generic, Protocol, TypeVar\n"
)
FIELDS = (
    "{name}: int",
    "{name}: int = 7",
    "{name}: list[int] = field(default_factory=list)",
    "{name}: str = field(default='x', repr=False)",
    "{name}: int = field(default=3, compare=False)",
    "{name}: int = field(default=3, hash=False, metadata={{'unit': 's'}})",
    "{name}: int = field(init=False, default=5)",
    "{name}: int = field(kw_only=True)",
    "{name}: 'ClassVar[int]' = 2",
    "{name}: ClassVar[int] = 2",
    "{name}: InitVar[int] = 4",
)
METHODS = (
    "def __repr__(self): return 'own'",
    "def __eq__(self, other): return type(self) is type(other)",
    "def __hash__(self): return 11",
    "__hash__ = None",
    "def __post_init__(self, *given): print(given)",
    "def __init__(self): pass",
    "def __getstate__(self): return []",
    "def __setstate__(self, state): pass",
    "__match_args__ = ('one',)",
)
BASES = ("", "(Generic[T])", "(Asked)", "(Exception)", "(Slotted)")
PARTS = """
T = TypeVar("T")
class Asked(Protocol):
    def ask(self): ...
class Slotted:
    __slots__ = ("f0", "__weakref__")
"""


@st.composite
def shapes(draw: st.DrawFn) -> str:
    """The source of a class with some options, fields and methods."""
    options = {"slots": True} | {
        name: draw(st.booleans()) for name in draw(st.sets(st.sampled_from(["frozen", "eq", "kw_only"])))
    }
    written = ", ".join(f"{name}={value}" for name, value in options.items())
    fields = draw(st.lists(st.sampled_from(FIELDS), max_size=5))
    rows = [row.format(name=f"f{number}") for number, row in enumerate(fields)]
    rows += draw(st.lists(st.sampled_from(METHODS), max_size=2, unique=True))
    doc = draw(st.sampled_from(['"""Documented."""', ""]))
    body = "\n    ".join([doc, *rows]).strip() or "pass"
    return f"@dataclass({written})\nclass Made{draw(st.sampled_from(BASES))}:\n    {body}\n"


def defined(source: str, dataclass: Callable[..., Any]) -> Any:
    """The class of a source, in a module of its own."""
    module = ModuleType("made_here")
    sys.modules[module.__name__] = module
    vars(module).update(dataclass=dataclass, field=dataclasses.field)
    exec(compile(HEAD + PARTS + source, "made", "exec", dont_inherit=True), vars(module))
    return module.Made


def outcome(work: Callable[[], Any]) -> Any:
    """What a call gives: its value or its error, in text."""
    try:
        return repr(work())
    except Exception as error:  # noqa: BLE001  (compared)
        return type(error).__name__, str(error)


def behaviour(cls: Any) -> Iterator[Any]:
    """All that a program can see of a dataclass, the first use first."""
    needed = [
        row
        for row in dataclasses.fields(cls)
        if row.init and row.default is row.default_factory is dataclasses.MISSING
    ]
    some = {row.name: number for number, row in enumerate(needed)}
    yield outcome(lambda: cls(**some))
    try:
        one, other = cls(**some), cls(**some)
    except Exception:  # noqa: BLE001  (compared above)
        return
    yield outcome(lambda: one)
    yield outcome(lambda: one == other)
    yield outcome(lambda: hash(one) == hash(other))
    yield outcome(lambda: cls(1, 2, 3))
    for name in ("f0", "f1", "nothing"):
        yield outcome(partial(setattr, other, name, 9))
        yield outcome(partial(delattr, other, name))
    yield outcome(lambda: one == other)
    yield outcome(lambda: dataclasses.replace(one, f0=8))
    yield outcome(lambda: dataclasses.asdict(one))
    yield outcome(lambda: copy.deepcopy(one))
    yield outcome(lambda: pickle.loads(pickle.dumps(one)))
    yield outcome(lambda: weakref.ref(one)() is one)
    yield outcome(lambda: one < other)


def looks(cls: Any) -> Iterator[Any]:
    """What a class is made of."""
    yield outcome(lambda: inspect.signature(cls))
    yield outcome(lambda: cls.__dataclass_params__)
    yield outcome(lambda: dataclasses.fields(cls))
    yield (
        cls.__match_args__,
        cls.__slots__,
        cls.__doc__,
        cls.__qualname__,
        cls.__module__,
        cls.__hash__ is None,
    )
    yield sorted(name for name in cls.__dict__ if hasattr(cls, name))
    yield sorted(
        name for name, value in vars(cls).items() if getattr(value, "__qualname__", "").startswith("Made.")
    )


@given(shapes())
def test_a_class_behaves_as_one_of_the_standard_library(source: str) -> None:
    theirs = outcome(lambda: list(behaviour(defined(source, dataclasses.dataclass))))
    ours = outcome(lambda: list(behaviour(defined(source, later.dataclass))))
    # Mistakes in the fields are raised at the first use.
    assert ours == theirs or "non-default argument" in str(theirs)


@given(shapes())
def test_a_class_looks_like_one_of_the_standard_library(source: str) -> None:
    theirs = outcome(lambda: list(looks(defined(source, dataclasses.dataclass))))
    ours = outcome(lambda: list(looks(defined(source, later.dataclass))))
    assert ours == theirs or "non-default argument" in str(theirs)


@given(shapes(), st.booleans(), st.booleans())
def test_a_subclass_of_a_class_that_waits_is_that_of_the_standard_library(
    source: str, frozen: bool, slots: bool
) -> None:
    child = source.replace("class Made", "class Parent") + (
        f"@dataclass(frozen={frozen}, slots={slots})\nclass Made(Parent):\n    'Below.'\n    more: int = 1\n"
    )
    theirs = outcome(lambda: list(behaviour(defined(child, dataclasses.dataclass))))
    ours = outcome(lambda: list(behaviour(defined(child, later.dataclass))))
    assert ours == theirs or "non-default argument" in str(theirs)


WAITING = (
    "@dataclass(frozen=True, slots=True)\nclass Made:\n    'Documented.'\n    f0: int\n    f1: str = 'x'\n"
)


def test_methods_wait_for_the_first_use() -> None:
    def made() -> list[str]:
        return [name for name in ("__init__", "__eq__") if inspect.isfunction(cls.__dict__[name])]

    cls = defined(WAITING, later.dataclass)
    assert made() == []
    one = cls(1)
    assert made() == ["__init__"]
    assert one == cls(1)
    assert made() == ["__init__", "__eq__"]


def test_a_match_by_position_is_a_first_use() -> None:
    match defined(WAITING, later.dataclass)(3):
        case object(f0=first, f1=second):
            assert (first, second) == (3, "x")


def test_threads_can_use_a_class_first_at_once() -> None:
    def use(cls: Any, ready: threading.Barrier, made: list[str]) -> None:
        ready.wait()
        made.append(repr(cls(4)))

    for _ in range(50):
        made: list[str] = []
        given = defined(WAITING, later.dataclass), threading.Barrier(4), made
        threads = [threading.Thread(target=use, args=given) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == ["Made(f0=4, f1='x')"] * 4


@pytest.mark.parametrize(
    "options", ["slots=True, order=True", "frozen=True", "slots=True, weakref_slot=True"]
)
def test_a_class_with_other_options_is_made_at_once(options: str) -> None:
    cls = defined(WAITING.replace("frozen=True, slots=True", options), later.dataclass)
    assert inspect.isfunction(cls.__dict__["__init__"])
