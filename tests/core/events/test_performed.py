"""Effects that runs had, in words."""

from terp.events.outputs import FileChange, PerformedEffect
from terp.events.performed import account_of, effect_line

MOVED = PerformedEffect("delete", "/data/a", "/data/b")


def test_a_written_file_has_its_size() -> None:
    assert effect_line(PerformedEffect("create", "/w/out.csv", size=12_300)) == "created /w/out.csv (12 kB)"


def test_a_move_is_named_as_one() -> None:
    assert effect_line(MOVED) == "moved /data/a → /data/b"
    assert account_of([MOVED], [], "/w") == "moved /data/a → /data/b"


def test_a_move_out_of_the_working_directory_is_in_the_account() -> None:
    assert account_of([PerformedEffect("delete", "/w/a", "/data/b")], [], "/w") == "moved a → /data/b"


def test_what_is_reported_as_a_file_is_not_repeated() -> None:
    files = [FileChange("/data/b", "moved", 3, source="/data/a"), FileChange("/data/c", "created", 1)]
    performed = [MOVED, PerformedEffect("create", "/data/c"), PerformedEffect("run", "git", times=2)]
    assert account_of(performed, files, "/w") == "started git ×2"


def test_a_refused_move_says_so() -> None:
    refused = PerformedEffect("delete", "/w/a", "/w/b", refused=True)
    assert account_of([refused], [], "/w") == "refused to let it move a → b"
