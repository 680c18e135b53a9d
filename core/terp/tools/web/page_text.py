"""The text of a page, made in a process of its own: HTML can be written so that reading it takes hours."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress

from terp.kernels.jupyter.launch import own_argv
from terp.tools.web.fetching import FetchFailed, Page
from terp.tools.web.readable_page import readable_page

LONGEST_S = 20.0


async def text_of(page: Page, longest_s: float = LONGEST_S) -> str:
    """The text of a page, as `readable_page` makes it. Cancelling ends the process.

    Raises:
        FetchFailed: it takes longer than `longest_s` seconds, or is nested too deeply.
    """
    head = json.dumps([page.url, page.kind, page.encoding]).encode()
    process = await asyncio.create_subprocess_exec(
        *own_argv(__name__), stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd="/", env={}
    )
    try:
        async with asyncio.timeout(longest_s):
            said, _ = await process.communicate(head + b"\n" + page.body)
    except TimeoutError as error:
        raise FetchFailed(f"{page.url[:200]} takes longer than {longest_s:g} s to be made text.") from error
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise FetchFailed(f"{page.url[:200]} cannot be made text: its HTML is nested too deeply.")
    return said.decode()


def main() -> int:
    """Make text of the page that comes in on one pipe and put it into another; 1 when it is too deep."""
    with os.fdopen(0, "rb") as given:
        url, kind, encoding = json.loads(given.readline())
        body = given.read()
    try:
        text = readable_page(Page(url, kind, encoding, body))
    except RecursionError:
        return 1
    with os.fdopen(1, "wb") as made:
        made.write(text.encode(errors="replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
