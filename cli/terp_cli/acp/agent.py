"""The agent: the methods of the protocol, with errors that name a remedy."""

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

from acp import PROTOCOL_VERSION, Client
from acp.exceptions import RequestError
from acp.schema import (
    AcpMcpServer,
    AgentCapabilities,
    AuthenticateResponse,
    AuthMethodAgent,
    ClientCapabilities,
    CloseSessionResponse,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    McpServerStdio,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    SseMcpServer,
    TerminalAuthMethod,
)

from terp import __version__
from terp.errors import AuthFailed, NoModel, SessionError, SettingsError, TerpError, with_remedy
from terp.models.building import with_found_model
from terp.person import Nobody
from terp.secrets.keys import KeyringFailed, with_keys
from terp.settings import Settings
from terp.settings.mcp_servers import McpServer
from terp.store.catalogue import Catalogue
from terp.store.folders import new_folder
from terp.store.places import Place, new_place, real_directory, stored_place
from terp_cli.acp.commands import EditorContext
from terp_cli.acp.files import PRELUDE, TOOLS, EditorFileServices
from terp_cli.acp.person import EditorPerson
from terp_cli.acp.prompts import Block, read_prompt
from terp_cli.acp.session import EditorSession
from terp_cli.fronts.invocation import Invocation
from terp_cli.repl.keeping import SessionOpener, prefetch_adapters

M = TypeVar("M", bound=Callable[..., Coroutine[Any, Any, Any]])
Servers = Sequence[HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio]
_AUTH, _NOT_FOUND, _WRONG, _INTERNAL = -32000, -32002, -32602, -32603
_KEY = "key"
_OFTEN = ("anthropic", "openai", "gemini", "openrouter")
_LISTED = 50
_ID = re.compile(r"\d{4}-\d\d-\d\d-[0-9a-f]{8}")


def _reported(method: M) -> M:
    """Wrap a method of the agent so that errors of terp are errors of JSON-RPC."""

    @wraps(method)
    async def run(self: "TerpAgent", **named: Any) -> Any:
        try:
            return await method(self, **named)
        except TerpError as error:
            raise self.error(error) from error

    return cast("M", run)


