"""The program itself, with a real kernel behind it and the real client before it."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from openai import OpenAI

from tests.cli.running import Terp
from tests.cli.server.openai.asking import ASKS
from tests.loopback import Call, Loopback, Raw, Scripted

TOKEN = "a-token-that-was-given-to-the-server"
PICTURE = """import base64
from IPython.display import Image
Image(data=base64.b64decode('iVBORw0KGgo='), format='png')"""
VECTORS = (
    b'{"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}]}'
)


@contextmanager
def client(terp: Terp, model: Loopback, *arguments: str) -> Iterator[OpenAI]:
    """A client of the program while it serves."""
    environ = {"OPENAI_API_KEY": "unused", "TERP_SERVER_TOKEN": TOKEN}
    named = "--port", "0", "--api-base", model.url, "--model", "m"
    process = terp.start("serve", *named, *arguments, stdin=subprocess.DEVNULL, environ=environ)
    assert process.stderr is not None
    try:
        [url] = re.findall(r"http://\S+", process.stderr.readline())
        http = httpx.Client(trust_env=False)
        with OpenAI(base_url=f"{url}/v1", api_key=TOKEN, http_client=http, max_retries=0, timeout=60) as own:
            yield own
    finally:
        process.terminate()
        process.communicate(timeout=20)


def said(client: OpenAI, *texts: str) -> str:
    """The answer to the last of these, which were said in turn, the first by the user."""
    roles = ("user", "assistant")
    messages: list[Any] = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    chunks = client.chat.completions.create(model="terp", messages=messages, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def test_variables_stay_in_a_conversation_and_go_to_no_other(tmp_path: Path) -> None:
    codes, words = ("x = 6", "x * 7", "x"), ("Set.", "It is 42.", "None.")
    script: list[Scripted] = []
    for code, word in zip(codes, words, strict=True):
        script += [Call(code=code), word]
    with Loopback(script) as model, client(Terp(tmp_path), model, "-y") as own:
        first = said(own, "Set x.")
        second = said(own, "Set x.", first, "And times 7?")
        other = said(own, "What is x?")
    assert first == "```python\nx = 6\n```\n\nSet."
    assert second == "```python\nx * 7\n```\n\n```output\n42\n```\n\nIt is 42."
    assert "NameError: name 'x' is not defined" in other


def test_code_is_asked_about_and_pictures_can_be_had(tmp_path: Path) -> None:
    script: list[Scripted] = [Call(code=PICTURE), "There.", Raw(VECTORS, content_type="application/json")]
    with Loopback(script) as model, client(Terp(tmp_path), model) as own:
        asked = said(own, "A picture!")
        done = said(own, "A picture!", asked, "yes")
        [url] = re.findall(r"!\[1-1\.png\]\((\S+)\)", done)
        picture = httpx.get(url, headers={"X-API-KEY": TOKEN}, trust_env=False)
        listed = [one.id for one in own.models.list()]
        embedded = own.embeddings.create(model="m", input="a")
    assert asked.endswith(ASKS)
    assert picture.content == b"\x89PNG\r\n\x1a\n"
    assert (listed, embedded.data[0].embedding) == (["terp", "m"], [0.5])


def test_a_message_that_is_sent_again_finds_variables_as_they_were(tmp_path: Path) -> None:
    script: list[Scripted] = [Call(code="y = 1"), "Set."]
    for _ in range(2):
        script += [Call(code="y += 1; print(y)"), "Added."]
    with Loopback(script) as model, client(Terp(tmp_path), model, "-y") as own:
        first = said(own, "Set y.")
        answers = [said(own, "Set y.", first, "Add 1.") for _ in range(2)]
    assert answers == ["```python\ny += 1; print(y)\n```\n\n```output\n2\n```\n\nAdded."] * 2
