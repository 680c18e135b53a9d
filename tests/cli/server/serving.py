"""A real server on loopback in the test's own loop: scripted models, echoing kernels, sessions on disk."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
from fastapi import APIRouter, FastAPI

from terp.events.kernel import Kernels
from terp.events.model import Model
from terp.opening.chat_session import ChatSession
from terp.person import Person
from terp.secrets.known_secrets import Secrets
from terp.session.session import Session
from terp.settings import Settings
from terp.settings.places import Places
from terp.store.folders import new_folder
from terp.store.places import Place, is_session, new_place, stored_place
from terp.store.reading import read_header
from terp.testing import EchoKernel, Scripted, ScriptedModel
from terp_cli.server.access import TOKEN_VARIABLE, OwnNames, ServerToken
from terp_cli.server.compat.compat import Compat, stateful_of
from terp_cli.server.connections import ServerLimits
from terp_cli.server.failures import RequestRefused
from terp_cli.server.openai import routes as openai
from terp_cli.server.opening import OpenedSession, ProfileOffered, SessionOffer, SessionRequest, settings_for
from terp_cli.server.serving import HttpServer, application
from terp_cli.server.sessions import Sessions
from terp_cli.server.workspaces import Workspaces

TOKEN = "a-token-of-tests-0123456789"
SECRET = "the-secret-of-the-environment"
JSON = {"Content-Type": "application/json"}
BYTES = {"Content-Type": "application/octet-stream"}


@dataclass
class FakeOpener:
    """Opens sessions with these parts in place of a model and kernels."""

    workspaces: Workspaces
    model: Callable[[], Model]
    kernels: Callable[[], Kernels] = EchoKernel
    made: list[Session] = field(default_factory=list)
    changes: list[tuple[Settings, Settings]] = field(default_factory=list)
    secrets: Secrets = field(
        default_factory=lambda: Secrets({"A_TOKEN": SECRET, TOKEN_VARIABLE: TOKEN}, Settings())
    )

    def offer(self) -> SessionOffer:
        careful = ProfileOffered("careful", "Asks twice.", "scripted/careful")
        return SessionOffer("scripted/model", (careful,), True, "before", (), "none")

    async def listed(self) -> list[str]:
        return ["scripted/listed"]

    async def new(self, wishes: SessionRequest, person: Person) -> OpenedSession:
        settings_for(wishes, Settings(), lambda _: Settings())
        folder = new_folder(self.workspaces.places.sessions)
        cwd = self.workspaces.chosen(wishes.cwd, folder.name)
        return self._opened(new_place(folder, str(cwd), self.secrets), cwd, person)

    async def stored(self, session: str, wishes: SessionRequest, person: Person) -> OpenedSession:
        folder = self.workspaces.places.sessions / session
        header = read_header(folder)
        if header is None or not is_session(folder):
            raise RequestRefused(404, "There is none.")
        cwd = self.workspaces.again(header.cwd, session)
        return self._opened(stored_place(folder, self.secrets), cwd, person)

    async def adapt(self, session: Session, before: Settings, after: Settings) -> None:
        self.changes.append((before, after))

    async def change(self, session: Session, before: Settings, wishes: SessionRequest) -> Settings:
        after = settings_for(wishes, before, lambda name: replace(Settings(), profile=name))
        model = self.model()
        model.name = after.model or model.name  # type: ignore[misc]
        session.model = model
        return after

    def _opened(self, place: Place, cwd: Path, person: Person) -> OpenedSession:
        session = ChatSession(
            self.model(), self.kernels(), person, folder=place.folder, keeper=place.keeper, system="Be brief."
        )
        session.resources.secrets = self.secrets
        self.made.append(session)
        return OpenedSession(session, cwd)


class ResistingKernel(EchoKernel):
    """Its endless code ends with the second interrupt, as real code does then with its kernel."""

    interrupts = 0

    async def interrupt(self) -> None:
        self.interrupts += 1
        if self.interrupts > 1:
            await super().interrupt()


@dataclass
class Running:
    """A server that runs, and a client of it that shows the token."""

    port: int
    app: FastAPI
    client: httpx.AsyncClient
    sessions: Sessions
    opener: FakeOpener
    log: list[dict[str, Any]]
    compat: Compat | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def created(self, **wishes: Any) -> str:
        """The id of a new session."""
        answer = await self.client.post("/v1/sessions", json=wishes)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def asked(self, session: str, prompt: str) -> list[dict[str, Any]]:
        """All events of a turn that asks nothing back."""
        path = f"/v1/sessions/{session}/turns"
        async with self.client.stream("POST", path, json={"prompt": prompt}) as answer:
            assert answer.status_code == 200
            return [event async for event in events_of(answer)]


def plain_client(url: str, **options: Any) -> httpx.AsyncClient:
    """A client of a server on loopback.

    To read the certificates of the system, which only TLS needs, takes longer than most tests.
    """
    return httpx.AsyncClient(base_url=url, trust_env=False, verify=False, **options)


def workspaces(folder: Path) -> Workspaces:
    root = folder / "root"
    root.mkdir(exist_ok=True)
    return Workspaces(root, Places(folder / "config", folder / "state"))


def openai_router(sessions: Sessions) -> APIRouter:
    return openai.router(sessions, model="scripted/model", sign=ServerToken(TOKEN).signature)


@asynccontextmanager
async def serving(
    folder: Path,
    *replies: Scripted,
    kernels: Callable[[], Kernels] = EchoKernel,
    model: Callable[[], Model] | None = None,
    limits: ServerLimits | None = None,
    host: str = "127.0.0.1",
    also: Callable[[Sessions], APIRouter] = openai_router,
    compat: Callable[[Sessions], Compat] | None = None,
) -> AsyncGenerator[Running, None]:
    """A server whose sessions answer with `replies`, each session from the first one on."""
    limits = limits or ServerLimits(patience_s=30.0)
    opener = FakeOpener(workspaces(folder), model or (lambda: ScriptedModel(*replies)), kernels)
    sessions = Sessions(opener, opener.workspaces, limits)
    log: list[dict[str, Any]] = []
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        spoken = compat(sessions) if compat else None
        names = OwnNames(host, port)
        app = application(sessions, ServerToken(TOKEN), names, log=log.append, compat=spoken)
        if spoken is None:
            app.include_router(also(sessions))
        else:
            app.include_router(openai.router(sessions, model="scripted/model", stateful=stateful_of(spoken)))
        server = HttpServer(app, limits)
        running = asyncio.create_task(server.serve(sockets=[listening]))
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with plain_client(f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
            try:
                yield Running(port, app, client, sessions, opener, log, spoken)
            finally:
                await sessions.aclose()
                server.should_exit = True
        await running


async def events_of(answer: httpx.Response) -> AsyncGenerator[dict[str, Any], None]:
    """The events of a stream, each with the `id` under which it came ("" without one)."""
    name = number = ""
    async for line in answer.aiter_lines():
        key, _, value = line.partition(": ")
        match key:
            case "event":
                name = value
            case "id":
                number = value
            case "data":
                event = json.loads(value)
                assert event["event"] == name
                yield {**event, "id": number}
            case "":
                name = number = ""


async def until(events: AsyncGenerator[dict[str, Any], None], name: str, **fields: Any) -> dict[str, Any]:
    """The next event of this name, and with these fields."""
    async for event in events:
        if event["event"] == name and fields.items() <= event.items():
            return event
    raise AssertionError(f"no {name} came")


def names(events: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(event["event"]) for event in events]


def decision(proposed: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """The body that answers a proposal."""
    return {"digest": proposed["digest"], "decision": "run", **fields}
