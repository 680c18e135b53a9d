"""Every recording through litellm, on every route; chat completions against the direct adapter.

litellm takes seconds to import: all of its tests are in one group, for one worker.
"""

from dataclasses import replace

import pytest

from tests.core.models.recorded import Recorded, replay, streams

# litellm's OpenAI route drops a chunk that holds a list with thinking and text; its Mistral route reads it.
LOST = {("mistral/mistral-small-latest__text__75fb6a.sse", "openai")}
STREAMS = [one for one in streams() if (one.file, one.route) not in LOST]
# A call of a tool without a schema. The index leaves it out; its raw text must reach the session.
RAW_CALL = {
    "openai_responses/gpt-5.2-codex__tool__53b99e.sse": (("write_sql", "SELECT * FROM users WHERE age > 25"),)
}

# litellm's Groq route leaves out `x_groq`, in which Groq once counted the tokens.
UNCOUNTED = {("groq/llama3-8b-8192__text__1bc9e7.sse", "groq")}


def named(recorded: Recorded) -> str:
    return f"{recorded.route}:{recorded.file}"


@pytest.mark.parametrize("recorded", STREAMS, ids=named)
async def test_litellm_reads_what_was_recorded(recorded: Recorded) -> None:
    got = await replay(recorded, "litellm")
    text, calls = recorded.expected
    assert (got.text, got.calls) == (text, RAW_CALL.get(recorded.file, calls))
    if recorded.wire == "openai-chat":
        direct = await replay(recorded, "direct")
        assert got == (replace(direct, usage=()) if (recorded.file, recorded.route) in UNCOUNTED else direct)
