"""What `terp serve` does for the protocol: where it listens, and what it says at its start."""

from collections.abc import Iterator

from terp.errors import SettingsError
from terp.opening.changing import Change, change_settings
from terp.session.session import Session
from terp.settings import Settings
from terp_cli.fronts.call import Call
from terp_cli.server.compat.compat import Compat
from terp_cli.server.compat.opening import Changing
from terp_cli.server.compat.variables import PORT, Variables
from terp_cli.server.own_names import is_loopback
from terp_cli.server.sessions import Sessions
from terp_cli.server.token import Token

_HOST, _PORT = "127.0.0.1", 8000
_MOST = 65_535


def address_of(call: Call) -> tuple[str, int]:
    """Where the server is to listen: flags first, then with `--compat` the protocol's own variables.

    Raises:
        SettingsError: a variable is no port, or a flag is of no use alone.
    """
    options, variables = call.options, Variables(call.environ)
    if options.compat_unsafe and not options.compat:
        raise SettingsError(["--compat-unsafe needs --compat."])
    host, port = options.host, options.port
    if options.compat:
        host = host or variables.host
        port = _port(variables.port) if port is None and variables.port else port
    return host or _HOST, _PORT if port is None else port


def compat_of(call: Call, settings: Settings, sessions: Sessions, token: Token, host: str) -> Compat | None:
    """The protocol, if it is to be served."""
    if not call.options.compat:
        return None
    compat = Compat(
        sessions,
        settings,
        changing_of(call),
        Variables(call.environ),
        token,
        alone=lambda: is_loopback(host),
        unsafe=call.options.compat_unsafe,
    )
    if call.options.cwd:
        # Who names a directory means that code works there, as with Open Interpreter.
        compat.conversation.shared.cwd = "."
    return compat


def changing_of(call: Call) -> Changing:
    """What lets a session take other settings, with the keys of this call."""

    async def changing(session: Session, before: Settings, after: Settings) -> None:
        change = Change(before, after)
        await change_settings(session, change, call.environ, api_key=call.options.api_key)

    return changing


def opened_by(call: Call, host: str, port: int, *, unasked: bool) -> Iterator[str]:
    """What is open to whom, a line each."""
    if not call.options.compat:
        yield "open: /v1, the native interface and OpenAI's; no compatibility mode"
        return
    variables = Variables(call.environ)
    yield "open: /v1, the native interface and OpenAI's"
    who = "any program of this machine, with any key or none" if is_loopback(host) else "who has the token"
    if variables.key:
        who = "who has the key of INTERPRETER_API_KEY"
    asked = "runs unasked (auto_run)" if unasked else "waits for their go"
    yield f"open: Open Interpreter's protocol and /openai (--compat), to {who}; code {asked}"
    if call.options.compat_unsafe:
        yield "open: auto_run over the wire (--compat-unsafe): clients may let code run unasked"
    if variables.has_insecure_routes:
        yield f"open: {_insecure(unsafe=call.options.compat_unsafe)} (INTERPRETER_INSECURE_ROUTES)"
    name = f"[{host}]" if ":" in host else host
    # Scripts look for these words.
    yield f"Server will run at http://{name}:{port}"


def _insecure(*, unsafe: bool) -> str:
    if unsafe:
        return "/run, code that is never asked about; /upload to any file, /download of this directory"
    return "/upload and /download, of the session's directory; /run needs --compat-unsafe"


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= _MOST:
        return int(text)
    raise SettingsError([f'{PORT} is "{text}", must be a whole number, from 0 to {_MOST}.'])
