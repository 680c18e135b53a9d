"""Takes the control tokens of chat templates out of a model's text, where weak models leave them."""

import re

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
_ROLE = "interpreter"
_ROLE_LINE = re.compile(rf"\s{{0,40}}{_ROLE}[ \t\r]{{0,8}}\n")
_MAYBE_ROLE_LINE = re.compile(
    rf"\s{{0,40}}(?:{'|'.join(_ROLE[:end] for end in range(len(_ROLE)))}|{_ROLE}[ \t\r]{{0,8}})"
)


class ControlTokenFilter:
    """Passes text on without control tokens, and without a first line that is just `interpreter`.

    ChatGLM writes that word where its template has a role. Only what may still become a token is
    kept back. The result does not depend on how the text is cut.
    """

    def __init__(self) -> None:
        self._tail = ""
        self._first_line = ""
        self._in_first_line = True

    def feed(self, text: str) -> str:
        """What can be passed on after this piece."""
        text = self._tail + text
        # A token has one "<", its first character: only the last one can begin a token still to come.
        at = text.rfind("<")
        if at < 0 or not any(token != text[at:] and token.startswith(text[at:]) for token in TOKENS):
            at = len(text)
        text, self._tail = text[:at], text[at:]
        return self._without_role(_TOKEN.sub("", text))

    def finish(self) -> str:
        """What was kept back and is no token after all."""
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
