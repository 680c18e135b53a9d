"""Every recorded chat completion through the direct adapter."""

import pytest

from tests.core.models.recorded import Recorded, replay, streams

# The route makes no difference on the wire.
CHATS = {one.file: one for one in streams() if one.wire == "openai-chat"}


@pytest.mark.parametrize("recorded", CHATS.values(), ids=CHATS.keys())
async def test_the_direct_adapter_reads_what_was_recorded(recorded: Recorded) -> None:
    got = await replay(recorded, "direct")
    assert (got.text, got.calls) == recorded.expected
