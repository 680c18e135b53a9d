"""A server with `approve: effect`: code starts at once, and its clients are asked about its effects."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Terp, to
from tests.cli.server.compat import test_process as compat
from tests.cli.server.effects import connects, needs_holder
from tests.cli.server.test_process import client, events, started, token_in
from tests.loopback import Call, Loopback

pytestmark = needs_holder
EFFECT = ("--approve", "effect")


def only(found: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    [event] = [one for one in found if one["event"] == kind]
    return event


@pytest.mark.parametrize(
    ("letter", "result", "told"),
    [("y", "connected\n", "connected to"), ("n", "refused\n", "refused to let it connect to")],
)
def test_clients_see_the_question_and_one_of_them_answers(
    tmp_path: Path, letter: str, result: str, told: str
) -> None:
    terp = Terp(tmp_path)
    with Loopback([]) as model, started(terp, *EFFECT, *to(model)) as (_, lines):
        model.script += [Call(code=connects(model)), "Done."]
        token, _file = token_in(lines)
        seen, answers = [], []
        with client(lines, token) as one, client(lines, token) as other:
            path = f"/v1/sessions/{one.post('/v1/sessions', json={}).json()['id']}"
            for event in events(one, f"{path}/turns", {"prompt": "go"}):
                seen.append(event)
                if event["event"] == "asked" and event["kind"] == "choice":
                    [waiting] = other.get(path).json()["questions"]
                    answer = f"{path}/answers/{event['question_id']}"
                    answers = [who.post(answer, json={"answer": letter}).status_code for who in (other, one)]
    asked, finished = (
        only([one for one in seen if one.get("kind") != "approval"], "asked"),
        only(seen, "code_finished"),
    )
    assert list(asked["options"]) == ["y", "a", "r", "n"]
    assert waiting["what"] == asked["what"]
    assert answers[0] == 200
    assert answers[1] in (404, 409)
    assert "".join(one["output"]["text"] for one in seen if one["event"] == "printed") == result
    assert told in finished["effects_told"]
    assert "effects are asked about" in "".join(lines)


def test_an_interrupt_ends_code_that_waits_for_an_answer(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Loopback([]) as model, started(terp, *EFFECT, *to(model)) as (_, lines):
        model.script += [Call(code=connects(model)), "Done."]
        token, _file = token_in(lines)
        with client(lines, token) as one, client(lines, token) as other:
            path = f"/v1/sessions/{one.post('/v1/sessions', json={}).json()['id']}"
            seen = []
            for event in events(one, f"{path}/turns", {"prompt": "go"}):
                seen.append(event)
                if event["event"] == "asked" and event["kind"] == "choice":
                    other.post(f"{path}/interrupt", json={})
            waiting = one.get(path).json()["questions"]
    assert (only(seen, "turn_finished")["reason"], waiting) == ("interrupted", [])


def test_no_client_can_choose_another_approval(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Loopback([]) as model, started(terp, *EFFECT, *to(model)) as (_, lines):
        token, _file = token_in(lines)
        with client(lines, token) as own:
            answer = own.post("/v1/sessions", json={"settings": {"approve": "never"}})
            offered = own.get("/v1/profiles").json()["approve"]
    assert (answer.status_code, offered) == (422, "effect")
    assert "'approve' is no setting of clients" in answer.text


def test_code_waits_for_go_where_the_protocol_has_no_such_question(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Loopback([]) as model, compat.started(terp, *EFFECT, *to(model)) as (_, lines):
        model.script += [Call(code=connects(model)), "Done."]
        with compat.connected(lines) as own:
            proposed = compat.sample(own, "go")
            own.send(json.dumps({"role": "user", "type": "command", "start": True}))
            own.send(json.dumps({"role": "user", "type": "command", "content": "go"}))
            own.send(json.dumps({"role": "user", "type": "command", "end": True}))
            done: list[dict[str, Any]] = []
            while not done or done[-1].get("content") != "complete":
                done.append(json.loads(own.recv(timeout=60)))
    assert [one for one in proposed if one.get("type") == "console"] == []
    assert "connected" in "".join(str(one.get("content")) for one in done)


def test_with_nobody_there_effects_are_refused_and_results_are_kept(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Loopback([]) as model:
        model.script += [Call(code=f"{connects(model)}print(6 * 7)"), "It is 42."]
        result = terp(*to(model), *EFFECT, "--output-format", "stream-json", "Connect.")
    found = [json.loads(line) for line in result.out.splitlines()]
    assert result.code == 3
    assert only([one for one in found if one.get("kind") == "choice"], "asked")["options"]["n"] == "no"
    assert "".join(one["output"]["text"] for one in found if one["event"] == "printed") == "refused\n42\n"
    [effect] = [one for one in only(found, "code_finished")["effects"] if one["verb"] == "connect"]
    assert effect["refused"]
