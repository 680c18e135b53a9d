"""Tests taken apart."""

import pytest

from terp.checks.solve.code import Claim, NoTests, claim_of, names_in, only_tests, split, without_tests


def test_each_assert_stands_alone() -> None:
    assert split("assert f(1) == 1\nassert f(2) == 2") == ("assert f(1) == 1", "assert f(2) == 2")


def test_what_is_made_above_an_assert_goes_with_it() -> None:
    assert split("xs = [2, 1]\nsort(xs)\nassert xs == [1, 2]\nassert f(1) == 1") == (
        "xs = [2, 1]\nsort(xs)\nassert xs == [1, 2]",
        "xs = [2, 1]\nsort(xs)\nxs == [1, 2]\nassert f(1) == 1",
    )


def test_an_assert_that_moves_a_thing_on_is_done_without_its_claim() -> None:
    assert split("queue = Queue([1, 2])\nassert queue.pop() == 1\nassert queue.pop() == 2")[1] == (
        "queue = Queue([1, 2])\nqueue.pop() == 1\nassert queue.pop() == 2"
    )


def test_a_loop_over_asserts_is_one_test() -> None:
    loop = "for n in (1, 2):\n    assert f(n) == n"
    assert split(loop) == (loop,)


def test_a_test_function_is_called() -> None:
    function = "def test_one():\n    assert f(1) == 1"
    assert split(function) == (f"{function}\ntest_one()",)


def test_what_is_no_python_says_where() -> None:
    with pytest.raises(NoTests, match="line 2"):
        split("assert f(1) == 1\nassert f(")


def test_a_file_is_its_tests_and_the_rest() -> None:
    text = "import math\n\n\ndef f(n): ...\n\n\nassert f(1) == 1"
    assert (only_tests(text), without_tests(text).rstrip()) == (
        "import math\nassert f(1) == 1",
        "import math\n\n\ndef f(n): ...",
    )


def test_the_names_of_an_interface_are_its_functions_classes_and_methods() -> None:
    assert names_in("class Stack:\n    def push(self): ...\n\ndef f(): ...") == {"Stack", "push", "f"}
    assert names_in("no python") == frozenset()


def test_two_values_of_one_call_contradict_each_other() -> None:
    one, other = claim_of("assert f('a') == [1,2]"), claim_of('assert [1, 3] == f("a")')
    assert (one.contradicts(other), one.contradicts(claim_of("assert f('a') == [1, 2]"))) == (True, False)
    assert claim_of("assert f('b') > 2") == Claim()


def test_the_same_call_after_something_else_is_another_claim() -> None:
    one = claim_of("stack = Stack()\nassert stack.pop() == 1")
    assert not one.contradicts(claim_of("stack = Stack()\nstack.push(2)\nassert stack.pop() == 2"))
