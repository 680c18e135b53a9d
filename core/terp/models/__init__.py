"""Language models behind one protocol."""

from terp.events.model import CallDelta, Chunk, Model, ReasoningChunk, Replied, Retrying, TextChunk, Usage

__all__ = ["CallDelta", "Chunk", "Model", "ReasoningChunk", "Replied", "Retrying", "TextChunk", "Usage"]
