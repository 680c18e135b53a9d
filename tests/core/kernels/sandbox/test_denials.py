from pathlib import Path

import pytest

from terp.events.outputs import Error, Text
from terp.kernels.sandbox.denials import Denials
from terp.kernels.sandbox.policy import Policy

POLICY = Policy("/p", ("/p",), ("/p/.git/hooks",), ("/h/.ssh",), network=False)
OUTSIDE = "Writing outside /p is blocked, here /o/x. The user can allow it for this session with /allow /o/x."


def told(text: str, policy: Policy | None = POLICY) -> str:
    denials = Denials(policy)
    denials.add(Text("stderr", text))
    return denials.message()


@pytest.mark.parametrize(
    "text",
    [
        "OSError: [Errno 30] Read-only file system: '/o/x'",
        "touch: cannot touch '/o/x': Permission denied",
        "touch: cannot touch ‘/o/x’: Read-only file system",
        "bash: line 1: /o/x: Permission denied",
        "cp: cannot create regular file '../o/x': Read-only file system",
        "EACCES: permission denied, open '/o/x' Permission denied: '/o/x'",
    ],
)
def test_a_path_outside_is_named(text: str) -> None:
    assert told(text) == OUTSIDE


def test_for_a_file_that_is_not_there_its_folder_is_what_can_be_allowed(tmp_path: Path) -> None:
    assert told(f"Read-only file system: '{tmp_path}/new.txt'").endswith(f"with /allow {tmp_path}.")


def test_a_folder_that_holds_secrets_is_not_offered(tmp_path: Path) -> None:
    policy = Policy("/p", ("/p",), hidden=(f"{tmp_path}/.ssh",))
    text = f"Read-only file system: '{tmp_path}/new.txt'"
    assert told(text, policy).endswith(f"with /allow {tmp_path}/new.txt.")


def test_an_error_of_python_is_read() -> None:
    denials = Denials(POLICY)
    denials.add(Error("PermissionError", "[Errno 13] Permission denied: '/h/.ssh/id'", ()))
    assert denials.message().startswith("Code cannot see /h/.ssh/id, which may hold secrets.")


def test_what_other_programs_obey_is_named() -> None:
    assert told("bash: .git/hooks/x: Read-only file system").startswith(
        "Code cannot change /p/.git/hooks/x, which other programs obey."
    )


@pytest.mark.parametrize("text", ["Network is unreachable", "curl: (6) Could not resolve host: example.org"])
def test_a_closed_network_is_named(text: str) -> None:
    assert told(text).endswith("The user can allow it for this session with /allow network.")


@pytest.mark.parametrize(
    "text", ["Permission denied: 'mine.txt'", "No such file or directory: '/no/such'", "all is well"]
)
def test_what_no_sandbox_blocked_is_left_alone(text: str) -> None:
    assert told(text) == ""


def test_what_is_in_the_folder_of_temporary_files_outside_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    text = f"FileNotFoundError: [Errno 2] No such file or directory: '{tmp_path}/data'"
    assert told(text).startswith(f"Code cannot see {tmp_path}/data")


@pytest.mark.parametrize(
    "line", ["x" * 1_000_000, "a/" * 500_000, "'a" * 500_000, "Permission denied: '" * 50_000]
)
def test_one_long_line_is_looked_through_at_once(line: str) -> None:
    # It took a minute, in which the whole program stood still.
    assert told(line) == ""


def test_a_path_in_a_long_line_is_named() -> None:
    assert told(f"{'x ' * 10_000}touch: cannot touch '/o/x': Permission denied{' x' * 10_000}") == OUTSIDE


def test_without_a_sandbox_nothing_is_told() -> None:
    assert told("Permission denied: '/o/x'", None) == ""
