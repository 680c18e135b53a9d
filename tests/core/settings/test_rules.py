"""Rules in settings: each with its line, those of all layers together, and none of a project that allows."""

from pathlib import Path

import pytest

import terp
from terp.analysis.rules.deciding import Rules
from terp.analysis.rules.rule import NoRule
from terp.errors import SettingsError
from terp.opening.changing import Change, change_settings
from terp.settings import Settings
from terp.settings.loading import Loaded, load_settings
from terp.settings.places import Places
from terp.settings.project.files import Project, ProjectFile
from terp.settings.rules import rules_of
from terp.settings.setting import table
from terp.settings.sources import Given, GivenValues
from terp.testing import ScriptedModel
from tests.core.sessions import open_session


def load(home: Path, project: str = "", flags: GivenValues | None = None, **environ: str) -> Loaded:
    (home / "profiles").mkdir(exist_ok=True)
    of_project = ProjectFile(home / "profile.yaml", project.encode())
    return load_settings(
        flags or {},
        profile=environ.pop("profile", ""),
        environ=environ,
        places=Places(home, home),
        project=Project(home, home, (of_project,)),
    )


def told(home: Path, settings: Settings) -> list[str]:
    return [f"{rule.verdict} {rule.named}".replace(f"{home}/", "") for rule in rules_of(settings)]


def test_each_rule_has_its_line_with_quotes_and_without(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        'allow:\n  - shell: git status\n  - "shell: git log **"\n\n  - effects: reads\n'
        'deny: ["shell: rm **"]\n'
    )
    assert told(tmp_path, load(tmp_path).settings) == [
        "deny shell: rm ** (config.yaml:6)",
        "allow shell: git status (config.yaml:2)",
        "allow shell: git log ** (config.yaml:3)",
        "allow effects: reads (config.yaml:5)",
    ]


def test_rules_of_all_layers_count_together(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    (tmp_path / "config.yaml").write_text("deny:\n- shell: rm **\nallow:\n- shell: ls\n")
    (tmp_path / "profiles/work.yaml").write_text("# Work.\ndeny:\n- shell: dd **\n")
    loaded = load(
        tmp_path,
        "deny:\n- shell: make deploy\nask:\n- effects: network\n",
        {"allow": Given(("shell: pwd",), "--allow")},
        profile="work",
        TERP_DENY="shell: kill **\nshell: reboot",
    )
    assert told(tmp_path, loaded.settings) == [
        "deny shell: kill ** (TERP_DENY)",
        "deny shell: reboot (TERP_DENY)",
        "deny shell: dd ** (profiles/work.yaml:3)",
        "deny shell: make deploy (profile.yaml:2)",
        "deny shell: rm ** (config.yaml:2)",
        "ask effects: network (profile.yaml:4)",
        "allow shell: pwd (--allow)",
        "allow shell: ls (config.yaml:4)",
    ]
    assert loaded.settings.origin("allow") == f"--allow, {tmp_path}/config.yaml:3"


def test_a_project_adds_what_is_asked_about_or_denied_and_never_what_is_allowed(tmp_path: Path) -> None:
    loaded = load(tmp_path, "allow:\n- effects: reads\nask:\n- shell: make **\n")
    assert (loaded.settings.allow, loaded.settings.ask) == ((), ("shell: make **",))
    assert [line.replace(f"{tmp_path}/", "") for line in loaded.notices] == [
        "profile.yaml:1: 'allow' is not taken from a project; only you can set it, with --allow or in a file "
        "of your own."
    ]


def test_a_client_of_a_server_sets_no_rules() -> None:
    rows = table(Settings)
    assert [name for name in ("allow", "ask", "deny") if "wire" in rows[name].sources] == []


def test_every_mistake_in_a_rule_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        "allow:\n  - shell: git status\n  - shell: python *\n  - git log\nask:\n  - a: b\n    c: d\n"
    )
    with pytest.raises(SettingsError) as caught:
        load(tmp_path)
    assert [line.replace(f"{tmp_path}/", "") for line in caught.value.problems] == [
        "config.yaml:3: 'allow' has \"shell: python *\": `python` runs whatever it is given, so no rule "
        "allows it; name what it would run.",
        "config.yaml:4: 'allow' has \"git log\": this is no rule; write `shell: COMMAND`, "
        "`effects: KINDS`, `writes: PATH`, `deletes: PATH`, `network: HOST` or "
        "`programs: NAME`.",
        "config.yaml:5: 'ask' is a list, must be a list of rules.",
    ]


@pytest.mark.parametrize(
    ("flags", "environ", "where"),
    [
        ({"allow": Given(("shell: sudo *",), "--allow")}, {}, "--allow"),
        ({}, {"TERP_ALLOW": "shell: sudo *"}, "TERP_ALLOW"),
    ],
)
def test_a_mistake_outside_of_files_is_told_as_well(
    tmp_path: Path, flags: GivenValues, environ: dict[str, str], where: str
) -> None:
    with pytest.raises(SettingsError, match=rf"{where}: 'allow' has \"shell: sudo \*\": `sudo` runs"):
        load(tmp_path, "", flags, **environ)


def test_the_library_takes_rules_and_refuses_what_is_none() -> None:
    with pytest.raises(SettingsError, match=r"terp.open: 'deny' has \"rm\": this is no rule"):
        terp.open(deny=["rm"], environ={})
    with pytest.raises(SettingsError, match=r"'deny' is 'rm', must be a list of rules"):
        terp.open(deny="rm", environ={})


def test_settings_made_by_hand_are_checked_too() -> None:
    with pytest.raises(NoRule):
        rules_of(Settings(allow=("shell: bash",)))


async def test_another_profile_brings_its_rules_and_those_of_the_session_stay(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel())
    before, after = Settings(deny=("shell: a",)), Settings(deny=("shell: b",))
    session.resources.rules = Rules(rules_of(before))
    session.resources.rules.add(["shell: ls"])
    await change_settings(session, Change(before, after), {})
    assert [rule.text for rule in session.resources.rules.all] == ["shell: b", "shell: ls"]
