"""Profiles: reading them, naming what is wrong, and what wins over what."""

from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.settings import Settings
from terp.settings.loading import load_settings
from terp.settings.places import Places
from terp.settings.profile_file import read_profile
from terp.settings.profiles import ProfileEntry, Profiles
from terp.settings.sources import Given

SHIPPED = [
    "careful", "data", "default", "demo", "explain", "fast", "local", "shell", "solve", "vision",
]  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "profiles").mkdir()
    return tmp_path


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped"
    folder.mkdir()
    (folder / "default.yaml").write_text("# Nothing.\n")
    return folder


def problems(home: Path, content: str | bytes) -> list[str]:
    path = home / "work.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [problem.replace(str(path), "work.yaml") for problem in read_profile(path).problems]


def load(home: Path, shipped: Path, profile: str = "", **environ: str) -> Settings:
    places = Places(home, home)
    return load_settings({}, profile=profile, environ=environ, places=places, shipped=shipped).settings


def test_a_profile_sets_values_and_keeps_their_lines(home: Path) -> None:
    path = home / "work.yaml"
    path.write_text("# For work.\n\nmodel: a/b\ntemperature: 1\nauto_run: true\nenv_pass: [A, B]\n")
    file = read_profile(path)
    assert file.problems == []
    assert file.description == "For work."
    assert file.given == {
        "model": Given("a/b", f"{path}:3"),
        "temperature": Given(1.0, f"{path}:4"),
        "auto_run": Given(True, f"{path}:5"),
        "env_pass": Given(("A", "B"), f"{path}:6"),
    }


