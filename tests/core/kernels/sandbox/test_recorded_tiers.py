"""The record of tiers that passed their test."""

import os
from pathlib import Path

import pytest

from terp.kernels.sandbox.policy import policy_for
from terp.kernels.sandbox.tiers import unless_recorded
from terp.settings.places import find_places


class TierTest:
    """Tests of a tier, which are counted."""

    def __init__(self, folder: Path, failure: str = "") -> None:
        self.record = folder / "state" / "tested-tiers"
        self.program = folder / "bwrap"
        self.program.write_text("first")
        self.failure, self.count = failure, 0

    def result(self, about: str = "the network is closed") -> str:
        return unless_recorded(self.record, about, str(self.program), self._test)

    def _test(self) -> str:
        self.count += 1
        return self.failure


@pytest.fixture
def tests(tmp_path: Path) -> TierTest:
    return TierTest(tmp_path)


def test_a_success_is_not_tested_again(tests: TierTest) -> None:
    assert (tests.result(), tests.result(), tests.count) == ("", "", 1)


def test_a_failure_is_tested_again(tmp_path: Path) -> None:
    tests = TierTest(tmp_path, "it lets code write outside")
    assert (tests.result(), tests.result(), tests.count) == (tests.failure, tests.failure, 4)
    assert not tests.record.exists()


def test_a_failure_that_does_not_come_again_is_none(tests: TierTest) -> None:
    failures = iter(["a socket vanished", ""])
    assert unless_recorded(tests.record, "what", str(tests.program), lambda: next(failures)) == ""


def test_each_test_has_its_own_success(tests: TierTest) -> None:
    tests.result()
    tests.result("the network is open")
    assert tests.count == 2


def test_another_program_is_tested(tests: TierTest) -> None:
    tests.result()
    tests.program.write_text("another")
    tests.result()
    assert tests.count == 2


def test_a_program_that_is_gone_is_tested(tests: TierTest) -> None:
    tests.program.unlink()
    tests.result()
    tests.result()
    assert tests.count == 2


def test_a_record_that_others_may_write_does_not_count(tests: TierTest) -> None:
    tests.result()
    assert tests.record.stat().st_mode & 0o777 == 0o600
    tests.record.chmod(0o620)
    tests.result()
    assert tests.count == 2


def test_a_record_behind_a_link_does_not_count(tests: TierTest, tmp_path: Path) -> None:
    tests.result()
    tests.record.rename(tmp_path / "elsewhere")
    tests.record.symlink_to(tmp_path / "elsewhere")
    tests.result()
    assert tests.count == 2


@pytest.mark.parametrize("damage", [b"", b"\xff\x00garbage", b"a" * 64 + b"\n"])
def test_a_damaged_record_does_not_count(tests: TierTest, damage: bytes) -> None:
    tests.result()
    tests.record.write_bytes(damage)
    tests.result()
    assert tests.count == 2


def test_a_record_that_cannot_be_written_is_no_failure(tests: TierTest) -> None:
    tests.record.parent.write_text("in the way")
    assert (tests.result(), tests.count) == ("", 1)


def test_the_record_keeps_the_last_sixteen(tests: TierTest) -> None:
    for number in range(20):
        tests.result(str(number))
    assert len(tests.record.read_text().split()) == 16


@pytest.mark.parametrize("cwd", ["home", "home/.local/state/terp"])
def test_the_record_is_hidden_from_code(tmp_path: Path, cwd: str) -> None:
    home = tmp_path / "home"
    places = find_places({"HOME": str(home)})
    places.state.mkdir(parents=True)
    places.tested_tiers.touch()
    hidden = policy_for(str(tmp_path / cwd), home, places).hidden
    assert os.path.realpath(places.tested_tiers) in hidden
