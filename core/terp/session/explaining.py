"""What a model is asked about a piece of code, beside the conversation."""

from terp.text.fencing import fenced

_EXPLAIN = (
    "Explain in a few short sentences, without markup, what this code does: what it reads, what it changes "
    "or deletes, and whether it uses the network."
)


def asked_about(language: str, code: str) -> str:
    """The prompt that asks what a piece of code does."""
    return f"{_EXPLAIN}\n{fenced(code, language)}"
