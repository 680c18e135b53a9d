import json
from pathlib import Path

from terp.kernels.sandbox.landlock import Landlock
from terp.kernels.sandbox.policy import Policy
from terp.kernels.sandbox.tier import CONFIG, ProcessCommand


def test_a_folder_that_must_be_readable_opens_no_secret_in_it(tmp_path: Path) -> None:
    home, own = tmp_path / "home", tmp_path / "own"
    for folder in (home / ".ssh", home / "bin", own):
        folder.mkdir(parents=True)
    policy = Policy(str(home / "bin"), hidden=(str(home / ".ssh"),), readable=(str(home),))
    Landlock().wrap(ProcessCommand(("true",), {}, str(home), own), policy)
    readable = json.loads((own / CONFIG).read_text())["landlock"]["read"]
    assert {str(home / "bin")} == {path for path in readable if Path(path).is_relative_to(home)}
