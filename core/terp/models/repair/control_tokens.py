"""Filters that remove control tokens of chat templates, which weak models leave in their text."""

import re
from collections.abc import Iterator

TOKENS = (
    "<|assistant|>",
    "<|observation|>",
    "<|user|>",
    "<|system|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|end|>",
    "<|eot_id|>",
    "<|endoftext|>",
)
_TOKEN = re.compile("|".join(map(re.escape, TOKENS)))
_BEGUN_TOKENS = "|".join(re.escape(token[:end]) for token in TOKENS for end in range(1, len(token)))
_ONLY_TOKENS = re.compile(rf"\s*(?:(?:{_TOKEN.pattern})\s*)*(?P<begun>{_BEGUN_TOKENS})?")
_HEAD = re.compile(rf"\A(?:\s*(?:{_TOKEN.pattern}))+\s*")
_ROLE = "interpreter"
_ROLE_LINE = re.compile(rf"\s{{0,40}}{_ROLE}[ \t\r]{{0,8}}\n")
_MAYBE_ROLE_LINE = re.compile(
    rf"\s{{0,40}}(?:{'|'.join(_ROLE[:end] for end in range(len(_ROLE)))}|{_ROLE}[ \t\r]{{0,8}})"
)


def without_tokens_around(text: str) -> str:
    """Return `text` without the control tokens at its beginning and its end; those inside stay."""
    tokens = TokensAroundFilter()
    return tokens.feed(text) + tokens.finish()


class TokensAroundFilter:
    """Passes text on without the control tokens at its beginning and its end.

    For models that call tools: their templates leak only there, and a token inside a text is part of
    its subject. The result does not depend on how the text is cut.
    """

    def __init__(self) -> None:
        self._at_start = True
        self._held = ""

    def feed(self, text: str) -> str:
        """Return what can be passed on after this piece."""
        if not self._at_start and not self._held and "<" not in text:
            return text
        text, self._held = self._held + text, ""
        if self._at_start:
            if _ONLY_TOKENS.fullmatch(text):
                self._held = text
                return ""
            self._at_start = False
            text = _HEAD.sub("", text)
        at = next((at for at in _angles(text) if _ONLY_TOKENS.fullmatch(text, at)), len(text))
        text, self._held = text[:at], text[at:]
        return text

    def finish(self) -> str:
        """Return the text that was held back: it is no token."""
        held, self._held = self._held, ""
        if self._at_start:
            return _HEAD.sub("", held)
        only = _ONLY_TOKENS.fullmatch(held)
        return held if only and only["begun"] else ""


def _angles(text: str) -> Iterator[int]:
    at = text.find("<")
    while at >= 0:
        yield at
        at = text.find("<", at + 1)


class ControlTokenFilter:
    """Passes text on without control tokens, and without a first line that is just `interpreter`.

    ChatGLM writes that word where its template has a role. Only text that may still become a
    token is held back. The result does not depend on how the text is cut.
    """

    def __init__(self) -> None:
        self._tail = ""
        self._first_line = ""
        self._in_first_line = True

    def feed(self, text: str) -> str:
        """Return what can be passed on after this piece."""
        text = self._tail + text
        # A token has one "<", its first character: only the last one can begin a token still to come.
        at = text.rfind("<")
        if at < 0 or not any(token != text[at:] and token.startswith(text[at:]) for token in TOKENS):
            at = len(text)
        text, self._tail = text[:at], text[at:]
        return self._without_role(_TOKEN.sub("", text))

    def finish(self) -> str:
        """Return the text that was held back: it is no token."""
        kept, self._tail, self._first_line = self._first_line + self._tail, "", ""
        self._in_first_line = False
        return kept

    def _without_role(self, text: str) -> str:
        if not self._in_first_line:
            return text
        self._first_line += text
        if _MAYBE_ROLE_LINE.fullmatch(self._first_line):
            return ""
        self._in_first_line = False
        text, self._first_line = self._first_line, ""
        return _ROLE_LINE.sub("", text, count=1) if _ROLE_LINE.match(text) else text