class TerpAgent:
    """An agent of the protocol (the SDK's `Agent`), with the settings of one call of terp."""

    client: Client

    def __init__(self, call: Invocation) -> None:
        self._call = call
        self._abilities = ClientCapabilities()
        self._sessions: dict[str, EditorSession] = {}

    def on_connect(self, client: Client) -> None:
        """Take the client's end of the connection."""
        self.client = client

    async def initialize(
        self, protocol_version: int, client_capabilities: ClientCapabilities | None = None, **_: Any
    ) -> InitializeResponse:
        """Return the abilities of terp, and the ways to give it a key."""
        self._abilities = client_capabilities or ClientCapabilities()
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(image=True, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=find_spec("mcp") is not None),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            agent_info=Implementation(name="terp", title="terp", version=__version__),
            auth_methods=list(self._auth_methods()),
        )

    @_reported
    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        """Check that there is a model with its key; keys are never sent through the protocol."""
        await self._with_model(self._call.settings())
        return AuthenticateResponse()

    @_reported
    async def new_session(self, cwd: str, mcp_servers: Servers | None = None, **_: Any) -> NewSessionResponse:
        """Open a session in a directory."""
        call = self._call_in(cwd)
        place = new_place(new_folder(call.places.sessions), str(call.cwd), call.secrets)
        editor = await self._open(call, place, mcp_servers or ())
        editor.begin()
        return NewSessionResponse(
            session_id=place.folder.name, modes=editor.modes, config_options=editor.options
        )

    @_reported
    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Servers | None = None, **_: Any
    ) -> LoadSessionResponse:
        """Resume a stored session, and send what happened in it."""
        editor = await self._resume(cwd, session_id, mcp_servers or ())
        await editor.sender.replay()
        editor.begin()
        return LoadSessionResponse(modes=editor.modes, config_options=editor.options)

    @_reported
    async def resume_session(
        self, cwd: str, session_id: str, mcp_servers: Servers | None = None, **_: Any
    ) -> ResumeSessionResponse:
        """Resume a stored session."""
        editor = await self._resume(cwd, session_id, mcp_servers or ())
        editor.begin()
        return ResumeSessionResponse(modes=editor.modes, config_options=editor.options)

    @_reported
    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> ListSessionsResponse:
        """Return the stored sessions of a directory, or of all, the last used first."""
        at = int(cursor) if cursor and cursor.isdecimal() else 0
        found = Catalogue(self._call.places.sessions).listed(real_directory(cwd) if cwd else "")
        sessions = [
            SessionInfo(
                session_id=one.id,
                cwd=one.cwd,
                title=one.title or None,
                updated_at=datetime.fromtimestamp(one.used, UTC).isoformat(timespec="seconds"),
            )
            for one in found[at : at + _LISTED]
        ]
        more = str(at + _LISTED) if len(found) > at + _LISTED else None
        return ListSessionsResponse(sessions=sessions, next_cursor=more)

    @_reported
    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        """End a session and its kernels; it stays stored."""
        editor = self._editor(session_id)
        del self._sessions[session_id]
        await editor.aclose()
        return CloseSessionResponse()

    @_reported
    async def prompt(self, session_id: str, prompt: Sequence[Block], **_: Any) -> PromptResponse:
        """Run a turn or a command to its end."""
        editor = self._editor(session_id)
        text, attachments = read_prompt(prompt, editor.session)
        return await editor.prompt(text, attachments)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the turn of a session; the variables stay."""
        if editor := self._sessions.get(session_id):
            await editor.cancel()

    @_reported
    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        """Use another mode."""
        await self._editor(session_id).use_mode(mode_id)
        return SetSessionModeResponse()

    @_reported
    async def set_config_option(
        self, session_id: str, config_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        """Use another mode or model."""
        editor = self._editor(session_id)
        await editor.use_option(config_id, str(value))
        return SetSessionConfigOptionResponse(config_options=editor.options)

    async def aclose(self) -> None:
        """Close all sessions."""
        while self._sessions:
            await self._sessions.popitem()[1].aclose()

    def error(self, error: TerpError) -> RequestError:
        """Return an error of terp as one of JSON-RPC: the message, and the remedy."""
        message = self._call.secrets.redacted(with_remedy(error.message, error.remedy))
        data = {"reason": error.stop_reason, "remedy": error.remedy}
        return RequestError(_code_of(error), message, data)

    def _auth_methods(self) -> "Sequence[TerminalAuthMethod | AuthMethodAgent]":
        about = "terp reads keys from variables such as ANTHROPIC_API_KEY, and those of terp keys set."
        methods: list[TerminalAuthMethod | AuthMethodAgent] = [
            AuthMethodAgent(id=_KEY, name="A key that terp has", description=about)
        ]
        auth = self._abilities.auth
        if getattr(auth, "terminal", False):
            methods += [
                TerminalAuthMethod(
                    type="terminal", id=f"login-{one}", name=f"Store a key of {one}", args=["login", one]
                )
                for one in _OFTEN
            ]
        return methods

    def _call_in(self, cwd: str) -> Invocation:
        """Return this call as if it were made in another directory.

        Raises:
            SettingsError: there is no such directory.
        """
        if not (Path(cwd).is_absolute() and Path(cwd).is_dir()):
            raise SettingsError([f"cwd must be the absolute path of a directory, and '{cwd[:200]}' is none."])
        options = replace(self._call.options, cwd=cwd)
        return Invocation(replace(self._call.line, options=options, notices=()), self._call.environ)

    async def _with_model(self, settings: Settings) -> Settings:
        if settings.model or settings.replay or settings.api_base:
            return settings
        return await with_found_model(settings, with_keys(self._call.environ), Nobody())

    async def _resume(self, cwd: str, session_id: str, servers: Servers) -> EditorSession:
        if editor := self._sessions.pop(session_id, None):
            # The client has lost its view of the session, and begins again.
            await editor.aclose()
        call = self._call_in(cwd)
        folder = call.places.sessions / session_id
        if not (_ID.fullmatch(session_id) and folder.is_dir()):
            raise SessionError(f"There is no session '{session_id[:40]}'.", "session/list lists them.")
        return await self._open(call, stored_place(folder, call.secrets), servers)

    async def _open(self, call: Invocation, place: Place, servers: Servers) -> EditorSession:
        try:
            return await self._opened(call, place, servers)
        except BaseException:
            if place.keeper is not None:
                place.keeper.close()
            raise

    async def _opened(self, call: Invocation, place: Place, servers: Servers) -> EditorSession:
        settings = await self._with_model(call.settings())
        settings = replace(settings, mcp_servers={**settings.mcp_servers, **_servers(servers)})
        fs = self._abilities.fs
        edits = bool(fs and fs.read_text_file and fs.write_text_file) and not settings.gateway_url
        if edits:
            settings = replace(settings, tools=(*settings.tools, TOOLS))
        person = EditorPerson(always=settings.auto_run, free=settings.auto_run)
        opener = SessionOpener(call, settings, person, call.cwd, PRELUDE if edits else "")
        session = await opener.open(place)
        context = EditorContext(call, settings, session, person)
        editor = EditorSession(self.client, self._abilities, session, context, person)
        if edits:
            EditorFileServices(self.client, session, editor.sender.edited).offer()
        confinement = session.resources.confinement
        warning = confinement.warning if confinement is not None else ""
        for line in (*call.project.problems, *session.resources.notices, warning):
            if line:
                session.dialog.notify(line)
        self._sessions[place.folder.name] = editor
        await prefetch_adapters()
        return editor

    def _editor(self, session_id: str) -> EditorSession:
        if session_id not in self._sessions:
            raise SessionError(f"The session '{session_id[:40]}' is not open.", "session/load opens it.")
        return self._sessions[session_id]


def _servers(servers: Servers) -> Mapping[str, McpServer]:
    """Return the MCP servers that the editor names, by names that Python accepts."""
    found: dict[str, McpServer] = {}
    for one in servers:
        name = re.sub(r"\W", "_", one.name)
        match one:
            case McpServerStdio(command=command, args=arguments, env=env):
                variables = {variable.name: variable.value for variable in env}
                found[name] = McpServer(command=command, args=tuple(arguments), env=variables)
            case HttpMcpServer(url=url, headers=headers):
                found[name] = McpServer(url=url, headers={row.name: row.value for row in headers})
    return found


def _code_of(error: TerpError) -> int:
    if isinstance(error, NoModel | AuthFailed | KeyringFailed) or error.stop_reason == "auth":
        return _AUTH
    if isinstance(error, SessionError):
        return _NOT_FOUND
    return _WRONG if error.stop_reason == "usage" else _INTERNAL
