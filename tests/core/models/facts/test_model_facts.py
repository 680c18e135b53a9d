"""When a conversation comes too near to what its model reads at once."""

from contextlib import aclosing
from pathlib import Path

import pytest

from terp.events import Noticed
from terp.events.messages import Attachment, Image
from terp.models.facts.model_facts import Window
from terp.testing import ScriptedModel
from tests.core.sessions import of, open_session


def test_a_part_of_the_window_is_kept_for_the_reply() -> None:
    assert Window(200_000).most == 166_000
    assert Window(4_000).most == 3_000
    assert Window(200_000, reply=16_000).most == 154_000


def test_a_reply_takes_no_more_than_half_of_the_window() -> None:
    assert Window(100_000, reply=90_000).most == 35_000


def test_a_window_that_is_not_known_or_not_to_be_watched_is_never_full() -> None:
    assert (Window().most, Window(200_000, share=0).most) == (0, 0)


def test_half_of_what_fits_is_left_or_half_of_what_there_is() -> None:
    assert Window(4_000).goal(9_000) == 1_500
    assert Window(4_000).goal(1_000) == 500
    assert Window().goal(1_000) == 500


@pytest.mark.parametrize("sees", [False, True])
async def test_the_user_is_told_which_pictures_a_model_does_not_see(tmp_path: Path, *, sees: bool) -> None:
    session = open_session(tmp_path, ScriptedModel("Red."))
    session.resources.windows = lambda _: Window(vision=sees)
    red = Attachment("red.png", "[Attachment: red.png]", Image("image/png", "iVBORw0K"))
    async with aclosing(session.turn("Which colour?", [red])) as turn:
        events = [event async for event in turn]
    remedy = "scripted/model reads text only. If it sees pictures, set supports_vision."
    told = Noticed("red.png: its name and size only.", remedy)
    assert of(Noticed, events) == ([] if sees else [told])
