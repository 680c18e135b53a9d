"""`terp trust`: what a project would change, and the decisions about it: ask, show, yes, no, list, remove."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from terp.errors import SettingsError
from terp.settings.project.decisions import Decisions
from terp.settings.project.files import bare_project
from terp.settings.project.standing import Standing, standing_of
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.json import write_facts
from terp_cli.repl.terminal_ui import terminal_ui_of
from terp_cli.repl.trusting import ask, decide, difference, project_report, shown_files, state_of
from terp_cli.terminal.sanitise import one_line


def trust(call: Invocation) -> int:
    """Run `terp trust`; return the exit code."""
    verb, more = call.line.argument, call.line.arguments
    if problem := Decisions(call.places.trust).problem:
        call.note(problem)
    return _VERBS[verb](call, more)


def _ask(call: Invocation, more: Sequence[str]) -> int:
    auto_run = call.line.given.get("auto_run")
    if auto_run is not None and auto_run.value:
        return _decided(call, more, yes=True)
    standing = _standing(call, more)
    if standing.state != "open" or not call.talks:
        _write(call, standing, with_files=False)
        if standing.state == "open":
            call.note("there is no user to ask; terp trust yes trusts the project as it is now.")
        return 0
    # Loaded without the project: its problems are shown below.
    settings = call.loaded(call.line.given, call.options.profile, bare_project(call.cwd)).settings
    ui = terminal_ui_of(call, settings, once=True)
    assert ui.prompt is not None and ui.person is not None, "who talks has a keyboard"
    prompt = ui.prompt()
    asyncio.run(ask(standing, difference(call, standing), ui.person, prompt.say, prompt.width))
    call.out.write(f"{state_of(standing)}\n")
    return 0


def _show(call: Invocation, more: Sequence[str]) -> int:
    standing = _standing(call, more)
    if call.options.output_format != "text":
        return _as_json(call, standing)
    _write(call, standing, with_files=True)
    return 0


def _decided(call: Invocation, more: Sequence[str], *, yes: bool) -> int:
    standing = _standing(call, more)
    if standing.state != "nothing":
        _write_difference(call, standing)
        decide(standing, yes=yes, keep=True)
    call.out.write(f"{state_of(standing)}\n")
    return 0


def _list(call: Invocation, _: Sequence[str]) -> int:
    decisions = Decisions(call.places.trust).listed()
    latest = {one.root: one for one in decisions}
    for root, one in sorted(latest.items()):
        call.out.write(f"{one.answer:3}  {one_line(root)}\n")
    if not latest:
        call.note("there are no decisions about projects.")
    return 0


def _remove(call: Invocation, more: Sequence[str]) -> int:
    decisions = Decisions(call.places.trust)
    for name in more or [""]:
        # The folder may be gone by now.
        root = os.path.realpath(Path(call.cwd, Path(name).expanduser())) if name else _root(call)
        forgotten = decisions.forget(root)
        there_was = "Forgot what was decided about" if forgotten else "Nothing was decided about"
        call.out.write(f"{there_was} {one_line(root)}.\n")
    return 0


def _root(call: Invocation) -> str:
    return os.path.realpath(call.standing.survey.root)


def _standing(call: Invocation, more: Sequence[str]) -> Standing:
    if not more:
        return call.standing
    folder = Path(call.cwd, Path(more[0]).expanduser())
    if not folder.is_dir():
        raise SettingsError([f"terp trust: there is no directory '{more[0]}'."])
    return standing_of(folder, call.environ, call.places)


def _write(call: Invocation, standing: Standing, *, with_files: bool) -> None:
    if standing.state != "nothing":
        _write_difference(call, standing)
        if with_files:
            call.out.writelines(f"{line}\n" for line in shown_files(difference(call, standing)))
    call.out.write(f"{state_of(standing)}\n")


def _write_difference(call: Invocation, standing: Standing) -> None:
    call.out.writelines(f"{line}\n" for line in project_report(standing, difference(call, standing)))


def _as_json(call: Invocation, standing: Standing) -> int:
    found = difference(call, standing)
    parts = standing.survey.parts
    facts = {
        "root": str(standing.survey.root),
        "state": standing.state,
        "digest": standing.survey.digest,
        "changes": [{"what": what, "line": line} for what, line in found.changed],
        "never_taken": list(found.refused),
        "problems": list(found.problems),
        "parts": [{"name": one.name, "kind": one.kind, "sha256": one.digest} for one in parts],
    }
    return write_facts(call.out, facts)


_VERBS: Mapping[str, Callable[[Invocation, Sequence[str]], int]] = {
    "ask": _ask,
    "show": _show,
    "yes": partial(_decided, yes=True),
    "no": partial(_decided, yes=False),
    "list": _list,
    "remove": _remove,
}
