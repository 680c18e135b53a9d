"""With nobody there no effect happens, and each attempt is reported."""

from collections.abc import Sequence

import pytest

from terp.kernels.sandbox.tier import Tier
from tests.effects.cells import CELLS, FEW, Cell
from tests.effects.corpus import Corpus
from tests.effects.driver import holding
from tests.faults.figures import Figure


def proven(tier: Tier, cells: Sequence[Cell]) -> int:
    """Run the cells with nobody there; return the number of questions."""
    corpus = Corpus(tier, cells)
    try:
        ran = corpus.run()
        assert "ALL RAN" in ran.output, ran.output[-2000:]
        assert (corpus.harmed(ran), corpus.unreported(ran)) == ({}, [])
        return len(ran.asked)
    finally:
        corpus.close()


def test_some_cells_of_each_class_do_nothing(tier: Tier) -> None:
    assert len(FEW) >= 60
    proven(tier, FEW)


@pytest.mark.faults
@pytest.mark.timeout(900)
def test_no_cell_does_anything(tier: Tier, figure: Figure) -> None:
    assert len(CELLS) >= 800
    asked = proven(tier, CELLS)
    figure(f"effects held by {tier.name}: {len(CELLS):,} cells, 0 effects, {asked:,} questions")


@pytest.mark.faults
@pytest.mark.timeout(900)
def test_the_cells_do_harm_where_nothing_holds_them(figure: Figure) -> None:
    tier, why = holding("Landlock")
    if tier is None:
        pytest.skip(why)
    # Not those that could end the test itself.
    cells = [cell for cell in CELLS if not cell.name.startswith("power")]
    corpus = Corpus(tier, cells)
    try:
        harmed = corpus.harmed(corpus.run(held=False))
    finally:
        corpus.close()
    figure(f"effects not held: {len(harmed):,} of {len(cells):,} cells do harm")
    assert [cell.name for cell in cells if cell.sure and cell.name not in harmed] == []
