from pathlib import Path

from terp.events import (
    CodeDelta,
    CodeRejected,
    CodeStarted,
    CodeTyped,
    LateOutput,
    ModelCalled,
    ModelRetrying,
    ReasoningDelta,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from terp.events.outputs import Clear, Display, DisplayUpdate, Omitted, Text
from terp.events.run_log import LoggedRun
from terp.session.artifacts import OUTPUTS, Artifacts
from terp.store.export.story import Answer, Prompt, ReasoningPart, Remark, story_of
from tests.core.store.export.scripted import png, proposed, ran, records, told, turn


def outputs(*given: object) -> tuple[object, ...]:
    story = told(*turn("go", *ran("c1", "x", *given)))  # type: ignore[arg-type]
    (run,) = (part for part in story.parts if isinstance(part, LoggedRun))
    return tuple(run.outputs)


def test_text_of_one_stream_is_joined() -> None:
    pieces = (Text("stdout", "a"), Text("stdout", "b"), Text("stderr", "c"), Text("stdout", "d"))
    assert outputs(*pieces) == (Text("stdout", "ab"), Text("stderr", "c"), Text("stdout", "d"))


def test_cleared_output_is_gone_at_once() -> None:
    assert outputs(Text("stdout", "a"), Clear(), Text("stdout", "b")) == (Text("stdout", "b"),)


def test_output_that_is_to_be_cleared_by_the_next_stays_when_none_comes() -> None:
    assert outputs(Text("stdout", "a"), Clear(wait=True)) == (Text("stdout", "a"),)


def test_counts_of_a_flood_are_added_up() -> None:
    assert outputs(Omitted(5, 1, spooled=True), Omitted(7, 2, spooled=True)) == (
        Omitted(12, 3, spooled=True),
    )


def test_a_display_of_an_earlier_run_gets_its_update() -> None:
    shown = Display({"text/plain": "1 %"}, display_id="bar")
    story = told(*ran("c1", "a", shown), *ran("c2", "b", DisplayUpdate("bar", {"text/plain": "9 %"})))
    assert [part.outputs for part in story.parts if isinstance(part, LoggedRun)] == [
        (Display({"text/plain": "9 %"}, display_id="bar"),),
        (),
    ]


def test_reasoning_comes_before_what_it_led_to() -> None:
    first = (ReasoningDelta("a table "), ReasoningDelta("first\n"), TextDelta("I look."))
    story = told(*turn("go", *first, *ran("c1", "x"), ReasoningDelta("done"), TextDelta("There.")))
    assert [part for part in story.parts if not isinstance(part, LoggedRun)] == [
        Prompt("go"),
        ReasoningPart("a table first"),
        Answer("I look."),
        ReasoningPart("done"),
        Answer("There."),
    ]


def test_reasoning_of_a_reply_that_broke_off_is_not_told() -> None:
    story = told(
        *turn("go", ReasoningDelta("hm"), ModelRetrying(1, "lost", 0.0), ReasoningDelta("so"), TextDelta("a"))
    )
    assert story.parts == (Prompt("go"), ReasoningPart("so"), Answer("a"))


def test_late_output_belongs_to_its_run() -> None:
    story = told(*ran("c1", "a"), *ran("c2", "b"), LateOutput("c1", Text("stdout", "late")))
    outputs = [part.outputs for part in story.parts if isinstance(part, LoggedRun)]
    assert outputs == [(Text("stdout", "late"),), ()]


def test_a_reply_that_broke_off_is_void() -> None:
    story = told(*turn("go", TextDelta("Hal"), ModelRetrying(1, "busy", 0.1), TextDelta("Hello")))
    assert story.parts == (Prompt("go"), Answer("Hello"))


def test_edited_code_is_told_as_it_ran() -> None:
    story = told(proposed("c1", "1/0"), *ran("c1", "1/1"))
    assert [part.code for part in story.parts if isinstance(part, LoggedRun)] == ["1/1"]


def test_a_call_that_could_not_run_keeps_what_was_written() -> None:
    rejected = (CodeDelta("c1", "python", "x ="), CodeDelta("c1", "", " 1"), CodeRejected("c1", "broken"))
    story = told(*turn("go", *rejected))
    assert story.parts == (Prompt("go"), LoggedRun("c1", "python", "x = 1", "rejected", reason="broken"))


def test_a_call_that_was_never_decided_is_pending() -> None:
    assert told(proposed("c1", "x")).parts == (LoggedRun("c1", "python", "x", "pending"),)


def test_code_that_the_person_typed_is_told_as_theirs() -> None:
    story = told(CodeTyped("typed1", "python", "x"), *ran("typed1", "x")[1:])
    [run] = story.parts
    assert isinstance(run, LoggedRun)
    assert (run.language, run.code, run.fate, run.number, run.typed) == ("python", "x", "ok", 1, True)


def test_a_run_without_an_end_has_died() -> None:
    story = told(proposed("c1", "x"), CodeStarted("c1", 7))
    assert story.parts == (LoggedRun("c1", "python", "x", "died", 7, started_at=2),)


def test_calls_that_are_counted_anew_are_other_calls() -> None:
    story = told(*ran("c1", "a"), *ran("c1", "b", count=2), CodeRejected("c1", "no"))
    assert [(part.code, part.fate) for part in story.parts if isinstance(part, LoggedRun)] == [
        ("a", "ok"),
        ("b", "ok"),
        ("", "rejected"),
    ]


def test_a_turn_that_failed_says_why() -> None:
    story = told(TurnStarted("go"), ModelCalled("m", 1), TurnFinished("auth", "", "No key.", "Set one."))
    assert story.parts == (Prompt("go"), Remark("No key. Set one."))


def test_a_picture_that_the_log_only_names_is_read_from_the_folder(tmp_path: Path) -> None:
    # Where a session puts it.
    saved = Artifacts(tmp_path / OUTPUTS).save("c1", Display({"image/png": png()}))
    assert Path(saved.path).is_file()
    shown = Display({"text/plain": "<Figure>"}, path="/where/it/once/was/c1-1.png")
    (run,) = story_of(records(ran("c1", "x", shown)), tmp_path).parts
    assert isinstance(run, LoggedRun)
    (output,) = run.outputs
    assert isinstance(output, Display)
    assert output.data == {"text/plain": "<Figure>", "image/png": png()}


def test_a_picture_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")
    (tmp_path / "session").mkdir()
    shown = Display({"text/plain": "x"}, path=str(tmp_path / "secret.png"))
    (run,) = story_of(records(ran("c1", "x", shown)), tmp_path / "session").parts
    assert isinstance(run, LoggedRun)
    assert run.outputs == (shown,)


def test_a_value_that_was_put_into_an_answer_is_in_brackets() -> None:
    story = told(*turn("go", TextDelta("It is "), TextDelta("42", "{{n}}"), TextDelta(".")))
    assert [part for part in story.parts if isinstance(part, Answer)] == [Answer("It is ‹42›.")]
