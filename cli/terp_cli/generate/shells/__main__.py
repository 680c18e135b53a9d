"""`python -m terp_cli.generate.shells` writes the completion files."""

from terp.settings.profiles import Profiles, shipped_profiles
from terp_cli.generate.shells import FILES, bash, fish, folder, zsh
from terp_cli.generate.shells.entries import entries


def generated(shell: str) -> str:
    """Generate the file for `shell` from the tables of flags and subcommands."""
    script = {"bash": bash.script, "zsh": zsh.script, "fish": fish.script}[shell]
    profiles_folder = shipped_profiles()
    # The shell looks up the user's own profiles: to start terp for them would take 70 ms a key.
    profiles = [entry.name for entry in Profiles(profiles_folder, profiles_folder).listed()]
    return script(entries(), profiles)


if __name__ == "__main__":
    for shell, name in FILES.items():
        (folder() / name).write_text(generated(shell), encoding="utf-8")
