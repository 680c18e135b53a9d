"""The files that are made, by their paths."""

import json
from collections.abc import Mapping
from pathlib import Path

from terp.settings.profiles import shipped_profiles
from terp.settings.schema import NAME, profile_schema
from terp_cli.generate.pages import root
from terp_cli.generate.pages.settings import page


def made() -> Mapping[Path, str]:
    """What each file must hold."""
    schema = json.dumps(profile_schema(), ensure_ascii=False, indent=2)
    return {root() / "docs" / "settings.md": page(), shipped_profiles() / NAME: f"{schema}\n"}
