"""`python -m terp_cli.repl.commands` writes docs/commands.md."""

from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.help import page, place

place().parent.mkdir(exist_ok=True)
place().write_text(page(all_commands()), encoding="utf-8")
