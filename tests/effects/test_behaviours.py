"""System calls behave the same whether their effects are held or not."""

import json
import sys
from collections.abc import Mapping

import pytest

from terp.kernels.sandbox.tier import Tier
from tests.effects.behaviours import BEHAVIOURS, HEAD, RUN_ALL
from tests.effects.driver import Bench, everything


@pytest.fixture(scope="module")
def printed(tier: Tier) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What all programs print, untouched and held."""
    return _printed(tier, held=False), _printed(tier, held=True)


def _printed(tier: Tier, *, held: bool) -> Mapping[str, str]:
    # Kernels that start meanwhile cover all sockets elsewhere, and these come and go.
    bench = Bench(tier, below="/tmp")
    try:
        (bench.work / "programs").write_text(json.dumps([HEAD, BEHAVIOURS]))
        argv = (sys.executable, "-I", "-S", "-c", RUN_ALL, "programs", str(bench.work))
        ran = bench.run(argv, answer=everything, held=held, timeout_s=120)
        assert ran.status == 0, ran.output
        return {
            name: text.replace(bench.top.name, "TOP")
            for name, text in json.loads(ran.output.splitlines()[-1]).items()
        }
    finally:
        bench.close()


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_program_prints_the_same(name: str, printed: tuple[Mapping[str, str], Mapping[str, str]]) -> None:
    untouched, held = (found[name] for found in printed)
    assert "Traceback" not in untouched
    assert "ended with" not in untouched
    assert held == untouched
