"""What is sent of a history: long results that were answered, shortened in batches."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from terp.events.messages import Assistant, Message, Result, ToolCall, User
from terp.session.context.history import History
from terp.session.context.request import SentMessages

LINES = "".join(f"line {number:04} {'x' * 30}\n" for number in range(300))


def long(number: int) -> Result:
    return Result(f"c{number}", f"{LINES}[this output stays in out[{number}]]")


def asked(number: int) -> Assistant:
    return Assistant("", (ToolCall(f"c{number}", "execute", "{}"),))


def steps(*results: Result) -> list[Message]:
    """A turn in which each of the results was followed by the next call."""
    replies = [asked(number) for number in range(1, len(results) + 1)]
    return [User("go"), *(one for pair in zip(replies, results, strict=True) for one in pair)]


def sent(messages: list[Message]) -> list[Message]:
    return list(SentMessages(History(messages)).messages)


def test_long_results_are_sent_whole_until_they_are_answered() -> None:
    messages = steps(long(1), long(2))
    assert sent(messages) == messages


def test_one_long_result_that_was_answered_stays_whole() -> None:
    messages = [*steps(long(1)), Assistant("done"), User("again")]
    assert sent(messages) == messages


def test_answered_results_keep_head_and_tail_and_the_name_of_all_of_it() -> None:
    head, note, *tail = sent([*steps(long(1), long(2)), Assistant("done")])[2].text.split("\n[… ")
    assert (head.splitlines()[0], tail) == (LINES.splitlines()[0], [])
    told, *last = note.splitlines()
    assert told == "287 lines (11,767 characters) left out …]"
    assert last[-2:] == [LINES.splitlines()[-1], "[this output stays in out[1]]"]


def test_two_results_of_a_page_are_shortened_once_they_are_answered() -> None:
    pages = [replace(long(number), text=long(number).text[-5_800:]) for number in (1, 2)]
    lengths = [len(message.text) for message in sent([*steps(*pages), Assistant("done")])[2:5:2]]
    assert max(lengths) < 800


def test_what_a_result_lacked_before_is_counted_with_it() -> None:
    cut = f"{LINES}[… 1,000 lines (50,000 characters) left out; out[1].text has all …]\n{long(1).text}"
    short = sent([*steps(Result("c1", cut), long(2)), Assistant("done")])[2]
    assert "[… 1,587 lines (74,067 characters) left out …]" in str(short)


def test_short_results_and_those_that_stay_nowhere_are_sent_whole() -> None:
    messages = [*steps(Result("c1", LINES), Result("c2", "4"), Result("c3", LINES)), Assistant("done")]
    assert sent(messages) == messages


def test_the_history_keeps_its_results() -> None:
    history = History([*steps(long(1), long(2)), Assistant("done")])
    assert SentMessages(history).messages != history.messages
    assert history.messages[2] == long(1)


def test_a_rewound_conversation_is_sent_as_it_was() -> None:
    messages = steps(long(1), long(2), long(3))
    history = History([*messages, Assistant("done")])
    follows = SentMessages(history)
    assert follows.messages != history.messages
    history.cut(len(messages) - 2)
    assert list(follows.messages) == messages[:-2]


@given(st.lists(st.sampled_from(["short", "long", "ask"]), max_size=30))
def test_following_along_sends_what_reading_at_once_sends(kinds: list[str]) -> None:
    history, seen = History(), list[list[Message]]()
    follows = SentMessages(history)
    for number, kind in enumerate(kinds):
        history.append(User("and?") if kind == "ask" else asked(number))
        if kind != "ask":
            history.append(long(number) if kind == "long" else Result(f"c{number}", "4"))
        seen.append(list(follows.messages))
        assert seen[-1] == sent(history.messages)
    rewritten = sum(after[: len(before)] != before for before, after in pairwise(seen))
    assert rewritten <= kinds.count("long") / 2
