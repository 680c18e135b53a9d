"""What a kernel keeps of its past, and forgets again."""

import os
from pathlib import Path
from types import SimpleNamespace

from terp.kernels.inside.checkpoints import MOST_CHECKPOINTS, Checkpoint, Checkpoints
from terp.kernels.inside.file_copies import ROOM, FileCopies
from terp.kernels.inside.known import Kinds


def test_copies_of_files_are_forgotten_with_the_turn_that_they_are_of(tmp_path: Path) -> None:
    shell = SimpleNamespace(user_ns={"__name__": "__main__"}, user_ns_hidden={})
    checkpoints = Checkpoints(shell, Kinds())
    file = tmp_path / "file"
    file.write_bytes(bytes(1_000_000))
    for turn in range(1, 2 * MOST_CHECKPOINTS):
        checkpoints.begin(turn, "")
        if turn <= ROOM // 1_000_000:
            checkpoints.before_writing(str(file))
        checkpoints.end(set())
    checkpoints.before_writing(str(file))
    assert checkpoints.files.size == 1_000_000


def test_a_small_file_for_which_there_is_no_room_is_not_called_too_large(tmp_path: Path) -> None:
    file, copies = tmp_path / "file", FileCopies()
    file.write_text("x")
    os.utime(file, (0, 0))
    checkpoint = Checkpoint(1, {})
    copies.size = ROOM
    copies.keep(checkpoint, str(file))
    file.write_text("y")
    assert copies.rows([checkpoint]) == [[str(file), "not", "copies of other files use all the space"]]
