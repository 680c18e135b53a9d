"""The command on the rules that decide about code before the person is asked."""

from terp.analysis.rules.deciding import Rules
from terp_cli.repl.commands.rows import columns
from terp_cli.repl.commands.talk import Talk

NONE = "there are no rules: settings allow, ask and deny hold them, see docs/rules.md."


async def show(talk: Talk, _: str) -> None:
    """The rules in effect, those of this session too, each with its place."""
    rows = listed(talk.session.equipment.rules)
    if not rows:
        talk.say(f"{NONE[0].upper()}{NONE[1:]}")
        return
    talk.show(columns(rows, talk.width, ("bold", "", "dim")))


def listed(rules: Rules) -> list[tuple[str, str, str]]:
    """For each rule its verdict, its text and its place."""
    return [(rule.verdict, rule.text, rule.origin) for rule in rules.all]
