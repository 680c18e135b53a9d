"""A reply without its finish reason broke off, however its stream ended; one that has it is complete."""

import pytest

from tests.core.models.cuts import cuts, sample, wrong

PARTS = 10
FILES = sorted({one.recorded.file for one in cuts()})


@pytest.mark.parametrize("part", range(PARTS))
async def test_a_reply_without_its_finish_reason_is_never_taken_for_complete(part: int) -> None:
    assert await wrong(sample(300)[part::PARTS]) == []


@pytest.mark.faults
@pytest.mark.parametrize("file", FILES)
async def test_no_cut_of_a_recording_is_taken_for_complete(file: str) -> None:
    assert await wrong(one for one in cuts() if one.recorded.file == file) == []
