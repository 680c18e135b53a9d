from pathlib import Path

from terp.kernels.sandbox.policy import Policy
from terp.kernels.sandbox.seatbelt import profile_text

POLICY = Policy("/p", ("/p",), ("/p/.git/hooks",), ("/h/.ssh",), network=False)


def test_the_last_rule_about_a_path_is_the_stricter_one(tmp_path: Path) -> None:
    rules = profile_text(POLICY, tmp_path).splitlines()
    deny, allow, fixed, hidden = (
        rules.index(rule)
        for rule in (
            "(deny file-write*)",
            '(allow file-write* (subpath "/p"))',
            '(deny file-write* (subpath "/p/.git/hooks"))',
            '(deny file-read* file-write* (subpath "/h/.ssh"))',
        )
    )
    assert deny < allow < fixed < hidden


def test_a_closed_network_leaves_the_sockets_of_the_kernel(tmp_path: Path) -> None:
    rules = profile_text(POLICY, tmp_path)
    assert f'(deny network*)\n(allow network* (subpath "{tmp_path}"))' in rules


def test_a_quote_in_a_path_stays_within_its_text(tmp_path: Path) -> None:
    assert '(subpath "/a\\"b")' in profile_text(Policy("/p", ('/a"b',)), tmp_path)


def test_the_temporary_files_of_the_session_can_be_written(tmp_path: Path) -> None:
    policy = Policy("/p", ("/p",), temporary="/t/tmp")
    assert '(allow file-write* (subpath "/t/tmp"))' in profile_text(policy, tmp_path)
