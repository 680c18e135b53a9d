"""What a kernel tells of the place where code failed."""

from pathlib import Path

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import Held, RunEnded
from tests.core.kernels.running import ran
from tests.core.kernels.test_asking import answering


async def ended(kernel: Kernel, code: str) -> RunEnded:
    run = await ran(kernel, code)
    assert run.ended.status == "error"
    return run.ended


async def test_an_error_tells_the_values_of_its_line(kernel: Kernel) -> None:
    code = "prices, rate = [1, 2, 3], 0\ndef share(part):\n    return part / rate\nshare(len(prices))"
    found = await ended(kernel, code)
    assert found.held == (Held("part", "3"), Held("rate", "0"))


async def test_an_error_tells_values_of_the_lines_beside_it_and_no_others(kernel: Kernel) -> None:
    code = "def f(far, at=1):\n    x = 2\n    y = 3\n    at / 0\n    y += 1\n    x += 1\nf(9)"
    found = await ended(kernel, code)
    assert found.held == (Held("at", "1"), Held("y", "3"))


async def test_passwords_and_keys_are_told_by_type_and_length(kernel: Kernel) -> None:
    Path(kernel.cwd, "pw.txt").write_text("hunter2-from-file-QWERTY\n")
    code = """
def load(): return open('pw.txt').read().strip()
def connect(user, password):
    api_key = other = load(); headers = {'Authorization': 'Bearer ' + api_key}
    raise ConnectionError('refused', other)
connect('bob', load())
"""
    found = await ended(kernel, code)
    assert found.held == (
        Held("other", "str of 24"),
        Held("api_key", "str of 24"),
        Held("headers", "dict of 1"),
    )


async def test_what_was_typed_unseen_is_told_by_type_and_length(kernel: Kernel) -> None:
    code = "from getpass import getpass\nword = getpass()\nwith_it = f'is {word}'.encode(); word + 1"
    found = (await answering(kernel, code, "abc")).ended
    assert found.held == (Held("with_it", "bytes of 6"), Held("word", "str of 3"))


async def test_a_table_without_a_column_tells_the_columns(kernel: Kernel) -> None:
    code = "import pandas as pd\nd = pd.DataFrame({'species': [1], 'petal length': [2]})\nd['Species']"
    found = await ended(kernel, code)
    assert found.hint == "The columns are: species, petal length. Did you mean 'species'?"
    assert found.held == (Held("d", "DataFrame 1×2"),)


@pytest.mark.parametrize(
    "code", ["d.Species", "d.groupby('Species')", "[d][0]['Species']", "d.loc[:, 'Species']"]
)
async def test_a_table_is_found_wherever_it_stands(kernel: Kernel, code: str) -> None:
    found = await ended(kernel, f"import pandas as pd\nd = pd.DataFrame({{'species': [1]}})\n{code}")
    assert found.hint.startswith("The columns are: species.")


async def test_a_dict_without_a_key_tells_the_keys(kernel: Kernel) -> None:
    found = await ended(kernel, "stock = {'apples': 3, 'pears': 4}\nstock['Apples']")
    assert found.hint == "The keys are: apples, pears. Did you mean 'apples'?"


async def test_a_file_that_is_not_there_tells_what_is(kernel: Kernel) -> None:
    here = Path(kernel.cwd)
    (here / "Sales_2025.csv").touch()
    found = await ended(kernel, "open('sales_2025.csv')")
    (here / "Sales_2025.csv").unlink()
    assert found.hint == f"In {here} there is: Sales_2025.csv."


async def test_a_folder_that_is_not_there_is_told(kernel: Kernel) -> None:
    found = await ended(kernel, "open('/nowhere/a.csv')")
    assert found.hint == "There is no folder /nowhere."


async def test_code_that_works_has_nothing_to_tell(kernel: Kernel) -> None:
    await ran(kernel, "x = 1\nx / 0")
    run = await ran(kernel, "x + 1")
    assert (run.ended.held, run.ended.hint) == ((), "")


COLUMNS = "import pandas as pd\ndf = pd.DataFrame({'species': [1], 'mass': [2]})\n"


@pytest.mark.parametrize(
    "said",
    [
        "Could not interpret value `speces` for `x`. An entry with this name does not appear in `data`.",
        "Value of 'x' is not the name of a column in 'data_frame'. Expected one of ['species', 'mass'] but "
        "received: speces",
    ],
)
async def test_a_library_of_plots_that_misses_a_column_is_answered_with_those_there_are(
    kernel: Kernel, said: str
) -> None:
    pytest.importorskip("pandas")
    found = await ended(
        kernel, f"{COLUMNS}def scatter(data, x):\n    raise ValueError({said!r})\nscatter(df, 'speces')"
    )
    assert found.hint == "The columns are: species, mass. Did you mean 'species'?"


async def test_another_value_error_has_no_hint(kernel: Kernel) -> None:
    pytest.importorskip("pandas")
    assert (await ended(kernel, f"{COLUMNS}raise ValueError('bad', df)")).hint == ""


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("城市,人口\n北京,2154\n上海,2424\n", "gb18030"),
        ("請先閱讀這個檔案，然後計算每一列的平均值\n", "big5"),
        ("このファイルを読んで、平均値を計算してください。\n", "shift_jis"),
        ("이 파일을 읽고 평균을 계산해 주세요. 결과를 표로 보여 주세요.\n", "euc_kr"),
        ("name,größe\ncafé,3\n", "cp1252"),
    ],
)
@pytest.mark.parametrize(
    "code", ["open('t.csv', encoding='utf-8').read()", "import pandas as pd\npd.read_csv('t.csv')"]
)
async def test_text_of_another_encoding_is_named(kernel: Kernel, text: str, encoding: str, code: str) -> None:
    pytest.importorskip("pandas")
    Path(kernel.cwd, "t.csv").write_bytes(text.encode(encoding))
    found = await ended(kernel, code)
    assert found.hint == f'The text looks like {encoding}: try encoding="{encoding}".'
