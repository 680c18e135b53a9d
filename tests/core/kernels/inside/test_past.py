"""What a kernel keeps of its past, and forgets again."""

import os
from pathlib import Path
from types import SimpleNamespace

from terp.kernels.inside.checkpoints import MOST_CHECKPOINTS, Checkpoint
from terp.kernels.inside.file_copies import ROOM, FileCopies
from terp.kernels.inside.known import Kinds
from terp.kernels.inside.past import CHECKPOINT, TurnStates


def test_copies_of_files_are_forgotten_with_the_turn_that_they_are_of(tmp_path: Path) -> None:
    turn, names = {CHECKPOINT: 0}, {"__name__": "__main__"}
    shell = SimpleNamespace(user_ns=names, user_ns_hidden={})
    home = SimpleNamespace(shell=shell, kernel=SimpleNamespace(get_parent=lambda: {"metadata": turn}))
    touched = SimpleNamespace(watch=None, before={})
    past = TurnStates(home, SimpleNamespace(kinds=Kinds(), changed=set()), touched)  # type: ignore[arg-type]
    file = tmp_path / "file"
    file.write_bytes(bytes(1_000_000))
    for turn[CHECKPOINT] in range(1, 2 * MOST_CHECKPOINTS):
        past.begin()
        if turn[CHECKPOINT] <= ROOM // 1_000_000:
            past.before_writing(str(file))
        past.end()
    past.before_writing(str(file))
    assert past.files.size == 1_000_000


def test_a_small_file_for_which_there_is_no_room_is_not_called_too_large(tmp_path: Path) -> None:
    file, copies = tmp_path / "file", FileCopies()
    file.write_text("x")
    os.utime(file, (0, 0))
    checkpoint = Checkpoint(1, {})
    copies.size = ROOM
    copies.keep(checkpoint, str(file))
    file.write_text("y")
    assert copies.rows([checkpoint]) == [[str(file), "not", "copies of other files take all the room"]]
