"""What tools in a kernel ask of terp."""

from collections.abc import Mapping
from typing import Any

import pytest

from terp.errors import NobodyThere, TerpError
from terp.events import Asked
from terp.events.log import EventLog
from terp.person import AutoRun, Nobody, Person
from terp.person.dialog import UserDialog
from terp.settings import Settings
from terp.testing import ScriptedPerson
from terp.tools.offering import ToolServices
from tests.core.tools.pages import Page, Web


class Room:
    """Services, the person behind them, and what was asked."""

    def __init__(self, person: Person) -> None:
        async def drawn() -> None:
            """Everything is."""

        self.log = EventLog(clock=lambda: 0.0)
        self.services = ToolServices(UserDialog(self.log, person, drawn), Settings(), {})

    @property
    def asked(self) -> list[str]:
        events = (record.event for record in self.log.since(0))
        return [event.what for event in events if isinstance(event, Asked)]


MANUAL: Mapping[str, Any] = {"name": "get_weather", "given": {"city": "北京", "days": [1, 2]}}


async def test_the_person_types_what_a_manual_tool_gives_up_to_an_empty_line() -> None:
    room = Room(ScriptedPerson("sunny", "  25 °C", "pasted\n\nlines", ""))
    assert await room.services.manual_tool(MANUAL) == "sunny\n  25 °C\npasted\n\nlines"
    assert room.asked[0] == (
        'The model calls get_weather with\n  city = "北京"\n  days = [1, 2]\n'
        "Its result; an empty line ends it: "
    )


async def test_the_end_of_input_ends_a_manual_result() -> None:
    room = Room(ScriptedPerson("sunny", NobodyThere("The user ended the input with Ctrl-D.")))
    assert await room.services.manual_tool(MANUAL) == "sunny"


async def test_a_manual_tool_fails_where_nobody_is() -> None:
    with pytest.raises(TerpError) as failed:
        await Room(Nobody()).services.manual_tool(MANUAL)
    assert failed.value.message == (
        "get_weather is answered by a person. The code asked for input, and nobody is there to type it."
    )


async def test_a_page_of_this_machine_is_asked_about_also_where_code_runs_unasked() -> None:
    with Web({"/": Page(b"<p>Hi</p>")}) as web:
        url = f"{web.url}/"
        assert await Room(ScriptedPerson(True)).services.fetch_url({"url": url}) == {"url": url, "text": "Hi"}
        with pytest.raises(TerpError, match="was not allowed"):
            await Room(AutoRun()).services.fetch_url({"url": url})


async def test_a_search_without_a_provider_names_what_is_missing() -> None:
    with pytest.raises(TerpError, match="set BRAVE_API_KEY or TAVILY_API_KEY, or search_url"):
        await Room(Nobody()).services.search_web({"query": "q", "count": 5})
