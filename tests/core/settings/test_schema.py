"""The schema that editors read, tried with a validator and with the reader of profiles."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from terp.settings import Settings
from terp.settings.profile_file import read_profile
from terp.settings.profiles import shipped_profiles
from terp.settings.schema import profile_schema
from terp.settings.setting import table


def valid(value: Any) -> bool:
    schema = profile_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    return bool(jsonschema.Draft7Validator(schema).is_valid(value))


@pytest.mark.parametrize("path", sorted(shipped_profiles().glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_profile_fits(path: Path) -> None:
    assert valid(yaml.safe_load(path.read_text(encoding="utf-8")) or {})


@pytest.mark.parametrize(
    "line",
    [
        "modle: x",
        "auto_run: maybe",
        "max_steps: -1",
        "max_steps: 1.5",
        "temperature: 2.1",
        "env_pass: A",
        "env_pass: ['']",
        "adapter: other",
        "model: 4",
        "replay: file",
    ],
)
def test_what_a_profile_may_not_hold_fits_neither_the_schema_nor_the_reader(
    line: str, tmp_path: Path
) -> None:
    (tmp_path / "work.yaml").write_text(f"{line}\n")
    assert not valid(yaml.safe_load(line))
    assert read_profile(tmp_path / "work.yaml").problems != []


def test_a_free_group_holds_anything_by_name() -> None:
    assert valid({"kernel_provisioner_config": {"hosts": ["a"], "tries": 3, "limits": {"memory": None}}})
    assert not valid({"kernel_provisioner_config": ["tries=3"]})


def test_every_setting_of_a_file_is_in_it_with_a_word_about_it() -> None:
    properties = profile_schema()["properties"]
    rows = {name for name, row in table(Settings).items() if row.in_files}
    assert set(properties) == rows | {"extends", "profile", "folders"}
    assert [
        name for name, one in properties.items() if not one.get("description") or not one.get("type")
    ] == []
