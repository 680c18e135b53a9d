"""Fields of a streamed reply that must be sent back to the provider, assembled from their pieces."""

from collections.abc import Mapping, Sequence
from typing import Any

from terp.text.dataclasses import dataclass, field

_SHOWN_ELSEWHERE = frozenset({"thinking_blocks", "reasoning_content", "reasoning", "reasoning_details"})
_WORDS = {"reasoning.text": "text", "reasoning.summary": "summary"}


@dataclass(slots=True)
class _Block:
    """A block whose pieces are arriving: its fields, and the text of the field `words` in pieces."""

    fields: dict[str, Any]
    words: str = ""
    pieces: list[str] = field(default_factory=list)

    def whole(self) -> dict[str, Any]:
        return {**self.fields, self.words: "".join(self.pieces)} if self.words else self.fields


class ThinkTags:
    """Separates reasoning that a server sends as text, in `<think>` at the beginning of the reply."""

    _BEGIN, _END = "<think>", "</think>"

    def __init__(self) -> None:
        self._held = ""
        self._inside = self._behind = False
        self.over = False
        """True once all that follows is the answer."""

    def feed(self, text: str) -> tuple[str, str]:
        """Return the reasoning and the answer that this text adds."""
        self._held += text
        if self.over:
            return "", self.rest()
        if self._behind:
            return "", self._answer()
        if not self._inside:
            begun = self._held.lstrip()
            if len(begun) < len(self._BEGIN) and self._BEGIN.startswith(begun):
                return "", ""
            if not begun.startswith(self._BEGIN):
                self.over = True
                return "", self.rest()
            self._inside, self._held = True, begun.removeprefix(self._BEGIN)
        reasoning, end, behind = self._held.partition(self._END)
        if end:
            self._behind, self._held = True, behind
            return reasoning, self._answer()
        kept = max(n for n in range(len(self._END)) if self._held.endswith(self._END[:n]))
        reasoning, self._held = self._held[: len(self._held) - kept], self._END[:kept]
        return reasoning, ""

    def finish(self) -> tuple[str, str]:
        """Return the reasoning and the answer that were held back at the end of the reply."""
        thought = self._inside and not self._behind
        return (self.rest(), "") if thought else ("", self.rest())

    def rest(self) -> str:
        """Return the text that is held back, and clear it."""
        text, self._held = self._held, ""
        return text

    def _answer(self) -> str:
        # Empty lines stand between the two.
        self._held = self._held.lstrip()
        self.over = bool(self._held)
        return self.rest()


class _Blocks:
    def __init__(self) -> None:
        self._blocks: list[_Block] = []

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The blocks so far, in order."""
        return [block.whole() for block in self._blocks]


class ThinkingBlocks(_Blocks):
    """Anthropic's signed thinking blocks. The provider checks the signature: any change is refused (400)."""

    def feed(self, pieces: Sequence[Mapping[str, Any]]) -> None:
        """Append to the open block; a block is closed by its signature."""
        for piece in pieces:
            if piece.get("type", "thinking") != "thinking":
                self._blocks.append(_Block(dict(piece)))
            else:
                self._extend(piece.get("thinking") or "", piece.get("signature") or "")

    def _extend(self, text: str, signature: str) -> None:
        if not text and not signature:
            return
        block = self._open_block()
        if signature:
            held = "".join(block.pieces)
            # litellm 1.93 to 1.105 sends the whole text again with the signature.
            if held and text.startswith(held):
                block.pieces.clear()
            block.fields["signature"] = signature
        block.pieces.append(text)

    def _open_block(self) -> _Block:
        last = self._blocks[-1] if self._blocks else None
        if last is None or last.words != "thinking" or "signature" in last.fields:
            last = _Block({"type": "thinking"}, "thinking")
            self._blocks.append(last)
        return last


class ReasoningDetails(_Blocks):
    """OpenRouter's `reasoning_details`: text of one block is joined, encrypted blocks stay unchanged."""

    def feed(self, pieces: Sequence[Mapping[str, Any]]) -> None:
        """Append to the last block if a piece is of the same kind and index."""
        for piece in pieces:
            words = _WORDS.get(piece.get("type", ""), "")
            fields = {name: value for name, value in piece.items() if name != words}
            if not words or not self._continues(words, piece):
                self._blocks.append(_Block(fields, words))
            else:
                self._blocks[-1].fields.update({k: v for k, v in fields.items() if v is not None})
            if words:
                self._blocks[-1].pieces.append(piece.get(words) or "")

    def _continues(self, words: str, piece: Mapping[str, Any]) -> bool:
        if not self._blocks or self._blocks[-1].words != words:
            return False
        fields = self._blocks[-1].fields
        return fields.get("index") == piece.get("index") and not fields.get("signature")


def merge_fields(held: dict[str, Any], fields: Mapping[str, Any]) -> None:
    """Add litellm's `provider_specific_fields`, except copies of other fields."""
    for name, value in fields.items():
        if name in _SHOWN_ELSEWHERE or value is None:
            continue
        if isinstance(value, list) and isinstance(held.get(name), list):
            held[name] = held[name] + value
        else:
            held[name] = value
