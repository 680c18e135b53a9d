"""The agent: the methods of the protocol, with errors that name a remedy."""

import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, Client, schema
from acp.exceptions import RequestError
from acp.helpers import ContentBlock

from terp import __version__
from terp.errors import SessionError, SettingsError, TerpError, with_remedy
from terp.models.building import with_found_model
from terp.opening.supplied import Supplied
from terp.person import Nobody
from terp.secrets.keys import with_keys
from terp.settings import Settings
from terp.settings.mcp_servers import McpServer
from terp.store.catalogue import Catalogue
from terp.store.folders import SESSION_ID, new_folder
from terp.store.places import Place, is_session, new_place, real_directory, stored_place
from terp_cli.acp.person import PRELUDE, TOOLS, EditorPerson, offer_files
from terp_cli.acp.prompts import read_prompt
from terp_cli.acp.session import EditorSession
from terp_cli.fronts.invocation import Invocation
from terp_cli.repl.keeping import SessionOpener, prefetch_adapters

Fields = dict[str, Any]
Method = Callable[..., Coroutine[Any, Any, Any]]
_KEYS = {
    "id": "key",
    "name": "A key that terp has",
    "description": "From a variable such as ANTHROPIC_API_KEY, or stored with terp keys set PROVIDER.",
}


def _reported(method: Method) -> Method:
    """Wrap a method of the agent so that errors of terp are errors of JSON-RPC, with the remedy."""

    @wraps(method)
    async def run(self: "TerpAgent", **given: Any) -> Any:
        try:
            return await method(self, **given)
        except TerpError as error:
            code = {"auth": -32000, "usage": -32602}.get(error.stop_reason, -32603)
            code = -32002 if isinstance(error, SessionError) else code
            message = self.call.secrets.redacted(with_remedy(error.message, error.remedy))
            data = {"reason": error.stop_reason, "remedy": error.remedy}
            raise RequestError(code, message, data) from error

    return run


