"""`terp rules`: list the rules in effect, or show their decision about a piece of code."""

from collections.abc import Callable, Mapping, Sequence

from terp.analysis.effects.cells import effects_of
from terp.analysis.rules.deciding import Ruled, Rules, Ruling
from terp.errors import SettingsError
from terp.events.effects import Effects
from terp.kernels.jupyter.local import LocalKernels
from terp.opening.environment import kernel_options
from terp.opening.session import written_rules
from terp.settings import Settings
from terp.text.languages import means_language
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.json import write_facts
from terp_cli.render.sentences import effects_line
from terp_cli.repl.commands.rows import aligned
from terp_cli.repl.commands.switches import NO_RULES, listed_rules
from terp_cli.terminal.sanitise import one_line
from terp_cli.verbs.run_code import read_code

ALLOWED, ASKED, DENIED = 0, 1, 3
"""The exit codes of `terp rules test`."""
_LATER = "decides when it happens"


def rules(call: Invocation) -> int:
    """Run `terp rules`; return the exit code."""
    verb, more = call.line.argument, call.line.arguments
    if len(more) > 1:
        raise SettingsError(["terp rules test takes the code as one word: put it in quotes."])
    return _VERBS[verb](call, call.settings(), more)


def _list(call: Invocation, settings: Settings, _: Sequence[str]) -> int:
    rows = listed_rules(Rules(written_rules(settings)))
    if call.options.output_format != "text":
        found = [dict(zip(("verdict", "rule", "origin"), row, strict=True)) for row in rows]
        return write_facts(call.out, {"rules": found})
    if not rows:
        call.note(NO_RULES)
    call.out.writelines(aligned((verdict, f"{text}  ({origin})") for verdict, text, origin in rows))
    return 0


def _test(call: Invocation, settings: Settings, more: Sequence[str]) -> int:
    code = read_code("-") if more[0] == "-" else more[0]
    language = _language(call, settings)
    effects = effects_of(language, code, {}, str(call.cwd))
    rules = Rules(written_rules(settings))
    ruling = rules.ruling(language, code, effects)
    later = [Ruled(rule.text, "", rule, _LATER) for rule in rules.all if rule.target]
    decision, why = _decision(ruling, settings, effects)
    if call.options.output_format != "text":
        parts = [_as_json(part) for part in (*ruling.parts, *later)]
        kinds = [effect.kind for effect in effects.found]
        write_facts(call.out, {"decision": decision, "by": why, "effects": kinds, "parts": parts})
    else:
        call.out.writelines(_line(part) for part in (*ruling.parts, *later))
        call.out.write(f"{decision}: {one_line(why)}\n")
    return {"allow": ALLOWED, "ask": ASKED, "deny": DENIED}[decision]


def _language(call: Invocation, settings: Settings) -> str:
    """Return the language of the code.

    Raises:
        SettingsError: there is no language of that name; `ls -la` without quotes would be read as one.
    """
    language = call.options.language or "shell"
    if not means_language(language):
        known = LocalKernels(str(call.cwd), kernel_options(settings), environ=call.environ).known()
        if not any(language.casefold() in row.names for row in known):
            hint = "code of several words goes in quotes, as in terp rules test 'ls -la'"
            raise SettingsError([f"-l: there is no language '{one_line(language)}'; {hint}."])
    return language


def _decision(ruling: Ruling, settings: Settings, effects: Effects) -> tuple[str, str]:
    """Return the decision about the code, and its reason."""
    if ruling.verdict:
        return ruling.verdict, ruling.by
    if settings.auto_run:
        return "allow", f"no rule decides; auto_run ({settings.origin('auto_run')})"
    return "ask", f"no rule decides; effects: {effects_line(effects)}"


def _line(part: Ruled) -> str:
    why = part.rule.named if part.rule else part.why or "no rule"
    more = f", {part.why}" if part.rule and part.why else ""
    return f"  {part.verdict or '–':5}  {one_line(part.text)}  ← {one_line(why + more)}\n"


def _as_json(part: Ruled) -> Mapping[str, str]:
    rule = part.rule
    return {
        "part": part.text,
        "verdict": part.verdict,
        "rule": rule.text if rule else "",
        "origin": rule.origin if rule else "",
        "why": part.why,
    }


_VERBS: Mapping[str, Callable[[Invocation, Settings, Sequence[str]], int]] = {"list": _list, "test": _test}
