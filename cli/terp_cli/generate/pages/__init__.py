"""What is made of the table of settings and kept in the repository: a page, and a schema for editors.

`python -m terp_cli.generate.pages` writes them anew.
"""

from pathlib import Path

import terp_cli


def root() -> Path:
    """The checkout."""
    return Path(terp_cli.__file__).parents[2]
