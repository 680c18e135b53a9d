from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from terp.events.outputs import Display, Error, Omitted, RunEnded, RunItem, Text
from terp.kernels.jupyter.run import Backlog


async def all_of(backlog: Backlog) -> Sequence[RunItem]:
    backlog.put(RunEnded("ok"))
    return [item async for item in backlog.items()][:-1]


async def test_unread_pieces_of_a_stream_are_merged() -> None:
    backlog = Backlog(1000)
    for text in ("a", "b"):
        backlog.put(Text("stdout", text))
    backlog.put(Text("stderr", "c"))
    backlog.put(Text("stdout", "d"))
    assert await all_of(backlog) == [Text("stdout", "ab"), Text("stderr", "c"), Text("stdout", "d")]


async def test_text_past_the_limit_is_counted_once() -> None:
    backlog = Backlog(5)
    for text in ("abc", "def\n", "ghi\n"):
        backlog.put(Text("stdout", text))
    assert await all_of(backlog) == [Text("stdout", "abcde"), Omitted(6, 2, spooled=False)]


async def test_errors_pass_when_the_limit_is_reached() -> None:
    backlog = Backlog(2)
    backlog.put(Text("stdout", "abc"))
    backlog.put(Error("E", "v"))
    assert await all_of(backlog) == [Text("stdout", "ab"), Omitted(1, 0, spooled=False), Error("E", "v")]


async def test_a_display_is_kept_whole_or_counted() -> None:
    backlog = Backlog(10)
    small, large = Display({"text/plain": "12345"}), Display({"text/plain": "123456"})
    backlog.put(small)
    backlog.put(large)
    assert await all_of(backlog) == [small, Omitted(6, 0, spooled=False)]


async def test_a_slow_reader_has_only_so_much_waiting() -> None:
    backlog = Backlog(1000, pending=10)
    backlog.put(Text("stdout", "x" * 15))
    items = backlog.items()
    assert await anext(items) == Text("stdout", "x" * 10)
    assert await anext(items) == Omitted(5, 0, spooled=False)
    backlog.put(Text("stdout", "read again"))
    assert await anext(items) == Text("stdout", "read again")
    await items.aclose()


@given(st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.text(max_size=8))), st.integers(0, 40))
async def test_nothing_is_lost_without_being_counted(pieces: list[tuple[str, str]], limit: int) -> None:
    backlog = Backlog(limit)
    for stream, text in pieces:
        backlog.put(Text("stderr" if stream == "stderr" else "stdout", text))
    items = await all_of(backlog)
    kept = sum(len(item.text) for item in items if isinstance(item, Text))
    lost = sum(item.characters for item in items if isinstance(item, Omitted))
    assert kept + lost == sum(len(text) for _, text in pieces)
    assert kept == min(limit, kept + lost)
