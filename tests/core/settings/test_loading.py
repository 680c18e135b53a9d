"""What wins over what, among everything that sets something."""

from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.settings import Settings
from terp.settings.loading import load_settings
from terp.settings.places import Places
from terp.settings.project.files import Project, ProjectFile
from terp.settings.sources import Given


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


def load(home: Path, shipped: Path, profile: str = "", **environ: str) -> Settings:
    places = Places(home, home)
    return load_settings({}, profile=profile, environ=environ, places=places, shipped=shipped).settings


def test_an_unknown_profile_of_the_configuration_is_named_with_its_line(home: Path, shipped: Path) -> None:
    (home / "config.yaml").write_text("# Mine.\nprofile: nobody\n")
    with pytest.raises(SettingsError, match=r"config.yaml:2: there is no profile 'nobody'\."):
        load(home, shipped)


def test_flag_beats_variable_beats_profile_beats_config_beats_default(home: Path, shipped: Path) -> None:
    (shipped / "default.yaml").write_text(
        "model: e\nadapter: direct\nretries: 1\nmax_steps: 1\nmax_tokens: 1\n"
    )
    (home / "config.yaml").write_text("model: d\nadapter: litellm\nretries: 2\nmax_steps: 2\n")
    (home / "profiles/work.yaml").write_text("model: c\nadapter: auto\nretries: 3\n")
    settings = load_settings(
        {"model": Given("a", "--model")},
        profile="work",
        environ={"TERP_MODEL": "b", "TERP_ADAPTER": "direct"},
        places=Places(home, home),
        shipped=shipped,
    ).settings
    assert settings == Settings(model="a", adapter="direct", retries=3, max_steps=2, max_tokens=1)
    assert settings.origins == {
        "model": "--model",
        "adapter": "TERP_ADAPTER",
        "retries": f"{home}/profiles/work.yaml:3",
        "max_steps": f"{home}/config.yaml:4",
        "max_tokens": f"{shipped}/default.yaml:5",
    }


def test_the_configuration_may_name_a_profile_unless_another_is_asked_for(home: Path, shipped: Path) -> None:
    (home / "config.yaml").write_text("profile: a\n")
    (home / "profiles/a.yaml").write_text("model: a\n")
    (home / "profiles/b.yaml").write_text("model: b\n")
    assert load(home, shipped).model == "a"
    assert load(home, shipped, "b").model == "b"
    assert load(home, shipped, TERP_PROFILE="b").model == "b"


def test_problems_of_variables_and_files_are_told_together(home: Path, shipped: Path) -> None:
    (home / "config.yaml").write_text("modle: a\n")
    with pytest.raises(SettingsError) as caught:
        load(home, shipped, "none", TERP_RETRIES="x")
    assert caught.value.problems == (
        'TERP_RETRIES is "x", must be a whole number, from 0 to 20.',
        "there is no profile 'none'. There are: default.",
        f"{home}/config.yaml:1: unknown setting 'modle'. Did you mean 'model'?",
    )


def test_the_profile_in_effect_is_named_wherever_it_was_asked_for(home: Path, shipped: Path) -> None:
    for name in ("work", "fast", "mine"):
        (home / f"profiles/{name}.yaml").write_text("# Nothing.\n")
    assert load(home, shipped).profile == "default"
    (home / "config.yaml").write_text("profile: work\n")
    assert load(home, shipped).profile == "work"
    assert load(home, shipped, TERP_PROFILE="fast").profile == "fast"
    assert load(home, shipped, "mine", TERP_PROFILE="fast").profile == "mine"


def project(root: Path, *contents: str) -> Project:
    """A project whose files, the strongest first, the person trusts."""
    files = [
        ProjectFile(root / name, content.encode())
        for name, content in zip(("local.yaml", "profile.yaml"), contents, strict=False)
    ]
    return Project(root, root, tuple(files))


def loaded(home: Path, shipped: Path, *contents: str, profile: str = "") -> tuple[Settings, tuple[str, ...]]:
    """What is loaded with files of a project, and what is told of them."""
    found = load_settings(
        {},
        profile=profile,
        environ={},
        places=Places(home, home),
        shipped=shipped,
        project=project(home / "work", *contents),
    )
    return found.settings, tuple(line.replace(f"{home}/work/", "") for line in found.notices)


def test_the_files_of_a_project_stand_between_a_profile_that_is_asked_for_and_the_configuration(
    home: Path, shipped: Path
) -> None:
    (home / "profiles/asked.yaml").write_text("max_steps: 1\n")
    (home / "config.yaml").write_text("max_steps: 4\nretries: 4\nmax_tokens: 4\ntimeout_s: 4\n")
    local, shared = "max_steps: 2\nretries: 2\n", "max_steps: 3\nretries: 3\nmax_tokens: 3\n"
    settings, told = loaded(home, shipped, local, shared, profile="asked")
    assert settings == Settings(max_steps=1, retries=2, max_tokens=3, timeout_s=4)
    assert told == ()