def test_every_problem_of_a_file_is_told_with_its_line(home: Path) -> None:
    assert problems(home, 'auto_rum: true\nauto_run: "yes"\nmodel: x\nmodel: y\nmax_steps: -1\n') == [
        "work.yaml:1: unknown setting 'auto_rum'. Did you mean 'auto_run'?",
        "work.yaml:2: 'auto_run' is \"yes\", must be true or false.",
        "work.yaml:4: 'model' is set twice in this file.",
        "work.yaml:5: 'max_steps' is -1, must be a whole number, 0 or more.",
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("model: 4\n", "work.yaml:1: 'model' is 4, must be text. Put it in quotes: \"4\"."),
        ("model:\n", "work.yaml:1: 'model' is empty, must be text."),
        ("model: [a]\n", "work.yaml:1: 'model' is a list, must be text."),
        ("env_pass: A\n", "work.yaml:1: 'env_pass' is \"A\", must be a list of names."),
        ("env_pass: [[A]]\n", "work.yaml:1: 'env_pass' is a list, must be a list of names."),
        ("zzz: 1\n", "work.yaml:1: unknown setting 'zzz'. terp --help lists them."),
        (
            "replay: f\n",
            "work.yaml:1: 'replay' belongs to one call and cannot be set in a file; use --replay.",
        ),
        (
            "model: &a x\n",
            "work.yaml:1: anchors and aliases (& and *) are not used; quote text that needs them.",
        ),
        (
            "model: *a\n",
            "work.yaml:1: anchors and aliases (& and *) are not used; quote text that needs them.",
        ),
        (
            "model: !!python/name:os.system x\n",
            "work.yaml:1: tags (!) are not used; quote text that needs them.",
        ),
        ("- a\n", "work.yaml:1: must be lines of `name: value`."),
        ("just words\n", "work.yaml:1: must be lines of `name: value`."),
        ("[a]: b\n", "work.yaml:1: must be lines of `name: value`."),
        ("model: a\n---\nmodel: b\n", "work.yaml:2: must be lines of `name: value`."),
        ("model: " + "[" * 500 + "]" * 500, "work.yaml:1: must be lines of `name: value`."),
        ("model: x\n\tadapter: direct\n", "work.yaml:2: a tab indents this line; YAML takes spaces only."),
        ("model: x\x01\n", "work.yaml:1: this line holds a control character."),
        (
            "model: caf\xe9\n".encode("latin-1"),
            "work.yaml:1: this line is not UTF-8; save the file as UTF-8.",
        ),
        ("model: x\n".encode("utf-16"), "work.yaml: is written in UTF-16; save it as UTF-8."),
        ("# " + "x" * 65536, "work.yaml: is larger than 64 KB; a profile holds settings only."),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(
    home: Path, content: str | bytes, problem: str
) -> None:
    assert problems(home, content) == [problem]


def test_broken_yaml_names_its_line(home: Path) -> None:
    [problem] = problems(home, "model: x\ninstructions: 'open\n")
    assert problem.startswith("work.yaml:2: this is not YAML: ")


def test_a_file_with_a_byte_order_mark_is_read(home: Path) -> None:
    path = home / "work.yaml"
    path.write_bytes(b"\xef\xbb\xbfmodel: x\n")
    assert read_profile(path).given == {"model": Given("x", f"{path}:1")}


def test_a_profile_stands_on_the_one_it_extends(home: Path, shipped: Path) -> None:
    (home / "profiles/base.yaml").write_text("model: a\nmax_steps: 5\n")
    (home / "profiles/work.yaml").write_text("extends: base\nmodel: b\n")
    assert load(home, shipped, "work") == Settings(model="b", max_steps=5)


def test_a_profile_may_extend_the_shipped_one_of_its_name(home: Path, shipped: Path) -> None:
    (shipped / "fast.yaml").write_text("max_steps: 5\n")
    (home / "profiles/fast.yaml").write_text("extends: fast\nmodel: b\n")
    assert load(home, shipped, "fast") == Settings(model="b", max_steps=5)


def test_a_circle_of_profiles_is_an_error(home: Path, shipped: Path) -> None:
    (home / "profiles/a.yaml").write_text("extends: b\n")
    (home / "profiles/b.yaml").write_text("extends: a\n")
    with pytest.raises(SettingsError, match="extend one another in a circle: a → b → a"):
        load(home, shipped, "a")


def test_an_unknown_profile_is_an_error_with_a_suggestion(home: Path, shipped: Path) -> None:
    (home / "profiles/work.yaml").touch()
    with pytest.raises(SettingsError, match=r"^there is no profile 'wrok'. Did you mean 'work'\?$"):
        load(home, shipped, "wrok")


def test_an_unknown_base_is_named_with_its_line_and_hides_no_other_mistake(home: Path, shipped: Path) -> None:
    path = home / "mine.yaml"
    path.write_text("modle: a\nextends: nobody\n")
    with pytest.raises(SettingsError) as wrong:
        load(home, shipped, str(path))
    assert [problem.replace(str(path), "mine.yaml") for problem in wrong.value.problems] == [
        "mine.yaml:1: unknown setting 'modle'. Did you mean 'model'?",
        "mine.yaml:2: there is no profile 'nobody'. There are: default.",
    ]


def test_a_profile_can_be_a_path_and_extends_is_relative_to_it(home: Path, shipped: Path) -> None:
    (home / "base.yaml").write_text("max_steps: 5\n")
    (home / "mine.yaml").write_text("extends: ./base.yaml\n")
    assert load(home, shipped, str(home / "mine.yaml")).max_steps == 5


def test_a_profile_path_that_does_not_exist_is_an_error(home: Path, shipped: Path) -> None:
    with pytest.raises(SettingsError, match=r"^there is no profile file 'no/such.yaml'\.$"):
        load(home, shipped, "no/such.yaml")


def test_profiles_are_listed_with_their_descriptions(home: Path, shipped: Path) -> None:
    (home / "profiles/work.yaml").write_text("# For work.\nmodle: x\n")
    [default, work] = Profiles(home / "profiles", shipped).listed()
    assert default == ProfileEntry("default", shipped / "default.yaml", True, "Nothing.")
    assert (work.name, work.shipped, work.description, len(work.problems)) == ("work", False, "For work.", 1)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_profiles_are_without_a_mistake(name: str, tmp_path: Path) -> None:
    [entry] = [entry for entry in Profiles(tmp_path).listed() if entry.name == name]
    assert entry.problems == ()
    assert entry.description.endswith(".")


def test_these_profiles_are_shipped(tmp_path: Path) -> None:
    assert Profiles(tmp_path).names() == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_no_shipped_profile_runs_code_unasked(name: str, tmp_path: Path) -> None:
    [file] = Profiles(tmp_path).chain(name)
    assert file.given.get("auto_run", Given(False, "")).value is False
