"""References: the grammar of one, and those in streamed text."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.session.answers.references import (
    MAX_CHARS,
    InvalidReference,
    Reference,
    ReferenceScanner,
    parse_reference,
    split_references,
)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("{{total}}", ("total", (), "")),
        ("{{ total:.2f }}", ("total", (), ".2f")),
        ('{{df["price"][3]:>12,.0f}}', ("df", ("price", 3), ">12,.0f")),
        ("{{d['a', -1]}}", ("d", (["a", -1],), "")),
        ("{{d[1.5][True][None]}}", ("d", (1.5, True, None), "")),
        ("{{d['a',]}}", ("d", (["a"],), "")),
        (r"""{{d['it\'s']["]["]}}""", ("d", ("it's", "]["), "")),
        ("{{day:%d.%m.%Y, %H:%M}}", ("day", (), "%d.%m.%Y, %H:%M")),
        ("{{a:=+9}}", ("a", (), "=+9")),
        ("{{größe}}", ("größe", (), "")),
    ],
)
def test_a_name_keys_and_a_format_are_a_reference(
    written: str, expected: tuple[str, tuple[object, ...], str]
) -> None:
    assert parse_reference(written) == Reference(written, *expected)


@pytest.mark.parametrize(
    "written",
    [
        "{{f()}}",
        "{{a.b}}",
        "{{a + 1}}",
        "{{-a}}",
        "{{a if b else c}}",
        "{{a[b]}}",
        "{{a[1:2]}}",
        "{{a[:]}}",
        "{{a[f'x']}}",
        "{{a[b'x']}}",
        "{{a['x' 'y']}}",
        "{{a['x'*9]}}",
        "{{a[1+1]}}",
        "{{a[[1]]}}",
        "{{a[(1, 2)]}}",
        "{{a[...]}}",
        "{{a[lambda: 1]}}",
        "{{a[1].real}}",
        "{{a!r}}",
        "{{a=}}",
        "{{(a)}}",
        "{{[a]}}",
        "{{*a}}",
        "{{1}}",
        "{{'a'}}",
        "{{a b}}",
        "{{a|upper}}",
        "{{#if a}}",
        "{{__import__}}",
        "{{__builtins__['eval']}}",
        "{{_}}",
        "{{_secret}}",
        "{{a:>1000000000}}",
        "{{a:.1000000000f}}",
        "{{a:0100}}",
        "{{a:%1000000000Y}}",
        "{{a:%010Y}}",
        "{{a:" + "%Y" * 41 + "}}",
        "{{a[007]}}",
        r"{{a['\x41']}}",
        r"{{a['\N{BULLET}']}}",
        "{{a['unended]}}",
    ],
)
def test_everything_else_is_no_reference(written: str) -> None:
    assert isinstance(parse_reference(written), InvalidReference)


def pieces(*texts: str) -> list[str]:
    """Return the pieces, references between <> and invalid ones between ><."""
    scanner = ReferenceScanner()
    found = [piece for text in texts for piece in scanner.feed(text)]
    return [_shown(piece) for piece in (*found, *scanner.finish())]


def _shown(piece: str | Reference | InvalidReference) -> str:
    match piece:
        case Reference(written=written):
            return f"<{written}>"
        case InvalidReference(written=written):
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
        ("{{" + "a" * MAX_CHARS + "}}", "<{{" + "a" * MAX_CHARS + "}}>"),
        ("{{" + "a" * (MAX_CHARS + 1) + "}}", "{{" + "a" * (MAX_CHARS + 1) + "}}"),
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
    assert "".join(one if isinstance(one, str) else one.written for one in split_references(text)) == text


def test_only_what_may_become_a_reference_is_held_back() -> None:
    scanner = ReferenceScanner()
    assert ["".join(map(_shown, scanner.feed(one))) for one in ("a {", "b {{ ", "c", "}", "}", " d")] == [
        "a ",
        "{b ",
        "",
        "",
        "",
        "<{{ c}}> d",
    ]
