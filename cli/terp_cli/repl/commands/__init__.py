"""The commands of the REPL, in one table: what is not in it is not shown, and what is in it works.

    commands = all_commands()                       # terp_cli.repl.commands.every
    if not await commands.run(context, line):          # not for a message, nor for typed code
        …

`/help`, what the prompt completes and docs/commands.md are made from the table. A command function calls
the methods of a `ReplContext` (`terp_cli.repl.context`) and holds no logic of the session.
"""
