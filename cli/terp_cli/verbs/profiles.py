"""`terp profiles`: list, show, new, edit, validate, diff, path and import named sets of settings."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap

from terp.errors import SettingsError, TerpError
from terp.settings import Settings
from terp.settings.foreign_profile import read_foreign_profile
from terp.settings.profile_file import MODELINE, ProfileFile, read_profile, short_path
from terp.settings.profiles import Profiles, is_path
from terp.settings.project.files import SETTINGS
from terp.settings.schema import NAME as SCHEMA
from terp.settings.schema import profile_schema
from terp.settings.setting import table
from terp.settings.sources import combine
from terp.text.files import make_private
from terp.text.paths import typed_path
from terp.text.plain import counted
from terp_cli.fronts.invocation import Invocation
from terp_cli.repl.commands.rows import shown
from terp_cli.terminal.sanitise import one_line, readable

_WIDTH = 80
_NAMES = re.compile(r"[A-Za-z0-9][\w.-]*")


def profiles(call: Invocation) -> int:
    """Run `terp profiles`; return the exit code."""
    verb, more = call.line.argument, call.line.arguments
    return _VERBS[verb](call, Profiles(call.places.profiles), more)


def _list(call: Invocation, profiles: Profiles, _: Sequence[str]) -> int:
    entries = list(profiles.listed())
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        where = f"[{'shipped' if entry.shipped else short_path(entry.path)}]"
        about = f"{entry.description} {where}".lstrip()
        call.out.write(f"{one_line(entry.name):{width}}  {one_line(about)}\n")
        problems = dict.fromkeys((*entry.problems, *_of_base(profiles, read_profile(entry.path))))
        call.out.writelines(f"{'':{width}}  {readable(problem)}\n" for problem in problems)
    return 0


def _show(call: Invocation, profiles: Profiles, more: Sequence[str]) -> int:
    files = profiles.chain(more[0])
    settings = _combined(files)
    call.out.write(f"{one_line(files[0].description)}\n" if files[0].description else "")
    rows = [
        (
            name,
            shown(getattr(settings, name)),
            settings.origin(name).replace(f"{profiles.shipped}/", "shipped "),
        )
        for name in settings.origins
    ]
    _write_columns(call, sorted(rows, key=lambda row: list(table(Settings)).index(row[0])))
    if not rows:
        call.note(f"{more[0]} sets nothing: every setting has its default. terp profiles edit {more[0]}")
    return 0


def _diff(call: Invocation, profiles: Profiles, more: Sequence[str]) -> int:
    first, second = more[0], [*more[1:], "default"][0]
    one, other = (_combined(profiles.chain(name)) for name in (first, second))
    values = [(name, shown(getattr(one, name)), shown(getattr(other, name))) for name in table(Settings)]
    rows = [(name, left, f"{right} in {second}") for name, left, right in values if left != right]
    _write_columns(call, rows)
    if not rows:
        call.note(f"{first} and {second} set the same.")
    return 0


def _path(call: Invocation, profiles: Profiles, more: Sequence[str]) -> int:
    path = profiles.chain(more[0])[0].path if more else profiles.own
    call.out.write(f"{one_line(str(path)) if call.out.isatty() else path}\n")
    return 0


def _validate(call: Invocation, profiles: Profiles, more: Sequence[str]) -> int:
    files = [file for name in more for file in profiles.chain(name)] if more else list(_all(call, profiles))
    problems = [problem for file in files for problem in (*file.problems, *file.refused)]
    for file in () if more else files:
        problems += _of_base(profiles, file)
    if problems:
        raise SettingsError(list(dict.fromkeys(problems)))
    call.note(f"{counted(len(files), 'file')} without a mistake.")
    return 0


def _all(call: Invocation, profiles: Profiles) -> Iterator[ProfileFile]:
    """Return every file of the user's, and those of the project, which are only read here."""
    yield from (read_profile(entry.path) for entry in profiles.listed() if not entry.shipped)
    if call.places.config_file.is_file():
        yield read_profile(call.places.config_file, kind="config")
    for path in (call.project.root / name for name in SETTINGS):
        if path.is_file():
            yield read_profile(path, kind="project")


def _of_base(profiles: Profiles, file: ProfileFile) -> Iterator[str]:
    """Yield the problems of the profiles that a file names."""
    for name, where in file.profiles():
        try:
            profiles.chain(str(file.path.parent / name) if is_path(name) else name, where)
        except SettingsError as error:
            yield from error.problems


def _new(call: Invocation, profiles: Profiles, more: Sequence[str]) -> int:
    path = _own_file(profiles, more[0])
    if path.exists():
        raise SettingsError([f"{short_path(path)} is there already; terp profiles edit {more[0]} opens it."])
    _write_new(path, _blank())
    call.out.write(f"{one_line(str(path)) if call.out.isatty() else path}\n")
    return 0


