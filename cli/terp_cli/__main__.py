"""`python -m terp_cli` is the command `terp`."""

import sys

from terp_cli.main import main

sys.exit(main())
