"""Answers to what a session asks: about code, and about anything else."""

from fastapi import APIRouter

from terp.person import Decline, Run
from terp_cli.server.failures import documented
from terp_cli.server.native import forms
from terp_cli.server.questions import BY
from terp_cli.server.sessions import Sessions


def router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/sessions/{session}", tags=["answers"])

    @routes.post("/approvals/{call_id}", responses=documented(404, 409))
    async def decide(session: str, call_id: str, decision: forms.Decision) -> forms.Taken:
        """Run the code of a call, run other code in its place, or decline it. The first answer counts."""
        served = sessions.get(session)
        served.questions.decide(call_id, decision.digest, decided(decision))
        return forms.Taken()

    @routes.post("/answers/{question_id}", responses=documented(404, 409))
    async def answer(session: str, question_id: str, given: forms.AnswerGiven) -> forms.Taken:
        """Type a line for code that waits for one, consent or not, or choose. The first answer counts."""
        sessions.get(session).questions.answer(question_id, given.answer)
        return forms.Taken()

    return routes


def decided(decision: forms.Decision) -> Run | Decline:
    """What a client has decided."""
    if decision.decision == "run":
        return Run(decision.code, by=BY)
    return Decline(decision.reason, stop=decision.stop)
