"""Text that was written to deceive, disturb or take over a terminal, and events full of it."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from terp import events
from terp.events import Event, outputs

CORPUS = {
    "colours": "\x1b[31;5;8mhidden\x1b[0m and \x1b[38;5;1;48;5;1msame\x1b[m",
    "erasing": "kept\x1b[2J\x1b[3J\x1b[H\x1b[1A\x1b[2K\r\x1b[Jgone",
    "title": "\x1b]0;owned\x07 \x1b]2;owned\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJmIC8=\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\text\x1b]8;;\x1b\\",
    "file of iTerm": "\x1b]1337;File=name=eA==;inline=1:AAAA\x07",
    "notification": "\x1b]9;you won\x07\x1b]777;notify;a;b\x07",
    "device string": "\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x1bPq#0;2;0;0;0~\x1b\\",
    "picture of kitty": "\x1b_Ga=T,f=24,s=1,v=1;AAAA\x1b\\",
    "private strings": "\x1b^pm\x1b\\\x1bXsos\x1b\\",
    "without end": "\x1b]0;never ends",
    "reports": "\x1b[c\x1b[6n\x1b[5n\x1b[>q\x1b[18t\x1b[21t\x1b[?1049h\x1b[?1000h\x1b[?2004h",
    "settings": "\x1bc\x1b(0\x1b#8\x1b[!p\x1b[?25l\x1b[4h\x1b[1;5r\x1b7\x1b8\x1b[20h\x0e\x0f",
    "eight bits": "\x9b31m\x9d0;owned\x9c\x90q\x9c\x9eapc\x9c\x84\x85\x8d",
    "nothing": "a\x00b\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x7f\x18\x1a\x1b",
    "returns": "safe\rrm -rf ~\r\ndone\x08\x08\x08\x08",
    "two directions": "\u202eevil\u202c \u2066x\u2069 \u200f\u200e\u061c if admin\u202e\u2066# \u2069",
    "invisible": "pass\u200bwo\u2060rd\ufeff\u00ad\u034f\u115f\u3164\uffa0\u180e\u2800\u17b4",
    "tags": "hi\U000e0001\U000e0049\U000e0067\U000e006e\U000e007f",
    "selectors": "a\ufe0fb\U000e0100c\ufe00 ☺\ufe0e",
    "joiners": "ad\u200dmin\u200c 👩\u200d\u200d👧 \u0645\u200ca",
    "halves": "\ud83d \udc80 \udfff",
    "no characters": "\ufdd0\uffff\U0010ffff\ufffe\ufff9x\ufffa\ufffb",
    "piled marks": "Z\u0335\u0321" + "\u0300\u0301\u0302\u0303" * 200 + "a\u20dd" * 50,
    "line ends": "a\u2028b\u2029c\u0085d\x0be\x0cf",
    "spaces": "rm\u00a0-rf\u2003/\u202fx",
    "markup": "[bold]x[/bold] [/red] [link=http://e]y[/link] <b>z</b> {x} %s %n $(id) `id` ${7*7}",
    "markdown": "**a\n\n# b\n```\nc\n| d |\n[e](javascript:alert(1)) <http://e\x1b[2J> ![f](x\x1b]0;t\x07)",
    "entities": "&#27;[2J &#x9b;31m &#x202e; &#0; &#xd800; &NewLine;&Tab;",
    "formulas": "$\\frac{\x1b[2J}{\u202e}$ \\[\x07\\] $$\n\x9b31m\n$$",
    "long": "x" * 3_000 + "\x1b[31m" + "漢" * 500,
}


def events_with(text: str) -> Iterator[Event]:
    """Every event there is, with `text` wherever it has text."""
    for kind in get_args(events.Event):
        if kind in (events.Printed, events.LateOutput):
            for output in get_args(outputs.Output):
                yield kind("c1", _made(output, text))
            for mime in ("text/plain", "text/latex", "text/html", "image/png"):
                yield kind("c1", outputs.Display({mime: f"${text}$"}))
        else:
            yield _made(kind, text)
    for state in ("died", "restarted", "interrupted", "stopped"):
        yield events.KernelChanged(text, state, text)
    for status in ("error", "interrupted", "timeout", "died"):
        yield events.CodeFinished("c1", status, 1.0, note=text, output_path=text)


def _made(kind: type, text: str) -> Any:
    hints = get_type_hints(kind)
    return kind(**{one.name: _value(hints[one.name], text, one) for one in fields(kind)})


def _value(hint: Any, text: str, field: Any) -> Any:
    plain = {
        str: text,
        str | None: text,
        float: 1.0,
        int: 3,
        bool: False,
        float | None: None,
        int | None: None,
    }
    if field.name == "call_id":
        return "c1"
    if hint in plain:
        return plain[hint]
    if get_origin(hint) is tuple:
        return (_value(get_args(hint)[0], text, field),)
    for kind in (hint, *get_args(hint)):
        if isinstance(kind, type) and is_dataclass(kind):
            return _made(kind, text)
    if get_origin(hint) is Mapping:
        return {"text/plain": text, "text/markdown": text, "text/latex": text, "image/" + text: ""}
    return get_args(hint)[0] if field.default is MISSING else field.default
