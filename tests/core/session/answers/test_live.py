"""References in a text that streams."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.session.answers.live import LiveReferences, taken_apart
from terp.session.answers.reading import LONGEST, Reference, Unreadable


def pieces(*texts: str) -> list[str]:
    """The text with what was taken for a reference between <>, and what is none but looks so between ><."""
    live = LiveReferences()
    found = [piece for text in texts for piece in live.feed(text)]
    return [_shown(piece) for piece in (*found, *live.finish())]


def _shown(piece: str | Reference | Unreadable) -> str:
    match piece:
        case Reference(written=written):
            return f"<{written}>"
        case Unreadable(written=written):
            return f">{written}<"
    return piece


def shown(text: str) -> str:
    return "".join(pieces(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is {{n}}.", "It is <{{n}}>."),
        ("{{a}}{{b}}", "<{{a}}><{{b}}>"),
        ("**{{a}}**, _{{a}}_, ({{a}}), €{{a}}", "**<{{a}}>**, _<{{a}}>_, (<{{a}}>), €<{{a}}>"),
        ("| a | {{b:.1f}} |", "| a | <{{b:.1f}}> |"),
        ("{{a.b}} and {{a", ">{{a.b}}< and {{a"),
        ("`{{a}}` ``{{a}}`` {{b}}", "`{{a}}` ``{{a}}`` <{{b}}>"),
        ("`{{a}}\nstill {{a}}`\n{{b}}", "`{{a}}\nstill {{a}}`\n<{{b}}>"),
        ("a ` alone {{a}}\n\n{{b}}", "a ` alone {{a}}\n\n<{{b}}>"),
        ("\\`{{a}}", "\\`<{{a}}>"),
        ("```jinja\n{{a}}\n```\n{{b}}", "```jinja\n{{a}}\n```\n<{{b}}>"),
        ("~~~\n{{a}}\n```\n{{a}}\n~~~\n{{b}}", "~~~\n{{a}}\n```\n{{a}}\n~~~\n<{{b}}>"),
        ("- x\n  ```\n  {{a}}\n  ```\n- {{b}}", "- x\n  ```\n  {{a}}\n  ```\n- <{{b}}>"),
        ("1. ```\n   {{a}}\n   ```", "1. ```\n   {{a}}\n   ```"),
        ("> ```\n> {{a}}\n> ```\n{{b}}", "> ```\n> {{a}}\n> ```\n<{{b}}>"),
        ("```{{a}}", "```{{a}}"),
        ("${{ secrets.A }} and $${{a}}", "${{ secrets.A }} and $${{a}}"),
        (r"\{{a}} \\{{a}}", r"\{{a}} \\{{a}}"),
        ("{{{a}}} {{a}}} {{ {a}}", "{{{a}}} {{a}}} {{ {a}}"),
        (r"\frac{{a}}{{b}} x^{{a}} x_{{a}}", r"\frac{{a}}{{b}} x^{{a}} x_{{a}}"),
        ("[x](http://h/{{a}}) [{{a}}](u)", "[x](http://h/{{a}}) [<{{a}}>](u)"),
        ("{{a\n}} {{}}", "{{a\n}} {{}}"),
        ("{{" + "a" * LONGEST + "}}", "<{{" + "a" * LONGEST + "}}>"),
        ("{{" + "a" * (LONGEST + 1) + "}}", "{{" + "a" * (LONGEST + 1) + "}}"),
    ],
)
def test_a_reference_is_one_where_a_value_can_stand(text: str, expected: str) -> None:
    assert shown(text) == expected


@given(
    parts=st.lists(
        st.sampled_from(
            [
                *(
                    "{",
                    "}",
                    "{{",
                    "}}",
                    "{{a}}",
                    "{{a:.1f}}",
                    "{{f()}}",
                    '{{d["k"]}}',
                    "`",
                    "```",
                    "~~~",
                    "$",
                ),
                *("\\", "\n", "\n\n", "\r\n", " ", "- ", "> ", "](", "_", "*", "x"),
            ]
        ),
        max_size=16,
    ),
    size=st.integers(1, 7),
)
def test_the_same_is_found_however_the_text_is_cut(parts: Sequence[str], size: int) -> None:
    text = "".join(parts)
    assert "".join(pieces(*(text[at : at + size] for at in range(0, len(text), size)))) == shown(text)


@given(text=st.text(st.sampled_from('{}a`~$\\\n _[](":.1f'), max_size=40))
def test_nothing_is_lost_of_any_text(text: str) -> None:
    assert "".join(one if isinstance(one, str) else one.written for one in taken_apart(text)) == text


def test_only_what_may_become_a_reference_is_held_back() -> None:
    live = LiveReferences()
    assert ["".join(map(_shown, live.feed(one))) for one in ("a {", "b {{ ", "c", "}", "}", " d")] == [
        "a ",
        "{b ",
        "",
        "",
        "",
        "<{{ c}}> d",
    ]
