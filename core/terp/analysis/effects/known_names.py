"""Which full names are known at all: modules, harmless names, and names with effects."""

from functools import cache

from terp.analysis.effects import harmless_science, harmless_stdlib, known_effects
from terp.analysis.effects.harmless_methods import METHODS as HARMLESS_METHODS

# A name of an attribute that is not listed is taken for a column, unless it sounds like a deed or leads to
# what runs: modules, frames.
_DEEDS = tuple(
    str.split("""
        to_ read write save load dump exec run open eval query remove delete unlink rm call system spawn
        popen connect import upload download fetch backend tb_ f_globals f_locals f_builtins f_back f_code
        gi_ cr_ ag_ co_ func_
    """)
)
_LEADS = frozenset(
    str.split("""
        os sys posix nt io builtins subprocess shutil importlib ctypes pickle socket pty runpy tempfile
        glob pathlib parser modules canvas manager posixpath ntpath genericpath codecs
    """)
)


@cache
def harmless() -> frozenset[str]:
    """The full names of functions, classes and constants without any effect."""
    tables = {**harmless_stdlib.MODULES, **harmless_science.MODULES}
    return frozenset(f"{module}.{name}" for module, names in tables.items() for name in names.split())


@cache
def modules() -> frozenset[str]:
    """The full names of all modules that have a known name, and of the packages around them."""
    tables = [*harmless_stdlib.MODULES, *harmless_science.MODULES]
    functions = [
        *known_effects.FUNCTIONS,
        *known_effects.UNPICKLERS,
        *known_effects.PROCESSES,
        *known_effects.OPENERS,
    ]
    functions += [*known_effects.REMOTE_READERS, *known_effects.ARCHIVES]
    owners = {name.rpartition(".")[0] for name in functions}
    found = {*tables, *(owners - harmless())} - {"os.environ"}
    for name in list(found):
        while name := name.rpartition(".")[0]:
            found.add(name)
    return frozenset(found)


@cache
def effectful() -> frozenset[str]:
    """The full names of functions that have an effect, or need a look at how they are called."""
    known = known_effects
    return (
        frozenset(known.FUNCTIONS) | frozenset(known.REMOTE_READERS) | known.UNPICKLERS | known.PROCESSES
        | known.OPENERS | known.ARCHIVES | known.ENVIRONMENT | known.REFUSED | known.SPECIAL
    )  # fmt: skip


def is_known(path: str) -> bool:
    """Whether a full name is that of something known."""
    return path in harmless() or path in modules() or path in effectful()


def is_harmless_method(name: str) -> bool:
    """Whether calling this method only computes, whichever known type has it."""
    return name in HARMLESS_METHODS or name in known_effects.ARCHIVE_ONLY


def may_be_a_column(name: str) -> bool:
    """Whether an attribute that is read, and is not listed, may be taken for plain content."""
    return not name.startswith(("_", *_DEEDS)) and name not in _LEADS
