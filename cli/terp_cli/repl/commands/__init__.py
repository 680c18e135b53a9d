"""The commands of the REPL, in one table.

    commands = all_commands()                       # terp_cli.repl.commands.every
    if not await commands.run(context, line):          # not for a message, nor for typed code
        …

`/help`, completions at the prompt, and docs/commands.md are generated from the table. A command function
calls the methods of a `ReplContext` (`terp_cli.repl.context`) and holds no logic of the session.
"""
