"""Arrays and tables as they were when a turn began."""

from typing import Any

import pytest

from tests.core.kernels.inside.keeping import Kernel, lost

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")


def frame() -> Any:
    return pd.DataFrame(
        {
            "n": [1, 2, 3],
            "t": ["x", "y", None],
            "c": pd.Categorical(list("aab")),
            "d": pd.date_range("2020", periods=3),
            "m": pd.array([1, None, 3], dtype="Int64"),
        }
    )


@pytest.mark.parametrize(
    "change",
    [
        "df.pop('t')",
        "df['new'] = 1",
        "df.loc[0, 'n'] = 77",
        "df.loc[1, 't'] = 'z'",
        "df.loc[0, 'c'] = 'b'",
        "df.loc[5] = df.loc[0]",
        "df.loc[0, 'm'] = 9",
        "df.index.name = 'i'",
        "df.columns = list('vwxyz')",
        "df.attrs['k'] = 1",
        "df.insert(0, 'first', 0)",
        "df.sort_values('n', ascending=False, inplace=True)",
        "df.rename(columns={'n': 'q'}, inplace=True)",
        "df = None",
        "del df",
    ],
)
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_a_table_that_was_changed_in_place_is_as_it_was(change: str) -> None:
    kernel = Kernel()
    kernel.names["frame"] = frame
    kernel.run(1, "df = frame(); same = df")
    kernel.run(2, change)
    assert lost(kernel.back_to(2)) == {}
    found = kernel.names["df"]
    pd.testing.assert_frame_equal(found, frame(), check_names=True)
    assert (found is kernel.names["same"], found.attrs, found.index.name) == (True, {}, None)
    # And it goes on as a table does.
    found["more"] = found["n"] * 2
    assert found.groupby("c", observed=True)["more"].sum().tolist() == [6, 6]


@pytest.mark.parametrize(
    "change", ["a[:] = 0", "v[0] = 9", "a.sort()", "a *= 2", "a.shape = (2, 2)", "a = 1"]
)
@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")
def test_an_array_and_a_view_of_it_are_as_they_were(change: str) -> None:
    kernel = Kernel()
    kernel.run(1, "import numpy as np\na = np.array([3., 1., 2., 0.]); v = a[1:3]")
    kernel.run(2, change)
    assert lost(kernel.back_to(2)) == {}
    names = kernel.names
    assert (names["a"].tolist(), names["v"].tolist()) == ([3, 1, 2, 0], [1, 2])
    assert np.shares_memory(names["a"], names["v"])


def test_random_numbers_of_a_generator_come_again() -> None:
    kernel = Kernel()
    kernel.run(1, "import numpy as np\nr = np.random.default_rng(1)")
    kernel.run(2, "first = r.random()")
    first = kernel.names["first"]
    kernel.back_to(2)
    assert kernel.names["r"].random() == first


def test_a_value_that_was_too_large_and_is_gone_is_named() -> None:
    kernel = Kernel()
    kernel.run(1, "import numpy as np\na = np.zeros(10_000_000)")
    kernel.run(2, "a = a[:1].copy()")
    assert lost(kernel.back_to(2)) == {"a": "its earlier value is gone: 80 MB"}


def test_copies_that_take_too_much_room_fall_out_oldest_first() -> None:
    kernel = Kernel()
    kernel.run(1, "import numpy as np")
    for turn in range(2, 9):
        kernel.run(turn, "a = np.zeros(6_000_000)", "a[0] = 1")
    assert 0 < kernel.checkpoints.dropped < 8
    assert sum(checkpoint.size for checkpoint in kernel.checkpoints.saved) < 256_000_000


def test_copies_of_arrays_that_are_gone_are_not_kept() -> None:
    kernel = Kernel()
    kernel.run(1, "import numpy", "rows = (lambda array: (one for one in array))(numpy.zeros(9))")
    kernel.run(2, "next(rows)", "rows = 1", "rows")
    assert kernel.checkpoints.copies == {}
