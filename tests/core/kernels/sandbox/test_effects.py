"""The line to the holder of a kernel, without a kernel."""

import asyncio

import pytest

from terp.kernels.sandbox.effects import Account, HeldEffects


async def test_a_question_to_the_holder_can_be_cancelled() -> None:
    effects = HeldEffects()
    with effects.connect():
        asking = asyncio.create_task(effects.account())
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    effects.close()


async def test_a_question_has_no_answer_once_the_line_is_closed() -> None:
    effects = HeldEffects()
    answers: list[Account | None] = []

    async def ask() -> None:
        answers.append(await effects.account())

    with effects.connect():
        asking = asyncio.create_task(ask())
        await asyncio.sleep(0)
        effects.close()
        await asking
    assert answers == [None]
