"""Decisions without a question: what is the code's own, and what only looks like it."""

import os
import socket
from collections.abc import Iterator

import pytest

from terp.kernels.sandbox.entering.acting import SystemEffect
from terp.kernels.sandbox.entering.permissions import Permissions
from terp.kernels.sandbox.entering.sending import receivers_at


@pytest.fixture
def permissions() -> Permissions:
    return Permissions(["/own", "/dev/shm"], ["/proj"], ["/proj/.git/hooks"])


def happened(permissions: Permissions, *effects: SystemEffect) -> None:
    for effect in effects:
        permissions.happened(effect)


def verdicts(permissions: Permissions, *effects: SystemEffect) -> list[bool | None]:
    return [permissions.verdict(effect) for effect in effects]


def test_new_and_old_files_are_asked_about(permissions: Permissions) -> None:
    effects = [SystemEffect(verb, b"/proj/a") for verb in ("create", "modify", "delete")]
    assert verdicts(permissions, *effects) == [None, None, None]


def test_what_the_sandbox_refuses_is_not_asked_about(permissions: Permissions) -> None:
    assert verdicts(permissions, SystemEffect("delete", b"/etc/passwd")) == [True]


def test_what_a_sandbox_may_let_through_outside_is_refused(permissions: Permissions) -> None:
    assert verdicts(permissions, SystemEffect("modify", b"/etc/passwd", unguarded=True)) == [False]


def test_protected_paths_stay_as_they_are_whatever_is_allowed(permissions: Permissions) -> None:
    permissions.change({"free": True, "grants": [(("create",), ".*", True, False)]})
    hook = b"/proj/.git/hooks/pre-commit"
    assert verdicts(
        permissions, SystemEffect("create", hook), SystemEffect("modify", hook, unguarded=True)
    ) == [
        False,
        False,
    ]


def test_a_file_that_code_made_is_its_own(permissions: Permissions) -> None:
    happened(permissions, SystemEffect("create", b"/proj/d"))
    made = [
        SystemEffect("modify", b"/proj/d/x"),
        SystemEffect("delete", b"/proj/d"),
        SystemEffect("delete", b"/proj/dd"),
    ]
    assert verdicts(permissions, *made) == [True, True, None]


def test_a_file_that_was_moved_is_still_whose_it_was(permissions: Permissions) -> None:
    happened(
        permissions,
        SystemEffect("create", b"/proj/mine"),
        SystemEffect("create", b"/proj/d"),
        SystemEffect("delete", b"/proj/mine", b"/proj/moved"),
        SystemEffect("delete", b"/proj/photos", b"/proj/d/photos", folder=True),
    )
    effects = [
        SystemEffect("modify", b"/proj/moved"),
        SystemEffect("modify", b"/proj/mine"),
        SystemEffect("delete", b"/proj/d/photos/1"),
        SystemEffect("delete", b"/proj/d/other"),
    ]
    assert verdicts(permissions, *effects) == [True, None, None, True]
    happened(permissions, SystemEffect("delete", b"/proj/d", b"/proj/e", folder=True))
    assert verdicts(
        permissions, SystemEffect("delete", b"/proj/e/photos/1"), SystemEffect("delete", b"/proj/e/x")
    ) == [
        None,
        True,
    ]


def test_a_folder_that_takes_the_place_of_one_that_code_filled_is_not_the_codes(
    permissions: Permissions,
) -> None:
    happened(
        permissions,
        SystemEffect("create", b"/proj/d/a"),
        SystemEffect("delete", b"/proj/d", b"/proj/old", folder=True),
        SystemEffect("delete", b"/proj/photos", b"/proj/d", folder=True),
    )
    assert verdicts(permissions, SystemEffect("delete", b"/proj/d/a")) == [None]


@pytest.mark.parametrize("names", [(b"/proj/photo", b"/proj/mine"), (b"/proj/mine", b"/proj/photo")])
def test_files_that_were_exchanged_belong_to_nobody_new(
    permissions: Permissions, names: tuple[bytes, bytes]
) -> None:
    one, other = names
    happened(
        permissions,
        SystemEffect("create", b"/proj/mine"),
        SystemEffect("modify", one, other, folder=True),
        SystemEffect("modify", other, one, folder=True),
    )
    deletes = [SystemEffect("delete", name) for name in names]
    assert verdicts(permissions, *deletes) == [None, None]


def test_a_file_that_was_moved_into_shared_memory_is_asked_about_after_a_restore(
    permissions: Permissions,
) -> None:
    happened(
        permissions,
        SystemEffect("create", b"/dev/shm/made"),
        SystemEffect("delete", b"/proj/photo", b"/dev/shm/made/photo"),
    )
    permissions.forget_made()
    assert verdicts(permissions, SystemEffect("delete", b"/dev/shm/made/photo")) == [None]


def test_shared_memory_of_other_programs_is_asked_about(permissions: Permissions) -> None:
    happened(permissions, SystemEffect("create", b"/dev/shm/mine"))
    effects = [
        SystemEffect("create", b"/dev/shm/x"),
        SystemEffect("delete", b"/dev/shm/mine"),
        SystemEffect("delete", b"/dev/shm/other"),
    ]
    assert verdicts(permissions, *effects) == [True, True, None]