def test_a_profile_that_the_configuration_names_is_weaker_than_the_project(home: Path, shipped: Path) -> None:
    (home / "profiles/usual.yaml").write_text("max_steps: 1\n")
    (home / "config.yaml").write_text("profile: usual\n")
    assert loaded(home, shipped, "max_steps: 2\n")[0].max_steps == 2


def test_what_a_project_may_not_set_is_told_and_the_rest_counts(home: Path, shipped: Path) -> None:
    settings, told = loaded(home, shipped, "auto_run: true\nmax_steps: 5\napi_base: http://x/v1\n")
    assert settings == Settings(max_steps=5)
    assert told == (
        "local.yaml:1: 'auto_run' is not taken from a project; only you can set it, with --auto-run or in a "
        "file of your own.",
        "local.yaml:3: 'api_base' is not taken from a project; only you can set it, with --api-base or in a "
        "file of your own.",
    )


@pytest.mark.parametrize(
    ("own", "projects", "effective"),
    [
        ("auto_run: true", "effect", "effect"),
        ("approve: never", "before", "before"),
        ("approve: effect", "never", "effect"),
        ("", "effect", "before"),
        ("approve: never\nauto_run: false", "effect", "before"),
    ],
)
def test_a_project_can_only_tighten_approval(
    home: Path, shipped: Path, own: str, projects: str, effective: str
) -> None:
    (home / "config.yaml").write_text(own)
    settings, told = loaded(home, shipped, f"approve: {projects}\n")
    assert (settings.approve, settings.auto_run) == (effective, False)
    refusal = f"local.yaml:1: 'approve: {projects}' is not taken from a project: it would loosen"
    assert [line.startswith(refusal) for line in told] == ([True] if projects != effective else [])


def test_a_flag_is_stronger_than_the_approval_of_a_project(home: Path, shipped: Path) -> None:
    (home / "profiles/asked.yaml").write_text("approve: never\n")
    assert loaded(home, shipped, "approve: before\n", profile="asked")[0].auto_run


@pytest.mark.parametrize(("own", "effective"), [("never", "before"), ("effect", "effect")])
def test_auto_run_that_is_off_overrides_a_weaker_approval_of_never(
    home: Path, shipped: Path, own: str, effective: str
) -> None:
    (home / "config.yaml").write_text(f"approve: {own}\n")
    (home / "profiles/asked.yaml").write_text("auto_run: false\n")
    settings, _ = loaded(home, shipped, profile="asked")
    assert (settings.approve, settings.auto_run) == (effective, False)


