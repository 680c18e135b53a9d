from terp_cli.prompt.interface import CtrlCDebounce


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def pressed(*moments: float) -> list[bool]:
    """Which debounce, so many seconds after a turn was stopped, are taken for more of the same."""
    clock = Clock()
    debounce = CtrlCDebounce(clock)
    debounce.interrupted()
    debounce.ended()
    taken = []
    for clock.now in moments:
        taken.append(debounce.repeats())
    return taken


def test_presses_that_follow_each_other_quickly_belong_to_the_turn_that_was_stopped() -> None:
    assert pressed(0.2, 0.9, 1.8) == [True, True, True]


def test_a_press_after_a_second_means_the_prompt() -> None:
    assert pressed(0.2, 1.3, 1.4) == [True, False, False]


def test_a_turn_that_ended_by_itself_swallows_no_press() -> None:
    debounce = CtrlCDebounce(lambda: 5.0)
    debounce.ended()
    assert not debounce.repeats()