def test_terminals_of_other_programs_are_refused(permissions: Permissions) -> None:
    happened(permissions, SystemEffect("create", b"/dev/pts/7"))
    assert verdicts(
        permissions, SystemEffect("modify", b"/dev/pts/7"), SystemEffect("modify", b"/dev/pts/1")
    ) == [
        True,
        False,
    ]


def test_own_places_and_devices_are_free_and_not_counted(permissions: Permissions) -> None:
    effects = [
        SystemEffect("modify", b"/dev/null"),
        SystemEffect("create", b"/own/x"),
        SystemEffect("connect", b"unix:/own/s"),
    ]
    assert verdicts(permissions, *effects) == [True, True, True]
    happened(permissions, *effects)
    assert permissions.account() == {"effects": [], "more": 0, "files": []}


@pytest.fixture
def servers() -> Iterator[list[socket.socket]]:
    found = [socket.create_server(("127.0.0.1", 0))]
    six = socket.socket(socket.AF_INET6)
    six.bind(("::1", found[0].getsockname()[1]))
    six.listen()
    found.append(six)
    yield found
    for one in found:
        one.close()


def test_a_server_is_the_codes_only_if_all_at_its_port_are(
    permissions: Permissions, servers: list[socket.socket]
) -> None:
    theirs, ours = servers
    port = theirs.getsockname()[1]
    inodes = [os.fstat(one.fileno()).st_ino for one in (theirs, ours)]
    assert receivers_at(port, datagrams=False) == set(inodes)
    to_both = [SystemEffect("connect", b"127.0.0.1:%d" % port), SystemEffect("connect", b"[::1]:%d" % port)]
    happened(permissions, SystemEffect("listen", b"[::1]:%d" % port, socket=inodes[1]))
    assert verdicts(permissions, *to_both) == [None, None]
    happened(permissions, SystemEffect("listen", b"127.0.0.1:%d" % port, socket=inodes[0]))
    assert verdicts(permissions, *to_both, SystemEffect("connect", b"10.0.0.1:%d" % port)) == [
        True,
        True,
        None,
    ]
    assert verdicts(permissions, SystemEffect("connect", b"127.0.0.1:%d" % port, datagrams=True)) == [None]


def test_listening_on_loopback_is_free_and_elsewhere_asked_about(permissions: Permissions) -> None:
    effects = [
        SystemEffect("listen", b"127.0.0.1:0"),
        SystemEffect("listen", b"0.0.0.0:0"),
        SystemEffect("listen", b"unix:@x"),
    ]
    assert verdicts(permissions, *effects) == [True, None, None]


def test_the_first_grant_that_is_about_an_effect_counts(permissions: Permissions) -> None:
    grants = [(("delete",), "/proj/a.*", False), (("delete", "modify"), "/proj/.*", True)]
    permissions.change({"free": False, "grants": grants})
    effects = [
        SystemEffect("delete", b"/proj/ab"),
        SystemEffect("delete", b"/proj/b"),
        SystemEffect("modify", b"/proj/ab"),
        SystemEffect("create", b"/proj/c"),
    ]
    assert verdicts(permissions, *effects) == [False, True, True, None]
    assert verdicts(permissions, SystemEffect("delete", b"/proj/a\nb")) == [None]


def test_the_account_is_of_effects_since_the_last_one(permissions: Permissions) -> None:
    happened(
        permissions,
        SystemEffect("create", b"/proj/a"),
        SystemEffect("connect", b"10.0.0.1:443"),
        SystemEffect("connect", b"10.0.0.1:443"),
    )
    rows = [["create", "/proj/a", "", 1], ["connect", "10.0.0.1:443", "", 2]]
    assert permissions.account() == {"effects": rows, "more": 0, "files": []}
    assert permissions.account() == {"effects": [], "more": 0, "files": []}


def test_effects_that_an_answer_allows_are_counted_by_its_kind(permissions: Permissions) -> None:
    permissions.change({"free": False, "grants": [(("delete",), "/proj/.*", True, True)]})
    verdicts(permissions, *[SystemEffect("delete", b"/proj/a")] * 2, SystemEffect("modify", b"/proj/a"))
    assert permissions.counted == ("delete /proj/.*", 2)
    permissions.account()
    assert permissions.counted == ("", 0)


def test_what_is_moved_is_new_where_it_comes_to(permissions: Permissions) -> None:
    happened(permissions, SystemEffect("create", b"/proj/a"))
    grants = [(("create",), "/proj/secret/.*", False), (("create",), "/proj/.*", True)]
    permissions.change({"free": False, "grants": grants})
    places = (b"/proj/b", b"/proj/secret/a", b"/proj/.git/hooks/pre-commit")
    assert verdicts(permissions, *(SystemEffect("delete", b"/proj/a", to) for to in places)) == [
        True,
        False,
        False,
    ]
