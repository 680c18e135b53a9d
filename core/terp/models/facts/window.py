"""How much a model reads at once, and when a conversation comes too near to that."""

from dataclasses import dataclass

# What a reply is given where nobody bounds it: a tenth, up to so many tokens.
_USUAL_SHARE, _USUAL_REPLY = 0.1, 4_000
# What is left of a conversation that was shortened has room to grow again.
_LEFT_OF_FULL = 0.5


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a model.

    `tokens` is a request and its reply, 0 where it is not known; `reply` the longest one that is asked for, 0
    for what the provider likes; `share` the percentage that may be full, 0 for all that the model takes.
    `vision` tells whether it sees pictures.
    """

    tokens: int = 0
    reply: int = 0
    share: int = 85
    vision: bool = True

    @property
    def most(self) -> int:
        """The longest request, in tokens, before which a conversation is shortened; 0 for any."""
        if not (self.tokens and self.share):
            return 0
        reply = self.reply or min(self.tokens * _USUAL_SHARE, _USUAL_REPLY)
        return max(1, round(self.tokens * self.share / 100 - min(reply, self.tokens / 2)))

    def goal(self, expected: int) -> float:
        """What a request of so many tokens is shortened to."""
        full = min(expected, self.most) if self.most else expected
        return full * _LEFT_OF_FULL
