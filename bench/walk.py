"""`python -m bench.walk`: count the modules of terp that one turn passes.

One turn is a plain text answer, the other one approved run. A module counts from its first call; the fakes
of `terp.testing` do not. Modules of `analysis/effects` are listed in the sum only.
"""

import asyncio
import sys
import tempfile
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import terp
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, call

CORE = Path(terp.__file__).parent
FAKES = "testing.py"
EFFECTS = "analysis/effects/"
READERS = ("terp.analysis.effects.cells", "terp.analysis.effects.known")


@dataclass(frozen=True, slots=True)
class Walk:
    """The modules of one turn in the order of their first call, and how often the turn changed modules."""

    modules: tuple[str, ...]
    calls: int
    switches: int

    def __str__(self) -> str:
        """Return the counts, and below them the modules."""
        effects = sum(module.startswith(EFFECTS) for module in self.modules)
        listed = "  ".join(module for module in self.modules if not module.startswith(EFFECTS))
        counts = f"{len(self.modules)} modules ({effects} of effects), {self.calls} calls"
        return f"{counts}, {self.switches} changes of module\n  {listed}"


def walked(files: Iterable[str]) -> Walk:
    """Return the walk of a turn whose calls went to these files."""
    prefix = f"{CORE}/"
    modules = [file.removeprefix(prefix) for file in files if file.startswith(prefix)]
    switches = sum(one != other for one, other in zip([None, *modules], modules, strict=False))
    distinct = dict.fromkeys(modules)
    distinct.pop(FAKES, None)
    return Walk(tuple(distinct), len(modules), switches)


async def files_called(model: ScriptedModel, folder: Path) -> list[str]:
    """Return the file of each Python call of one turn, in order."""
    files: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            files.append(frame.f_code.co_filename)

    session = Session(model, EchoKernel(), ScriptedPerson("run"), folder=folder)
    async with aclosing(session.turn("what is 6*7?")) as events:
        sys.setprofile(note)
        try:
            async for _ in events:
                pass
        finally:
            sys.setprofile(None)
    await session.aclose()
    return files


def measured(model: ScriptedModel) -> Walk:
    """Return the walk of one turn with this model."""
    with tempfile.TemporaryDirectory() as folder:
        return walked(asyncio.run(files_called(model, Path(folder))))


def main() -> None:
    """Print both walks."""
    # The first code of a process imports its readers: that is start-up, not a turn.
    for name in READERS:
        import_module(name)
    print("text answer:", measured(ScriptedModel("Hello")))
    print("approved run:", measured(ScriptedModel([call("x = 6*7")], "It is 42.")))


if __name__ == "__main__":
    main()
