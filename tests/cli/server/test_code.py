"""Code without the model: runs, packages, restarts and problems, asked for by clients."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from terp.kernels.jupyter.local import LocalKernels
from terp.testing import EchoKernel
from tests.cli.server.serving import Running, decision, events_of, names, serving, until

SOLUTION = "```python\ndef double(n):\n    return 2 * n\n```"
PROBLEM = """Write double(n).

## Interface

```python
def double(n): ...
```

## Tests

```python
assert double(2) == 4
```
"""


def ran(server: Running) -> list[str]:
    found: list[str] = []
    for session in server.opener.made:
        assert isinstance(session.kernels, EchoKernel)
        found += session.kernels.ran
    return found


async def test_sent_code_waits_for_approval_of_its_digest_and_no_model_is_asked(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        path = f"/v1/sessions/{await server.created()}"
        async with server.client.stream("POST", f"{path}/run", json={"code": "x = 1"}) as answer:
            events = events_of(answer)
            proposed = await until(events, "code_proposed")
            assert ran(server) == []
            wrong = {**decision(proposed), "digest": "0" * 64}
            call = f"{path}/approvals/{proposed['call_id']}"
            assert (await server.client.post(call, json=wrong)).status_code == 409
            assert (await server.client.post(call, json=decision(proposed))).status_code == 200
            finished = await until(events, "code_finished")
        assert (finished["status"], ran(server)) == ("ok", ["x = 1"])
        model: Any = server.opener.made[0].model
        assert model.requests == []


async def test_declined_sent_code_does_not_run(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        path = f"/v1/sessions/{await server.created()}"
        async with server.client.stream("POST", f"{path}/run", json={"code": "x = 1"}) as answer:
            events = events_of(answer)
            proposed = await until(events, "code_proposed")
            body = decision(proposed, decision="decline", reason="no")
            await server.client.post(f"{path}/approvals/{proposed['call_id']}", json=body)
            assert (await until(events, "code_declined"))["reason"] == "no"
        assert ran(server) == []


async def test_sent_code_that_is_interrupted_waits_no_longer(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        path = f"/v1/sessions/{await server.created()}"
        async with server.client.stream("POST", f"{path}/run", json={"code": "x = 1"}) as answer:
            events = events_of(answer)
            await until(events, "asked")
            await server.client.post(f"{path}/interrupt")
            await until(events, "code_rejected")
        assert ran(server) == []
        assert (await server.client.get(path)).json()["questions"] == []


async def test_a_language_that_nothing_runs_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        path = f"/v1/sessions/{await server.created()}"
        answer = await server.client.post(f"{path}/run", json={"code": "1", "language": "cobol"})
    assert answer.status_code == 404


async def test_a_kernel_is_restarted(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        path = f"/v1/sessions/{await server.created()}"
        kernel: Any = server.opener.made[0].kernels
        await kernel.start()
        assert (await server.client.post(f"{path}/restart")).status_code == 204
        assert kernel.generation == 2


async def test_packages_are_listed_once_the_kernel_runs(tmp_path: Path) -> None:
    async with serving(tmp_path, kernels=lambda: LocalKernels(str(tmp_path))) as server:
        path = f"/v1/sessions/{await server.created()}"
        assert (await server.client.get(f"{path}/packages")).json() == {"packages": {}}
        await server.opener.made[0].kernels.get("python").start()
        assert "ipykernel" in (await server.client.get(f"{path}/packages")).json()["packages"]


async def test_nothing_is_installed_where_there_is_no_installer(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        path = f"/v1/sessions/{await server.created()}"
        async with server.client.stream("POST", f"{path}/install", json={"packages": ["nothing"]}) as answer:
            noticed = await until(events_of(answer), "noticed")
    assert noticed["text"].startswith("No package is installed where this code runs.")


@pytest.mark.parametrize("name", ["--index-url=x", "a b", "git+https://x/y", "../x", "x;y", ""])
async def test_only_names_and_versions_of_packages_are_taken(tmp_path: Path, name: str) -> None:
    async with serving(tmp_path) as server:
        path = f"/v1/sessions/{await server.created()}"
        answer = await server.client.post(f"{path}/install", json={"packages": [name]})
    assert answer.status_code == 422


async def test_a_problem_is_solved_and_its_result_is_read(tmp_path: Path) -> None:
    replies = SOLUTION, "```python\nassert double(3) == 6\n```", SOLUTION
    async with serving(tmp_path, *replies, kernels=lambda: LocalKernels(str(tmp_path))) as server:
        path = f"/v1/sessions/{await server.created()}"
        assert (await server.client.get(f"{path}/solve")).status_code == 409
        async with server.client.stream("POST", f"{path}/solve", json={"problem": PROBLEM}) as answer:
            events = [event async for event in events_of(answer)]
        found = (await server.client.get(f"{path}/solve")).json()
    assert "turn_finished" in names(events)
    assert (found["passed"], found["step"]) == (True, "over")
    assert "return 2 * n" in found["solution"]


async def test_a_problem_without_tests_that_can_run_here_is_reported(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        path = f"/v1/sessions/{await server.created()}"
        async with server.client.stream("POST", f"{path}/solve", json={"problem": PROBLEM}) as answer:
            noticed = await asyncio.wait_for(until(events_of(answer), "noticed"), 10)
    assert "checks run only on this machine" in noticed["text"]
