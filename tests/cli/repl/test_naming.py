"""The title that the model gives to a session."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from terp.models.facts.model_facts import ModelFacts
from terp.session.session import Session
from terp.settings import Settings
from terp.store.forms import Header
from terp.store.keeping import Keeper
from terp.store.titles import read_title, store_title
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, collect
from terp_cli.repl.naming import name_session
from tests.core.store.keeping import redactor

CHEAP = ModelFacts(input_price=1e-6, output_price=2e-6)


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    """A stored session after its first turn, with a model that then answers with a title."""
    keeper = Keeper(tmp_path / "s", Header("s", "/work", 1.5e9, "0.1.0"), redactor)
    model = ScriptedModel("the answer", '"Sales of May."\nmore')
    session = Session(model, EchoKernel(), ScriptedPerson(), folder=tmp_path / "s", keeper=keeper)
    session.resources.prices = lambda _: CHEAP
    await collect(session, "which month?")
    yield session
    await session.aclose()


async def test_the_first_exchange_gets_a_title(session: Session) -> None:
    await name_session(session, Settings())
    assert read_title(session.folder) == "Sales of May"
    [_, request] = session.model.requests  # type: ignore[attr-defined]
    assert "which month?" in request[-1].text and "the answer" in request[-1].text
    assert len(session.history) == 2


@pytest.mark.parametrize(
    ("facts", "settings"),
    [
        (ModelFacts(), Settings()),
        (replace(CHEAP, input_price=1e-3), Settings()),
        (CHEAP, Settings(titles="off")),
        (CHEAP, Settings(record="calls.jsonl")),
    ],
    ids=["unknown price", "dear", "off", "recorded"],
)
async def test_no_title_is_asked_for_where_it_is_not_wanted_or_cheap(
    session: Session, facts: ModelFacts, settings: Settings
) -> None:
    session.resources.prices = lambda _: facts
    await name_session(session, settings)
    assert (read_title(session.folder), len(session.model.requests)) == ("", 1)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("model", "api_base", "title"),
    [
        ("ollama/qwen3", "", "Sales of May"),
        ("openai/m", "http://127.0.0.1:8080/v1", "Sales of May"),
        ("openai/m", "https://models.example.org/v1", ""),
    ],
)
async def test_a_server_of_this_machine_is_free(
    session: Session, model: str, api_base: str, title: str
) -> None:
    session.resources.prices = lambda _: ModelFacts()
    session.model.name = model  # type: ignore[misc]
    await name_session(session, Settings(api_base=api_base))
    assert read_title(session.folder) == title


async def test_a_title_of_the_user_stays(session: Session) -> None:
    store_title(session.folder, "mine")
    await name_session(session, Settings())
    assert read_title(session.folder) == "mine"
