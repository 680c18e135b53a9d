"""The table: every command there is."""

from terp_cli.repl.commands.table import Commands, SlashCommand


def all_commands() -> Commands:
    """The commands, to be looked up by name."""
    return Commands(TABLE)


TABLE = (
    SlashCommand(
        "undo", "", "forget the last turn", "Conversation", "conversation.undo",
        "The whole turn leaves the model's memory: your message, its replies, and the results of its code. "
        "What the code did to variables and files is not undone. /rewind N forgets more than one turn.",
    ),
    SlashCommand(
        "retry", "", "send the last message again", "Conversation", "conversation.retry",
        "The last turn is forgotten first, as by /undo.",
    ),
    SlashCommand(
        "rewind", "[N [chat]]", "go back to before a turn", "Conversation", "conversation.rewind",
        "Without N the turns are listed. With it the turn and all after it are forgotten, and its message "
        "comes back to the input line. Python's variables are as they were before the turn, also what was "
        "changed in place, and new ones are gone. Files that the code wrote to are put back if you say yes. "
        "What could not be restored is named. With chat, variables and files stay as they are.",
        completes="conversation.turn_numbers",
    ),
    SlashCommand(
        "reset", "", "begin a new conversation", "Conversation", "conversation.reset",
        "Variables in the kernel stay. The previous conversation stays a session, which /resume and "
        "terp sessions find.",
    ),
    SlashCommand(
        "compact", "[FOCUS|undo]", "replace earlier turns by a summary", "Conversation",
        "conversation.compact",
        "The model writes a summary that replaces all turns before the last; FOCUS says what must "
        "be kept. Your own words, the files that runs have left and the variables that there are stand "
        "beside it. undo restores the history before the last compaction, also an automatic one.",
        completes="conversation.compact_words",
    ),
    SlashCommand(
        "reasoning", "", "show what the model thought before its last answer", "Conversation",
        "conversation.reasoning", shows=True,
    ),
    SlashCommand(
        "copy", "[answer|code [N]|N]", "copy the last answer, code, or the output of a run", "Conversation",
        "code.copy",
        "Without an argument it is the last answer; code is the last piece of code or that of run N; a "
        "number is the full output of that run. By a program of this machine where there is one, else by "
        "the terminal (OSC 52), which also works over SSH.",
        completes="code.copyable", shows=True,
    ),
    SlashCommand(
        "tokens", "[PROMPT]", "count what the next request sends", "Conversation", "status.tokens",
        "The whole request: system prompt, tools and conversation, and PROMPT if it is given. Counted with "
        "the model's own tokenizer if it is one of OpenAI's, else estimated.", shows=True,
    ),
    SlashCommand(
        "cost", "", "show the cost of the turn, the session and the profile", "Conversation", "status.cost",
        "All requests count, also those for summaries and explanations, and those before a session was "
        "resumed. The profile's are those of all its sessions in this month; terp cost shows more of them.",
        shows=True,
    ),
    SlashCommand(
        "model", "[NAME]", "show the model, or change it", "Conversation", "switches.model",
        "NAME is provider/model, as for terp --model. The conversation stays. Offered are the models that "
        "were used before, those of your profiles, and those of providers whose key is set.",
        completes="switches.known_models",
    ),
    SlashCommand(
        "auto_run", "[on|off]", "run code without asking, or ask again", "Code", "switches.auto_run",
        "Without an argument it shows the present state and offers to change it. What confines the code is "
        "said with it; with nothing to confine it, code that runs unasked can do whatever you can.",
        completes="switches.words",
    ),
    SlashCommand(
        "until", "[CHECK|off]", "continue turns until a check passes", "Code", "switches.set_check",
        "CHECK is a shell command (pytest -q), or py: and a Python expression (py: shop.total([1]) == 1). It "
        "runs after each answer, in a copy of the project with the tests as they are now; what it puts out "
        "goes back to the model, max_revisions times at most. Without an argument it shows the check; off "
        "ends it.",
        completes="switches.until_words",
    ),
    SlashCommand(
        "rules", "", "list the rules that allow, ask about or deny code", "Code", "switches.show_rules",
        "Those of your settings, and those that you added with r at a question. terp docs rules shows how "
        "they are written; terp rules test CODE shows their decision about a piece of code.",
        shows=True,
    ),
    SlashCommand(
        "vars", "[LANGUAGE|NAME]", "list the variables of the kernels", "Code", "code.variables",
        "Name, type, shape, size and the beginning of the value; with LANGUAGE those of its kernel, with "
        "NAME those whose names hold it.",
        completes="code.started_languages", shows=True,
    ),
    SlashCommand(
        "why", "NAME", "show the code that has made a value", "Code", "files.why",
        "Only the runs that the variable depends on, in order, each with the names it is "
        "there for. Code that cannot be analysed, such as shell commands, is there as well, and marked. "
        "/save FILE NAME writes them to a file.",
        shows=True,
    ),
    SlashCommand(
        "languages", "", "list the languages that run here", "Code", "code.which_languages",
        "And how to get those that do not.",
    ),
    SlashCommand(
        "tools", "", "list the functions that the model can call in the Python kernel", "Code",
        "code.which_tools",
        "Each with its arguments and where it comes from; for those that cannot work here, what is missing.",
    ),
    SlashCommand(
        "mcp", "[NAME|restart NAME]", "list the MCP servers and their states", "Code",
        "environment.mcp",
        "With NAME it lists the functions of that server, and the file of what it writes to stderr; restart "
        "NAME restarts it.",
        completes="environment.server_names",
    ),
    SlashCommand(
        "attach", "[FILE|NAME|own]", "share this kernel, or use a kernel of Jupyter or VS Code", "Code",
        "environment.attach",
        "Without an argument it shows how other programs use this session's kernel. FILE is the "
        "connection file of a running kernel, NAME its id, its notebook or newest; it takes the place of the "
        "kernel of its language, whose variables are gone then, and is left running. own takes terp's again.",
        completes="environment.attachable",
    ),
    SlashCommand(
        "python", "[PATH|own]", "show the Python that runs the code, or change it", "Code",
        "environment.python",
        "PATH is a Python or the folder of an environment, own is the Python that terp has itself. The "
        "kernel restarts in it, so its variables are gone. Without ipykernel there, terp's is used "
        "beside it, or you are asked.",
    ),
    SlashCommand(
        "install", "PACKAGES", "install packages for the Python code", "Code", "environment.install",
        "By uv or pip, into the environment of the kernel; names or requirements such as 'pandas>=2'. "
        "Packages that come without a wheel are not built.",
    ),
    SlashCommand(
        "out", "[N]", "show the full output of a run", "Code", "code.out",
        "In your pager ($PAGER). Without N the runs are listed with their numbers. Code of the kernel reads "
        "the same with out[N].",
        completes="code.run_numbers", shows=True,
    ),
    SlashCommand(
        "code", "[N]", "show all code of a run", "Code", "code.code",
        "In your pager ($PAGER). Without N it is the last code, also while you are asked about it.",
        completes="code.run_numbers", shows=True,
    ),
    SlashCommand(
        "bg", "", "move the running code to the background", "Code", "code.detach",
        "For code that takes long: the model continues meanwhile. Its result is shown, and sent to "
        "the model, when it has ended. Until then its kernel takes no other code; the model waits if it has "
        "more for it. Ctrl+B on an empty line does the same; background_after_s lets it happen by itself. "
        "Ctrl-C stops the turn and no job.",
        at_once=True,
    ),
    SlashCommand(
        "jobs", "[N|stop N]", "list background jobs, show or stop one", "Code",
        "code.jobs",
        "With N it shows the end of what job N has put out so far; stop N interrupts it, and its variables "
        "stay.",
        completes="code.job_arguments", at_once=True,
    ),
    SlashCommand(
        "open", "[N|PATH]", "open a page or a picture outside the terminal", "Code", "code.open_shown",
        "The last one that was shown, that of run N, or a file. A page goes to $BROWSER where that is set, "
        "all else to what the desktop has for it (xdg-open, open).",
        completes="code.runs_with_pictures", shows=True,
    ),
    SlashCommand(
        "edit", "[N]", "bring code back to the input line", "Code", "code.edit",
        "The last piece of code, or that of run N, as a line of >>> or !: change it and enter it, and it "
        "runs without the model. Ctrl+X Ctrl+E opens it in your editor.",
        completes="code.run_numbers",
    ),
    SlashCommand(
        "restart", "[LANGUAGE]", "restart the kernel", "Code", "code.restart",
        "Variables and imports are gone; files and the conversation stay.",
        completes="code.languages",
    ),
    SlashCommand(
        "allow", "PATH|network", "let confined code write there, or use the network", "Code",
        "switches.allow",
        "Until the session ends. A running kernel must restart for it; you are asked.",
    ),
    SlashCommand(
        "sessions", "", "list the earlier sessions of this directory", "Session",
        "conversation.sessions", shows=True,
    ),
    SlashCommand(
        "resume", "[ID]", "resume an earlier session", "Session", "conversation.resume",
        "Without an ID those of this directory are listed; a number of the list or the beginning of an ID is "
        "enough. You are asked before a kernel with variables ends.",
        completes="conversation.session_ids",
    ),
    SlashCommand(
        "fork", "", "keep the conversation as it is now as another session", "Session", "conversation.fork",
        "This session continues; the copy can be resumed.",
    ),
    SlashCommand(
        "export", "FORMAT [PATH]", "write the session to a file", "Session", "files.export",
        "FORMAT is ipynb (a notebook with outputs and pictures, which runs again), py (a script of # %% "
        "cells with its dependencies), md (a transcript, pictures beside it) or html (one file that opens "
        "anywhere). A file that exists is never overwritten. Secrets are taken out.",
        completes="files.formats",
    ),
    SlashCommand(
        "save", "FILE [NAME…]", "write the code that made something as a notebook or a script", "Session",
        "files.save",
        "FILE ends in .ipynb or .py. Kept are the runs that made the variables, as /why NAME shows them, or "
        "without a NAME what the last output came from, and the packages it needs (PEP 723). It runs once "
        "in a new kernel, after a question where that touches more than the kernel, and is said to "
        "reproduce, or what differs.",
    ),
    SlashCommand("jupyter", "[PATH]", "write the session as a notebook", "Session", "files.jupyter"),
    SlashCommand("markdown", "[PATH]", "write the session as Markdown", "Session", "files.markdown"),
    SlashCommand(
        "save_message", "[PATH]", "write the conversation as JSON", "Session", "files.save_message",
        "In the form of Open Interpreter, which reads it as well. Without PATH it is messages.json.",
    ),
    SlashCommand(
        "load_message", "[PATH]", "continue a conversation from such a file", "Session",
        "files.load_message",
        "It takes the place of this one. Code in it is not run.",
    ),
    SlashCommand(
        "settings", "[NAME]", "show settings, and where they came from", "terp", "status.settings",
        completes="status.setting_names", shows=True,
    ),
    SlashCommand(
        "profile", "[NAME]", "show the profile in use, or take another one", "terp",
        "switches.use_profile",
        "With NAME its settings count from now on, below flags and variables, and the changes are shown. "
        "The conversation stays; a kernel restarts only if it must, after a question.",
        completes="switches.profile_names",
    ),
    SlashCommand(
        "trust", "", "show what this project would change, and trust it or not", "terp",
        "environment.trust",
        "Settings, instructions, tools and the Python of a project count once you trust its files as they "
        "are. Here settings and instructions count at once, tools and a Python from the next start on; "
        "terp trust does the same outside of a session.",
    ),
    SlashCommand(
        "clear", "", "clear the screen", "terp", "switches.clear",
        "Ctrl+L does the same. The conversation and the variables stay; /reset begins a new conversation.",
        shows=True,
    ),
    SlashCommand(
        "verbose", "[on|off]", "show tracebacks whole, or short again", "terp", "switches.verbose",
        "Without an argument it is the other way than now.",
        completes="switches.words",
    ),
    SlashCommand(
        "debug", "[on|off]", "show what failed behind an error, or not", "terp", "switches.debug",
        "Without an argument it is the other way than now.",
        completes="switches.words",
    ),
    SlashCommand(
        "info", "", "versions, model, kernels and files of this session", "terp",
        "status.info", shows=True,
    ),
    SlashCommand("doctor", "", "list problems and their remedies", "terp", "status.doctor", shows=True),
    SlashCommand(
        "help", "[NAME]", "list commands, or show more about one", "terp", "help.show",
        completes="help.names", shows=True,
    ),
    SlashCommand("quit", "", "leave", "terp", "status.leave", aliases=("exit",)),
)  # fmt: skip
