import pytest

from terp.errors import SettingsError
from terp.kernels.remote.kernels import GatewaySpec, chosen_specs

PYTHON = GatewaySpec("python3", "python", "Python 3")
PODS = GatewaySpec("python_Kubernetes", "python", "Python on Kubernetes")
R = GatewaySpec("ir", "r", "R")
ALL = (PYTHON, R, PODS)


def test_the_first_kernelspec_of_a_language_goes_by_its_name_and_another_by_its_own() -> None:
    assert chosen_specs(ALL, (), "host") == {"python": PYTHON, "r": R, "python_kubernetes": PODS}


def test_the_languages_that_were_chosen_come_in_that_order() -> None:
    assert list(chosen_specs(ALL, ("R", "py"), "host").items()) == [("r", R), ("python", PYTHON)]


def test_a_kernelspec_that_is_chosen_alone_is_its_language() -> None:
    assert chosen_specs(ALL, ("python_kubernetes",), "host") == {"python": PODS}
    assert chosen_specs(ALL, ("ir",), "host") == {"r": R}


def test_what_the_gateway_does_not_run_is_told_with_what_it_runs() -> None:
    with pytest.raises(SettingsError) as error:
        chosen_specs(ALL, ("cobol",), "host")
    assert error.value.problems == ("languages: host runs no 'cobol'; it runs python, r, python_kubernetes.",)
