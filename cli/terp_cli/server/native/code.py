"""The routes of code without the model: runs, packages, kernels, and problems that are solved."""

from collections.abc import AsyncGenerator

import anyio.to_thread
from fastapi import APIRouter, Response

from terp.checks.solve.problem import Problem, read_text
from terp.checks.solve.state import read_state, result_json
from terp.errors import TerpError
from terp.events import Event, Noticed
from terp.opening.chat_session import ChatSession
from terp.session.session import Session
from terp.text.languages import language_of
from terp_cli.server.failures import RequestRefused, documented
from terp_cli.server.native import forms
from terp_cli.server.native.sessions import answers_of_turns, begun
from terp_cli.server.sessions import Served, Sessions


def code_router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/sessions/{session}", tags=["code"])
    answers = answers_of_turns()

    @routes.post("/run", response_class=Response, responses=answers)
    async def run(session: str, wanted: forms.RunBody) -> Response:
        """Run code without the model. It is approved as the model's code is: by its digest."""
        served = sessions.get(session)
        language = known_language(served, wanted.language)
        turn = served.ask(lambda session: session.run(language, wanted.code, asks=True))
        return begun(served, turn, stream=wanted.stream)

    @routes.post("/install", response_class=Response, responses=answers)
    async def install(session: str, wanted: forms.InstallBody) -> Response:
        """Install packages, as the setting `auto_install` allows it or a client agrees."""
        served = sessions.get(session)
        turn = served.ask(lambda session: session.install(wanted.packages))
        return begun(served, turn, stream=wanted.stream)

    @routes.post("/restart", status_code=204, responses=documented(404, 409))
    async def restart(session: str, wanted: forms.RestartBody | None = None) -> Response:
        """Replace a kernel by a new one: its variables are lost, its files stay."""
        served = sessions.get(session)
        served.check_idle("Restart the kernel")
        kernel = served.session.kernels.get(known_language(served, wanted.language if wanted else ""))
        await served.session.restart_kernel(kernel)
        return Response(status_code=204)

    @routes.post("/solve", response_class=Response, responses=answers)
    async def solve(session: str, wanted: forms.SolveBody) -> Response:
        """Have a program written that passes the tests of a problem. `GET` returns the result."""
        served = sessions.get(session)
        problem = read_text(wanted.problem, "problem")
        turn = served.ask(lambda session: _solved(session, problem))
        return begun(served, turn, stream=wanted.stream)

    @routes.get("/solve", responses=documented(404, 409))
    async def solved(session: str) -> forms.SolveInfo:
        """The last problem of the session, and its solution so far."""
        state = await anyio.to_thread.run_sync(read_state, sessions.get(session).session.folder)
        return forms.SolveInfo(step=state.step, **result_json(state))

    @routes.get("/packages", responses=documented(404, 409))
    async def packages(session: str) -> forms.PackageList:
        """The packages that Python code can import; the kernel is not started for this."""
        served = sessions.get(session)
        started = served.session.kernels.get(known_language(served, "python")).generation
        found = await served.session.kernel.list_packages() if started else {}
        return forms.PackageList(packages=dict(found))

    return routes


def known_language(served: Served, name: str) -> str:
    """Return a language of the session by any of its names; the first one for "".

    Raises:
        RequestRefused: no kernel runs it.
    """
    languages = served.session.kernels.languages
    known = language_of(name, languages) if name else languages[0]
    if not known:
        raise RequestRefused(404, f"No kernel here runs {name!r}. There is: {', '.join(languages)}.")
    return known


async def _solved(session: Session, problem: Problem) -> AsyncGenerator[Event, None]:
    after = session.log.last
    try:
        assert isinstance(session, ChatSession), "it was built from settings"
        await session.solve(problem, keep=True)
    except (TerpError, OSError) as error:
        session.log.append(Noticed(str(error)))
    for record in session.log.since(after):
        yield record.event
