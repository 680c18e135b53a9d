from pathlib import Path

import pytest

from terp.analysis.effects.cells import effects_of
from terp.events.effects import Effect, EffectKind, Effects
from tests.core.analysis.effects.cells import harmless_cells, said
from tests.core.analysis.effects.unsafe_cells import CELLS


@pytest.mark.parametrize(("code", "told"), harmless_cells())
def test_a_cell_that_models_write_is_told_as_it_is(code: str, told: str) -> None:
    assert said(effects_of("python", code)) == told


@pytest.mark.parametrize(("code", "kind"), CELLS)
def test_what_could_do_harm_is_told(code: str, kind: EffectKind) -> None:
    assert kind in effects_of("python", code).kinds


def test_the_first_thing_that_is_not_known_is_named_with_its_line() -> None:
    assert effects_of("python", "x = 1\nprint(x)\nfn(x)\ngn(x)").targets("cannot tell") == (
        "`fn` is not known (line 3)",
        "`gn` is not known (line 4)",
    )


def test_a_name_that_the_caller_knows_is_known() -> None:
    known = {"df": "pandas.DataFrame", "pd": "pandas"}
    assert effects_of("python", "df.merge(pd.read_csv('x.csv')).head()", known) == Effects(
        (Effect("reads", ("x.csv",)),)
    )


def test_a_path_that_the_caller_knows_can_move_its_file() -> None:
    told = effects_of("python", "p.replace('b')", {"p": "pathlib.Path"})
    assert told == Effects((Effect("writes", ("b",)), Effect("deletes", ("{p}",))))


def test_a_module_of_the_working_directory_is_not_the_known_one(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("")
    assert effects_of("python", "import json\njson.loads('1')", cwd=str(tmp_path)).targets("cannot tell") == (
        "imports `json` of the working directory (line 1)",
    )


@pytest.mark.parametrize(
    "name",
    [
        *("tabulate.py", "tabulate.pyc", "tabulate.so", "tabulate.abi3.so", "tabulate.pyd"),
        *("tabulate.cpython-311-x86_64-linux-gnu.so", "tabulate/__init__.py", "tabulate/__init__.abi3.so"),
    ],
)
def test_a_module_of_the_working_directory_is_doubted_whatever_its_ending(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("")
    code = "from tabulate import tabulate\ntabulate([[1]])"
    assert "cannot tell" in effects_of("python", code, cwd=str(tmp_path)).kinds


def test_a_folder_or_file_without_code_hides_no_module(tmp_path: Path) -> None:
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "a.json").write_text("{}")
    (tmp_path / "pandas.ipynb").write_text("{}")
    code = "import json\nimport pandas as pd"
    assert effects_of("python", code, cwd=str(tmp_path)) == Effects()


def test_what_a_class_does_is_told_whoever_calls_it() -> None:
    code = "import os\nclass A:\n    def __del__(self):\n        os.remove('x')"
    assert effects_of("python", code).targets("deletes") == ("x",)


def test_targets_stand_in_the_order_of_the_code() -> None:
    code = "import os\nos.remove('b')\nos.remove('a')\nos.remove('b')"
    assert effects_of("python", code).targets("deletes") == ("b", "a")


def test_more_targets_than_can_be_listed_are_counted() -> None:
    code = "import os\n" + "\n".join(f"os.remove('{at}')" for at in range(60))
    (effect,) = effects_of("python", code).found
    assert (len(effect.targets), effect.targets[0], effect.more) == (50, "0", 10)


def test_text_that_speaks_of_keys_is_no_secret() -> None:
    assert effects_of("python", "print('put the key into your .env file, see credentials')") == Effects()
