import csv
import json
import shutil
from collections import Counter
from pathlib import Path

from terp_cli.verbs import demo


def test_the_data_is_fishers_150_flowers(tmp_path: Path) -> None:
    with (demo.new_folder(tmp_path) / "iris.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert Counter(row["species"] for row in rows) == {"setosa": 50, "versicolor": 50, "virginica": 50}
    # The 35th and the 38th flower, which the copy at UCI has wrong.
    assert [tuple(rows[at].values()) for at in (34, 37)] == [
        ("4.9", "3.1", "1.5", "0.2", "setosa"),
        ("4.9", "3.6", "1.4", "0.1", "setosa"),
    ]


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    first = demo.new_folder(tmp_path)
    (first / "iris.csv").write_text("mine now")
    second, third = demo.new_folder(tmp_path), demo.new_folder(tmp_path)
    assert [folder.name for folder in (first, second, third)] == ["terp-demo", "terp-demo-2", "terp-demo-3"]
    assert (first / "iris.csv").read_text() == "mine now"


def test_where_nothing_can_be_written_a_temporary_folder_is_taken(tmp_path: Path) -> None:
    folder = demo.new_folder(tmp_path / "missing")
    names = [path.name for path in folder.iterdir()]
    shutil.rmtree(folder)
    assert (folder.name[:10], names) == ("terp-demo-", ["iris.csv"])


def test_the_picture_is_the_one_in_the_folder(tmp_path: Path) -> None:
    files = ["/elsewhere/c4-1.png", str(tmp_path / "notes.txt"), str(tmp_path / "iris.png")]
    assert demo.picture(files, tmp_path) == str(tmp_path / "iris.png")
    assert demo.picture(files[:2], tmp_path) == ""


def test_the_recording_is_one_reply_a_line_and_asks_only_for_python() -> None:
    replies = [json.loads(line)["reply"] for line in demo.RECORDING.read_text(encoding="utf-8").splitlines()]
    calls = [part["call"] for reply in replies for part in reply if "call" in part]
    assert [len(reply) for reply in replies] == [2, 2, 2, 2, 1]
    assert {(call["name"], call["arguments"]["language"]) for call in calls} == {("execute", "python")}