def _edit(call: Invocation, profiles: Profiles, more: Sequence[str]) -> int:
    path = _own_file(profiles, more[0]) if more else call.places.config_file
    if not path.exists():
        shipped = more and more[0] in profiles.names()
        _write_new(path, _blank(more[0] if shipped else "") if more else _blank_config())
    editor = call.environ.get("VISUAL") or call.environ.get("EDITOR") or "vi"
    try:
        ended = subprocess.run([*shlex.split(editor), str(path)], check=False)
    except (OSError, ValueError) as error:
        raise TerpError(f"The editor '{editor}' does not run: {error}.", "Set EDITOR.") from error
    if ended.returncode:
        raise TerpError(f"The editor '{editor}' ended with {ended.returncode}.")
    if problems := read_profile(path, kind="profile" if more else "config").problems:
        raise SettingsError(problems)
    return 0


def _import(call: Invocation, profiles: Profiles, more: Sequence[str]) -> int:
    source = typed_path(more[0])
    found = read_foreign_profile(source)
    path = _own_file(profiles, more[1] if len(more) > 1 else source.stem)
    if path.exists():
        raise SettingsError(
            [f"{short_path(path)} is there already; name another one: terp profiles import {more[0]} NAME."]
        )
    hidden = path.stem in {one.name for one in profiles.listed() if one.shipped}
    _write_new(path, _header(f"Imported from {source.name} of Open Interpreter.") + found.text)
    call.out.write(f"{one_line(str(path)) if call.out.isatty() else path}\n")
    for line in found.left_out:
        call.note(f"{short_path(source)}:{line}")
    if hidden:
        call.note(f"-p {path.stem} names this one now, and the shipped profile again once it is removed.")
    if path.stem == "default":
        call.note("It counts with -p default, or always with 'profile: default' in config.yaml.")
    return 0


def _own_file(profiles: Profiles, name: str) -> Path:
    if not _NAMES.fullmatch(name):
        raise SettingsError([f"'{name}' is no name for a profile: letters, digits, '.', '-' and '_' are."])
    for suffix in (".yaml", ".yml"):
        if (path := profiles.own / f"{name}{suffix}").exists():
            return path
    return profiles.own / f"{name}.yaml"


def _write_new(path: Path, text: str) -> None:
    """Write a file of the user's, and beside it the schema that its first lines name."""
    try:
        make_private(path.parent)
        (path.parent / SCHEMA).write_text(json.dumps(profile_schema(), indent=2) + "\n", encoding="utf-8")
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(made, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise TerpError(f"{short_path(path)} cannot be written: {error.strerror}.") from error


def _header(about: str) -> str:
    return f"# {about}\n{MODELINE}{SCHEMA}\n"


def _blank(extends: str = "") -> str:
    base = f"extends: {extends}\n" if extends else "# extends: default\n"
    about = "# The first line of the file, if it is a comment, describes the profile.\n"
    return f"{MODELINE}{SCHEMA}\n\n{base}# model: PROVIDER/NAME\n{about}"


def _blank_config() -> str:
    return _header("What is always wanted.") + "# profile: NAME\n# model: PROVIDER/NAME\n"


def _combined(files: Sequence[ProfileFile]) -> Settings:
    """Return the settings of a profile combined with those that it extends.

    Raises:
        SettingsError: with every mistake in them.
    """
    if problems := [problem for file in files for problem in file.problems]:
        raise SettingsError(problems)
    return combine([file.given for file in files])


def _write_columns(call: Invocation, rows: Sequence[tuple[str, str, str]]) -> None:
    first, second = (max((len(row[at]) for row in rows if _is_short(row[1])), default=0) for at in (0, 1))
    for name, value, origin in rows:
        if _is_short(value):
            line = f"{one_line(name):{first}}  {one_line(value):{second}}  {one_line(origin)}"
            call.out.write(f"{line.rstrip()}\n")
            continue
        call.out.write(f"{one_line(name):{first}}  {one_line(origin)}\n")
        for line in value.splitlines():
            call.out.writelines(f"    {readable(part)}\n" for part in wrap(line, _WIDTH - 4) or [""])


def _is_short(value: str) -> bool:
    """Return True if a value fits into a column; a longer value is written below its name."""
    return len(value) <= _WIDTH // 2 and "\n" not in value


_VERBS: Mapping[str, Callable[[Invocation, Profiles, Sequence[str]], int]] = {
    "list": _list,
    "show": _show,
    "new": _new,
    "edit": _edit,
    "validate": _validate,
    "diff": _diff,
    "path": _path,
    "import": _import,
}
