"""The facts about a terminal beyond its environment, and the wait for its answers."""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Literal

from terp.text.dataclasses import dataclass, field, replace

Background = Literal["dark", "light", "unknown"]
# A local terminal answers in a millisecond, one behind ssh in a round trip.
_TIMEOUT_S = 0.15


@dataclass(frozen=True, slots=True)
class TerminalFacts:
    """The abilities and the look of a terminal. Sizes of a cell are in pixels, 0 where unknown.

    `complete`: the terminal has answered the last query.
    """

    kitty: bool = False
    sixel: bool = False
    synchronised: bool = False
    background: Background = "unknown"
    cell_width: int = 0
    cell_height: int = 0
    complete: bool = field(default=False, compare=False)


class PendingFacts:
    """The facts known so far, and the wait for the rest of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.facts = TerminalFacts()
        self._clock = clock
        self._until = clock()
        self._answered = asyncio.Event()

    def begin(self) -> None:
        """Start the wait: the queries were sent."""
        self._until = self._clock() + _TIMEOUT_S
        self._answered.clear()

    def learn(self, facts: TerminalFacts) -> None:
        """Store facts from the terminal's answers; end the wait if they are complete."""
        self.facts = facts
        if facts.complete:
            self._answered.set()

    async def settled(self) -> None:
        """Wait for all answers, at most 150 ms from the queries on; not at all if none were sent."""
        left = self._until - self._clock()
        if left > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._answered.wait(), left)


_KITTY = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
_SYNCHRONISED = "\x1b[?2026$p"
_BACKGROUND = "\x1b]11;?\x1b\\"
_CELL = "\x1b[16t"
_ATTRIBUTES = "\x1b[c"
_SIXEL = "4"

# Only answers to our queries: those to other programs' queries (the cursor's position, the keyboard's
# mode) begin alike and must pass.
_REPLY = re.compile(
    r"\x1b\[\?(?P<attributes>[\d;]{1,60})c"
    r"|\x1b\[\?2026;(?P<synchronised>\d)\$y"
    r"|\x1b\[6;(?P<height>\d{1,4});(?P<width>\d{1,4})t"
    r"|\x1b\]11;(?P<background>[^\x07\x1b]{1,64})(?:\x07|\x1b\\)"
    r"|\x1b_Gi=31(?P<kitty>[^\x07\x1b]{0,200})\x1b\\"
)
_BEGUN = re.compile(
    r"\x1b(?:"
    r"\[(?:\?(?:[\d;]{0,60}|2026;\d\$)|6(?:;\d{0,4}(?:;\d{0,4})?)?)?"
    r"|\](?:1(?:1(?:;[^\x07\x1b]{0,64}\x1b?)?)?)?"
    r"|_(?:G(?:i(?:=(?:3(?:1[^\x07\x1b]{0,200}\x1b?)?)?)?)?)?"
    r")?\Z"
)
_COLOUR = re.compile(r"rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(/.*)?")


def query(environ: Mapping[str, str]) -> str:
    """Return the queries for the terminal of this environment; every terminal answers the last one.

    Return "" for a terminal on which even that one would leave marks.
    """
    name = environ.get("TERM", "")
    if name in ("", "dumb", "unknown", "linux"):
        return ""
    if environ.get("TERM_PROGRAM") == "Apple_Terminal":
        # It prints queries that it does not know.
        return _BACKGROUND + _ATTRIBUTES
    common = _SYNCHRONISED + _BACKGROUND + _CELL + _ATTRIBUTES
    # tmux and screen read kitty's query as the title of the window.
    return common if is_multiplexed(environ) else _KITTY + common


def is_multiplexed(environ: Mapping[str, str]) -> bool:
    """Return True if tmux, screen or zellij is between this process and the terminal."""
    name = environ.get("TERM", "")
    return name.startswith(("screen", "tmux")) or any(
        environ.get(variable) for variable in ("TMUX", "STY", "ZELLIJ")
    )


class Replies:
    """Filter that removes answers from typed text. Keys pass unchanged and in order.

    Text that may become an answer is held until the last answer has come; the reader calls `release` after
    a pause, so a single Escape waits no longer than that.
    """

    def __init__(self) -> None:
        self.facts = TerminalFacts()
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the keys in the held text and `text`, without answers."""
        text, self._held = self._held + text, ""
        if "\x1b" not in text:
            return text
        keys: list[str] = []
        at = 0
        for reply in _REPLY.finditer(text):
            keys.append(text[at : reply.start()])
            at = reply.end()
            self._note(reply)
        rest = text[at:]
        if not self.facts.complete and (begun := _BEGUN.search(rest)):
            rest, self._held = rest[: begun.start()], rest[begun.start() :]
        return "".join(keys) + rest

    def release(self) -> str:
        """Return the held text: it was typed."""
        held, self._held = self._held, ""
        return held

    def _note(self, reply: re.Match[str]) -> None:
        match reply.lastgroup:
            case "attributes":
                # The first number is the class of the terminal.
                self._learn(sixel=_SIXEL in reply["attributes"].split(";")[1:], complete=True)
            case "synchronised":
                # 0: unknown; 4: permanently off (DECRPM).
                self._learn(synchronised=reply["synchronised"] not in ("0", "4"))
            case "width":
                self._learn(cell_height=int(reply["height"]), cell_width=int(reply["width"]))
            case "background":
                self._learn(background=_background(reply["background"]))
            case "kitty":
                self._learn(kitty=reply["kitty"].endswith(";OK"))

    def _learn(self, **facts: object) -> None:
        self.facts = replace(self.facts, **facts)  # type: ignore[arg-type]


def _background(answer: str) -> Background:
    colour = _COLOUR.fullmatch(answer)
    if colour is None:
        return "unknown"
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in colour.groups()[:3])
    # Rec. 709 weights: is black or white text easier to read?
    return "dark" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5 else "light"
