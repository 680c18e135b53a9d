"""`terp keys`: store, list and delete the keys of providers. A key is never shown."""

import sys
from collections.abc import Callable, Mapping, Sequence

from terp.errors import SettingsError
from terp.secrets.keys import StoredKeys, checked_key, key_providers, stored_keys, variables_of
from terp.settings.profile_file import short_path
from terp.text.wording import did_you_mean
from terp_cli.fronts.invocation import STDIN, Invocation
from terp_cli.repl.commands.rows import aligned
from terp_cli.terminal import tty
from terp_cli.terminal.sanitise import one_line

_LONGEST = 8_192


def keys(call: Invocation) -> int:
    """Run `terp keys`; return the exit code."""
    verb, more = call.line.argument, call.line.arguments
    if len(more) > 1:
        problem = "a key is never an argument: other users can read arguments, and the shell stores them"
        raise SettingsError([f"{problem}. terp keys {verb} PROVIDER asks for it, or reads it from stdin."])
    return _VERBS[verb](call, stored_keys(call.places), more)


def _list(call: Invocation, kept: StoredKeys, _: Sequence[str]) -> int:
    places = kept.places()
    found = {
        **{
            name: short_path(kept.file) if where == "file" else "the system's keyring"
            for name, where in places.items()
        },
        **{name: variable for name in key_providers() if (variable := _variable(call, name))},
    }
    call.out.writelines(aligned(sorted(found.items())))
    if not found:
        call.note("no key is stored, and none is in the environment; terp keys set PROVIDER stores one.")
    return 0


def _variable(call: Invocation, provider: str) -> str:
    """Return the environment variable that has the key; it takes precedence over a stored key."""
    return next((name for name in variables_of(provider) if call.environ.get(name, "").strip()), "")


def _set(call: Invocation, kept: StoredKeys, more: Sequence[str]) -> int:
    provider = _known(more[0])
    where = kept.set(provider, _asked(call, provider))
    call.note(f"the key of {provider} is in {where}.")
    if variable := _variable(call, provider):
        call.note(f"{variable} is set, and takes precedence over it.")
    return 0


def _delete(call: Invocation, kept: StoredKeys, more: Sequence[str]) -> int:
    if not kept.delete(more[0]):
        raise SettingsError([f"no key of '{one_line(more[0])}' is kept."])
    call.note(f"the key of {more[0]} was deleted.")
    return 0


def _known(provider: str) -> str:
    names = key_providers()
    if provider not in names:
        hint = did_you_mean(provider, names, f"There are: {', '.join(names)}.")
        raise SettingsError([f"'{one_line(provider)}' is no provider with a key. {hint}"])
    return provider


def _asked(call: Invocation, provider: str) -> str:
    """Return the key: typed without echo, or the first line of stdin."""
    if sys.stdin is None:
        raise SettingsError(["there is no stdin to read the key from."])
    if not sys.stdin.isatty():
        return checked_key(sys.stdin.readline(_LONGEST))
    with tty.unseen(STDIN):
        call.notes.write(f"Key of {provider} (it is not shown): ")
        call.notes.flush()
        line = sys.stdin.readline(_LONGEST)
    call.notes.write("\n")
    return checked_key(line)


_VERBS: Mapping[str, Callable[[Invocation, StoredKeys, Sequence[str]], int]] = {
    "list": _list,
    "set": _set,
    "delete": _delete,
}
