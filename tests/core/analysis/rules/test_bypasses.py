"""Strings that try to pass for what a rule allows: none ever runs without a question."""

import re
from pathlib import Path

from tests.core.analysis.rules.written import rules, verdict

_SIGNS = str.maketrans("␤␍␉␋␌␀␈", "\n\r\t\v\f\0\b")
_NUMBER = re.compile(r"⟦(\w+)⟧")
_PAYLOADS = ("evil x", "rm -rf x", "curl https://evil.example", "python3 -m evil")
_COMMANDS = """
    git status|git log **|git diff **|ls|ls **|ls -* **|cat *|cat data/*|cd *|echo|echo **|printf **|grep **
    grep -rn * *|head -n * *|wc -l **|sort **|pytest -q|make test|npm test|docker ps|tar -tf *|date|diff * *
    test **|true|curl -s *|uname -a
"""
COMMANDS = tuple(f"shell: {one.strip()}" for one in _COMMANDS.strip().replace("\n", "|").split("|"))
READING = ("effects: none", "effects: reads")
"""Rules that a person may well have, alone and together."""


def bypasses() -> tuple[list[str], list[str]]:
    """Those that no rule may allow, and those that only read and so no rule on a command."""
    text = Path(__file__).with_name("bypasses.txt").read_text(encoding="utf-8")
    harming, _, reading = text.partition("# == Only read")
    return _codes(harming), _codes(reading.partition("\n")[2])


def _codes(text: str) -> list[str]:
    lines = [line for line in text.split("\n") if line and not line.startswith("# ")]
    codes = [_NUMBER.sub(lambda sign: chr(int(sign[1], 16)), line.translate(_SIGNS)) for line in lines]
    # Those without a place for a payload are themselves for each of them.
    return list(dict.fromkeys(code.replace("☠", payload) for code in codes for payload in _PAYLOADS))


def test_no_disguise_makes_a_command_one_that_is_allowed() -> None:
    sets = {"commands": rules(allow=COMMANDS), "effects": rules(allow=READING)}
    sets["both"] = rules(allow=(*COMMANDS, *READING))
    harming, reading = bypasses()
    let_through = {
        code: name for code in harming for name, ruled in sets.items() if verdict(ruled, code) == "allow"
    }
    let_through |= {code: "commands" for code in reading if verdict(sets["commands"], code) == "allow"}
    assert let_through == {}


def test_the_disguises_are_many_and_none_stands_there_twice() -> None:
    found = [code for codes in bypasses() for code in codes]
    assert len(found) == len(set(found)) >= 500


def test_the_rules_allow_what_they_are_there_for() -> None:
    ruled = rules(allow=COMMANDS)
    codes = ("git status", "ls a b", "ls -la | wc -l", "echo x y; date", "pytest -q && git diff a", "cat x")
    assert {code: verdict(ruled, code) for code in codes} == dict.fromkeys(codes, "allow")
