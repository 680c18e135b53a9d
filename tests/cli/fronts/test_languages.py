"""What is told about languages."""

from terp.events.kernel import KnownLanguage
from terp_cli.fronts.listings import language_rows


def test_what_is_missing_comes_last_and_tells_how_to_get_it() -> None:
    known = [
        KnownLanguage(("ruby",), "", "apt install ruby"),
        KnownLanguage(("python",), "/usr/bin/python3"),
        KnownLanguage(("c",), "/usr/bin/gcc", keeps_state=False),
        KnownLanguage(("powershell",), "/usr/bin/pwsh", tested=False),
        KnownLanguage(("javascript", "typescript"), "/usr/bin/deno", tells_variables=False),
    ]
    assert language_rows(known) == [
        ("python", "here", "/usr/bin/python3"),
        ("c", "here", "/usr/bin/gcc; each run starts fresh"),
        ("powershell", "here", "/usr/bin/pwsh; not tested"),
        ("javascript, typescript", "here", "/usr/bin/deno; no /vars"),
        ("ruby", "missing", "apt install ruby"),
    ]
