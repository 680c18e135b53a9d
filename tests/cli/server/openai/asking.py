"""The real `openai` client, and what tests ask with it."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tests.cli.server.serving import TOKEN, Running, plain_client

ASKS = "Do you want to run this code?"


@asynccontextmanager
async def openai_client(
    server: Running, path: str = "/v1", **options: Any
) -> AsyncGenerator[AsyncOpenAI, None]:
    """A client that was given the address and the token, and nothing else."""
    async with AsyncOpenAI(
        base_url=f"{server.url}{path}",
        api_key=TOKEN,
        http_client=plain_client(server.url),
        timeout=20,
        **options,
    ) as client:
        yield client


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str | None) -> dict[str, str]:
    return {"role": "assistant", "content": text or ""}


async def answered(client: AsyncOpenAI, *messages: Any, **options: Any) -> ChatCompletion:
    """The answer in one object."""
    answer = await client.chat.completions.create(model="terp", messages=messages, **options)
    assert isinstance(answer, ChatCompletion)
    return answer


async def said(client: AsyncOpenAI, *messages: Any, **options: Any) -> str:
    """The text of the answer."""
    return (await answered(client, *messages, **options)).choices[0].message.content or ""


async def streamed(client: AsyncOpenAI, *messages: Any, **options: Any) -> list[ChatCompletionChunk]:
    """The answer in chunks."""
    chunks = await client.chat.completions.create(model="terp", messages=messages, stream=True, **options)
    return [chunk async for chunk in chunks]


def text_of(chunks: Iterable[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def finishes(chunks: Sequence[ChatCompletionChunk]) -> list[str]:
    return [reason for chunk in chunks for choice in chunk.choices if (reason := choice.finish_reason)]