class TerpAgent:
    """An agent of the protocol (the SDK's `Agent`), with the settings of one call of terp."""

    client: Client

    def __init__(self, call: Invocation) -> None:
        self.call = call
        self._abilities = schema.ClientCapabilities()
        self._client_name = ""
        self._sessions: dict[str, EditorSession] = {}

    def on_connect(self, client: Client) -> None:
        """Take the client's end of the connection."""
        self.client = client

    async def initialize(
        self,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **_: Any,
    ) -> Fields:
        """Return the abilities of terp, and where its keys come from."""
        self._abilities = client_capabilities or self._abilities
        self._client_name = client_info.name if client_info else ""
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "embeddedContext": True},
                "mcpCapabilities": {"http": find_spec("mcp") is not None},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
            },
            "agentInfo": {"name": "terp", "title": "terp", "version": __version__},
            "authMethods": [_KEYS],
        }

    @_reported
    async def authenticate(self, **_: Any) -> None:
        """Check that there is a model with its key; keys are never sent through the protocol."""
        await self._with_model(self.call.settings())

    @_reported
    async def new_session(self, cwd: str, mcp_servers: Any = None, **_: Any) -> Fields:
        """Open a session in a directory."""
        call = self._call_in(cwd)
        place = new_place(new_folder(call.places.sessions), str(call.cwd), call.secrets)
        editor = await self._open(call, place, mcp_servers)
        editor.begin()
        return {"sessionId": editor.id, **editor.state()}

    async def load_session(self, **given: Any) -> Fields:
        """Resume a stored session, and send what happened in it."""
        resumed: Fields = await self.resume_session(**given, replays=True)
        return resumed

    @_reported
    async def resume_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, *, replays: bool = False, **_: Any
    ) -> Fields:
        """Resume a stored session."""
        call = self._call_in(cwd)
        if not SESSION_ID.fullmatch(session_id):
            raise SessionError(f"There is no session '{session_id[:40]}'.", "session/list lists them.")
        if editor := self._sessions.pop(session_id, None):
            # The client has lost its view of the session, and begins again.
            await editor.aclose()
        folder = call.places.sessions / session_id
        if is_session(folder):
            editor = await self._open(call, stored_place(folder, call.secrets), mcp_servers)
        else:
            # Clients load also a session that had no turn.
            editor = await self._open(call, new_place(folder, cwd, call.secrets), mcp_servers)
            editor.session.dialog.notify(
                "Nothing is stored of this session: it begins without earlier turns."
            )
        if replays:
            await editor.sender.replay()
        await editor.resume_plan()
        editor.begin()
        return editor.state()

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> schema.ListSessionsResponse:
        """Return the stored sessions of a directory, or of all, the last used first."""
        found = Catalogue(self.call.places.sessions).listed(real_directory(cwd) if cwd else "")
        rows = [(one, datetime.fromtimestamp(one.used, UTC).isoformat()) for one in found]
        sessions = [
            schema.SessionInfo(session_id=one.id, cwd=one.cwd, title=one.title or None, updated_at=used)
            for one, used in rows
        ]
        return schema.ListSessionsResponse(sessions=sessions)

    @_reported
    async def close_session(self, session_id: str, **_: Any) -> None:
        """End a session and its kernels; it stays stored."""
        editor = self._editor(session_id)
        del self._sessions[session_id]
        await editor.aclose()

    @_reported
    async def prompt(self, session_id: str, prompt: Sequence[ContentBlock], **_: Any) -> Fields:
        """Run a turn or a command to its end."""
        editor = self._editor(session_id)
        return {"stopReason": await editor.run(*read_prompt(prompt, editor.session))}

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the turn of a session; the variables stay."""
        if editor := self._sessions.get(session_id):
            await editor.cancel()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> None:
        """Use another mode."""
        await self.set_config_option(session_id=session_id, config_id="mode", value=mode_id)

    @_reported
    async def set_config_option(self, session_id: str, config_id: str, value: str | bool, **_: Any) -> Fields:
        """Use another mode or model."""
        editor = self._editor(session_id)
        await editor.use_option(config_id, str(value))
        return {"configOptions": editor.state()["configOptions"]}

    async def aclose(self) -> None:
        """Close all sessions."""
        while self._sessions:
            await self._sessions.popitem()[1].aclose()

    def _call_in(self, cwd: str) -> Invocation:
        """Return this call as if it were made in another directory.

        Raises:
            SettingsError: there is no such directory.
        """
        if not (Path(cwd).is_absolute() and Path(cwd).is_dir()):
            raise SettingsError([f"cwd must be the absolute path of a directory, and '{cwd[:200]}' is none."])
        options = replace(self.call.options, cwd=cwd)
        return Invocation(replace(self.call.line, options=options, notices=()), self.call.environ)

    async def _with_model(self, settings: Settings) -> Settings:
        if settings.model or settings.replay or settings.api_base:
            return settings
        return await with_found_model(settings, with_keys(self.call.environ), Nobody())

    async def _open(self, call: Invocation, place: Place, servers: Sequence[Any] | None) -> EditorSession:
        with place.closed_on_failure():
            settings = await self._with_model(call.settings())
            fs, asking = self._abilities.fs, self._abilities.elicitation
            edits = bool(fs and fs.read_text_file and fs.write_text_file) and not settings.gateway_url
            with_editor = replace(
                settings,
                mcp_servers={**settings.mcp_servers, **dict(map(_server, servers or ()))},
                tools=(*settings.tools, *([TOOLS] if edits else [])),
            )
            has_forms = asking is not None and asking.form is not None
            person = EditorPerson(
                self.client,
                has_forms=has_forms,
                free=settings.auto_run,
                shows_titles=self._client_name == "CodeCompanion.nvim",
            )
            supplied = Supplied(prelude=PRELUDE * edits)
            session = await SessionOpener(call, with_editor, person, call.cwd, supplied).open(place)
        # Without what the editor adds: changed settings are compared with those of files and flags.
        editor = EditorSession(call, settings, session, person)
        if edits:
            offer_files(person, session)
        confinement = session.resources.confinement
        warnings = [confinement.warning] if confinement is not None and confinement.warning else []
        problems = (*call.project_notices, *editor.command_problems)
        for line in (*problems, *session.resources.notices, *warnings):
            session.dialog.notify(line)
        self._sessions[editor.id] = editor
        await prefetch_adapters()
        return editor

    def _editor(self, session_id: str) -> EditorSession:
        if session_id not in self._sessions:
            raise SessionError(f"The session '{session_id[:40]}' is not open.", "session/load opens it.")
        return self._sessions[session_id]


def _server(given: Any) -> tuple[str, McpServer]:
    """Return an MCP server that the editor names, and a name for it that Python accepts."""
    name = re.sub(r"\W", "_", given.name)
    if isinstance(given, schema.McpServerStdio):
        env = {variable.name: variable.value for variable in given.env}
        return name, McpServer(command=given.command, args=tuple(given.args), env=env)
    return name, McpServer(url=given.url, headers={row.name: row.value for row in given.headers})
