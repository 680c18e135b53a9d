"""What a reference may say, and that nothing else is one."""

import pytest

from terp.session.answers.reading import Reference, Unreadable, read


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
    assert read(written) == Reference(written, *expected)


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
def test_everything_else_is_none(written: str) -> None:
    assert isinstance(read(written), Unreadable)
