"""When a conversation comes too near to what its model reads at once."""

from terp.window import Window


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