def test_a_mistake_in_a_file_of_a_project_is_one_like_any_other(home: Path, shipped: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(home, shipped, "max_stebs: 5\n")
    assert [problem.replace(f"{home}/work/", "") for problem in caught.value.problems] == [
        "local.yaml:1: unknown setting 'max_stebs'. Did you mean 'max_steps'?"
    ]


def test_a_project_may_extend_a_shipped_profile_as_far_as_it_may_set_that(home: Path, shipped: Path) -> None:
    (shipped / "fast.yaml").write_text("max_steps: 5\nauto_run: true\n")
    (home / "profiles/fast.yaml").write_text("max_steps: 9\n")
    settings, told = loaded(home, shipped, "extends: fast\nretries: 1\n")
    assert settings == Settings(max_steps=5, retries=1)
    assert len(told) == 1


def test_a_project_cannot_stand_on_another_file(home: Path, shipped: Path) -> None:
    with pytest.raises(SettingsError, match=r"local.yaml:1: a project's profile extends only shipped"):
        loaded(home, shipped, "extends: ../../other.yaml\n")


def test_the_profile_in_effect_is_that_for_which_is_spent(home: Path, shipped: Path) -> None:
    (home / "profiles" / "work.yaml").write_text("model: openai/a\n")
    assert load(home, shipped).profile == "default"
    assert load(home, shipped, "work").profile == "work"
    path = home / "profiles" / "work.yaml"
    assert load(home, shipped, str(path)).profile == str(path)


def test_a_price_is_that_of_the_model_it_was_set_with(home: Path, shipped: Path) -> None:
    (home / "profiles" / "mine.yaml").write_text("model: openai/mine\ninput_price: 3\noutput_price: 15\n")
    mine = load(home, shipped, "mine")
    assert (mine.model, mine.input_price, mine.output_price) == ("openai/mine", 3.0, 15.0)
    other = load(home, shipped, "mine", TERP_MODEL="openai/other")
    assert (other.model, other.input_price, other.output_price) == ("openai/other", None, None)
    told = load(home, shipped, "mine", TERP_MODEL="openai/other", TERP_INPUT_PRICE="1")
    assert (told.input_price, told.output_price) == (1.0, None)


FOLDERS = """\
profile: usual
folders:
  {work}: acme
  {work}/site: other
"""


@pytest.fixture
def by_folder(home: Path) -> Path:
    """A configuration with a profile for `work`, and one for a folder below."""
    for name in ("usual", "acme", "other"):
        (home / f"profiles/{name}.yaml").write_text(f"model: {name}\n")
    (home / "config.yaml").write_text(FOLDERS.format(work=home / "work"))
    return home


def at(folder: Path, home: Path, shipped: Path, profile: str = "") -> str:
    """The model in a folder."""
    places, here = Places(home, home), Project(folder, folder)
    found = load_settings({}, profile=profile, environ={}, places=places, shipped=shipped, project=here)
    return found.settings.model


def test_a_folder_has_its_own_profile_and_the_nearest_folder_counts(by_folder: Path, shipped: Path) -> None:
    work = by_folder / "work"
    folders = (by_folder, work, work / "deep/er", work / "site/pages", by_folder / "workshop")
    found = [at(folder, by_folder, shipped) for folder in folders]
    assert found == ["usual", "acme", "acme", "other", "usual"]


def test_a_named_profile_beats_that_of_the_folder(by_folder: Path, shipped: Path) -> None:
    assert at(by_folder / "work", by_folder, shipped, profile="usual") == "usual"


def test_the_profile_of_a_folder_beats_the_project(by_folder: Path, shipped: Path) -> None:
    (by_folder / "profiles/acme.yaml").write_text("max_steps: 9\n")
    settings, _ = loaded(by_folder, shipped, "max_steps: 3\nretries: 7\n")
    assert (settings.profile, settings.max_steps, settings.retries) == ("acme", 9, 7)


def test_an_unknown_profile_of_a_folder_is_named_with_its_line(by_folder: Path, shipped: Path) -> None:
    (by_folder / "profiles/acme.yaml").unlink()
    with pytest.raises(SettingsError, match=r"config.yaml:3: there is no profile 'acme'\."):
        at(by_folder / "work", by_folder, shipped)


def test_a_folder_with_a_relative_path_is_a_mistake_at_its_line(home: Path, shipped: Path) -> None:
    (home / "config.yaml").write_text("folders:\n  /x: usual\n  acme: usual\n")
    said = r"config.yaml:3: 'folders': \"acme\" must be a full path, or one with ~\."
    with pytest.raises(SettingsError, match=said):
        load(home, shipped)


def test_folders_belong_into_the_configuration(home: Path, shipped: Path) -> None:
    (home / "profiles/work.yaml").write_text("folders: {/x: work}\n")
    with pytest.raises(SettingsError, match=r"work.yaml:1: 'folders' belongs into config.yaml\."):
        load(home, shipped, "work")


def test_a_project_names_a_profile_of_the_user_which_is_weaker_than_its_own_entries(
    home: Path, shipped: Path
) -> None:
    (home / "config.yaml").write_text("profile: usual\nretries: 1\n")
    (home / "profiles/usual.yaml").write_text("model: usual\nmax_tokens: 5\n")
    (home / "profiles/acme.yaml").write_text("model: acme\nmax_steps: 9\nretries: 4\ninput_price: 1\n")
    settings, told = loaded(home, shipped, "profile: acme\nmax_steps: 3\n")
    assert settings == Settings(model="acme", max_steps=3, retries=4, input_price=1, max_tokens=5)
    assert (settings.profile, told) == ("acme", ())


LOOSE = """\
auto_run: true
sandbox: off
network: true
allow: [effects: none]
env_pass: [AWS_SECRET]
api_base: http://127.0.0.1:1/v1
model: m
"""


def test_a_profile_that_only_a_project_names_cannot_loosen_anything(home: Path, shipped: Path) -> None:
    (home / "config.yaml").write_text("sandbox: workspace\nnetwork: false\n")
    (home / "profiles/acme.yaml").write_text(LOOSE.replace("sandbox: off", 'sandbox: "off"'))
    settings, told = loaded(home, shipped, "profile: acme\n")
    assert settings == Settings(sandbox="workspace", network=False, model="m")
    assert [line.replace(f"{home}/", "").partition(",")[0].partition(":")[2][:40] for line in told] == [
        "4: 'allow' does not count",
        "5: 'env_pass' does not count",
        "6: 'api_base' does not count",
        "1: 'auto_run: true' is not taken from a ",
        "2: 'sandbox: off' is not taken from a pr",
        "3: 'network: true' is not taken from a p",
    ]


def test_a_profile_that_a_project_names_can_tighten(home: Path, shipped: Path) -> None:
    (home / "config.yaml").write_text("auto_run: true\n")
    (home / "profiles/acme.yaml").write_text("sandbox: strict\nnetwork: false\nauto_run: false\n")
    settings, told = loaded(home, shipped, "profile: acme\n")
    assert settings == Settings(sandbox="strict", network=False)
    assert told == ()


def test_a_project_names_a_profile_by_its_name_only(home: Path, shipped: Path) -> None:
    with pytest.raises(SettingsError, match=r"local.yaml:1: a project names a profile of yours by its name"):
        loaded(home, shipped, "profile: ./mine.yaml\n")


def test_instructions_of_a_project_stay_beside_those_of_a_profile(home: Path, shipped: Path) -> None:
    (home / "profiles/brief.yaml").write_text("instructions: Be brief.\n")
    settings, _ = loaded(home, shipped, "instructions: Answer in French.\n", profile="brief")
    assert settings.instructions == "Be brief.\n\nAnswer in French."
