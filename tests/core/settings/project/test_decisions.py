"""What is remembered of the decisions about projects."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from terp.settings.places import Places
from terp.settings.project.decisions import Decision, Decisions, DecisionsUnreadable
from terp.settings.project.standing import Standing, standing_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state/trust.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / "AGENTS.md").write_text("Obey.\n")
    return root


def standing(root: Path, tmp_path: Path) -> Standing:
    return standing_of(root, {"HOME": "/nowhere"}, Places(tmp_path / "config", tmp_path / "state"))


def test_a_decision_is_about_one_folder_in_one_state(file: Path) -> None:
    Decisions(file).keep(Decision("/a", "1", "yes"))
    read = Decisions(file)
    assert [read.about("/a", "1"), read.about("/a", "2"), read.about("/b", "1")] == ["yes", None, None]


def test_the_last_answer_counts(file: Path) -> None:
    for answer in ("yes", "no"):
        Decisions(file).keep(Decision("/a", "1", answer))
    assert Decisions(file).listed() == [Decision("/a", "1", "no")]


def test_nobody_else_can_read_the_file(file: Path) -> None:
    Decisions(file).keep(Decision("/a", "1", "yes"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]


def test_two_states_of_one_project_are_both_remembered_but_not_all_there_ever_were(file: Path) -> None:
    for number in range(40):
        Decisions(file).keep(Decision("/a", str(number), "yes"))
    read = Decisions(file)
    assert [read.about("/a", str(number)) for number in (0, 7, 8, 39)] == [None, None, "yes", "yes"]


def test_a_folder_is_forgotten_with_all_its_states(file: Path) -> None:
    for root, digest in (("/a", "1"), ("/a", "2"), ("/b", "1")):
        Decisions(file).keep(Decision(root, digest, "yes"))
    assert [Decisions(file).forget("/a"), Decisions(file).forget("/a")] == [True, False]
    assert Decisions(file).listed() == [Decision("/b", "1", "yes")]


def test_decisions_at_the_same_time_are_all_kept(file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: Decisions(file).keep(Decision(name, "1", "yes")), "abcdefghijklmnop"))
    assert sorted(one.root for one in Decisions(file).listed()) == list("abcdefghijklmnop")


CORRUPT = {
    "nothing": "",
    "no JSON": "{",
    "another shape": "[]",
    "deep": "[" * 100_000,
    "an answer of its own": json.dumps({"decisions": [{"root": "/a", "digest": "1", "answer": "always"}]}),
    "no text": json.dumps({"decisions": [{"root": 1, "digest": "1", "answer": "yes"}]}),
}


@pytest.mark.parametrize("content", CORRUPT.values(), ids=CORRUPT)
def test_a_file_that_is_not_terps_is_named_and_nothing_is_trusted(file: Path, content: str) -> None:
    file.parent.mkdir()
    file.write_text(content)
    read = Decisions(file)
    assert (read.about("/a", "1"), read.problem) == (
        None,
        f"{file} was not written by terp: no project is trusted. Remove the file.",
    )


def test_a_file_that_is_not_terps_is_not_written_over(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("{")
    with pytest.raises(DecisionsUnreadable):
        Decisions(file).keep(Decision("/a", "1", "yes"))
    assert file.read_text() == "{"


def test_trust_ends_with_one_changed_byte_and_is_there_again_with_the_old_one(
    root: Path, tmp_path: Path
) -> None:
    standing(root, tmp_path).answer("yes", keep=True)
    states = [standing(root, tmp_path).state]
    for text in ("Obey!\n", "Obey.\n"):
        (root / "AGENTS.md").write_text(text)
        states.append(standing(root, tmp_path).state)
    assert states == ["yes", "open", "yes"]


def test_a_copy_of_a_trusted_project_is_not_trusted(root: Path, tmp_path: Path) -> None:
    standing(root, tmp_path).answer("yes", keep=True)
    root.rename(tmp_path / "copy")
    assert standing(tmp_path / "copy", tmp_path).state == "open"


def test_a_project_in_a_trusted_one_is_not_trusted(root: Path, tmp_path: Path) -> None:
    standing(root, tmp_path).answer("yes", keep=True)
    inner = root / "vendored"
    (inner / ".git").mkdir(parents=True)
    (inner / "AGENTS.md").write_text("Obey.\n")
    assert standing(inner, tmp_path).state == "open"


def test_a_link_to_a_trusted_project_is_that_project_and_a_swapped_link_is_not(
    root: Path, tmp_path: Path
) -> None:
    evil = tmp_path / "evil"
    (evil / ".git").mkdir(parents=True)
    (evil / "AGENTS.md").write_text("Obey.\n")
    link = tmp_path / "link"
    link.symlink_to(root)
    standing(link, tmp_path).answer("yes", keep=True)
    states = [standing(root, tmp_path).state, standing(link, tmp_path).state]
    link.unlink()
    link.symlink_to(evil)
    assert [*states, standing(link, tmp_path).state] == ["yes", "yes", "open"]


def test_only_bytes_that_were_decided_about_are_trusted(root: Path, tmp_path: Path) -> None:
    found = standing(root, tmp_path)
    before = found(root / "AGENTS.md", b"Obey.\n")
    found.answer("yes", keep=False)
    after = [found(root / "AGENTS.md", content) for content in (b"Obey.\n", b"Swapped.\n")]
    assert (before, after, (tmp_path / "state").exists()) == (False, [True, False], False)


def test_there_is_nothing_to_decide_where_nothing_speaks_to_terp(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("hello")
    assert standing(tmp_path, tmp_path).state == "nothing"
