"""The table of all commands."""

from collections.abc import Sequence

from terp_cli.line.subcommands import EXPORTS
from terp_cli.repl.commands.table import Commands, SlashCommand


def all_commands(own: Sequence[SlashCommand] = ()) -> Commands:
    """Return the commands of terp, and the user's `own`, for lookup by name."""
    return Commands((*own, *TABLE))


TABLE = (
    SlashCommand(
        "undo", "", "forget the last turn", "Conversation", "conversation.undo",
        "Removes the last turn from the conversation: your message, the replies, and the results of code. "
        "Changes of the code to variables and files stay; /rewind undoes those too.",
    ),
    SlashCommand(
        "retry", "", "send the last message again", "Conversation", "conversation.retry",
        "Removes the last turn first, as /undo does.",
    ),
    SlashCommand(
        "rewind", "[N [chat]]", "undo turns with their changes", "Conversation", "conversation.rewind",
        "Without N you pick the turn, as with Esc Esc. It removes that turn and all later ones from the "
        "conversation, and puts its message on the input line. It restores Python's variables, also changed "
        "parts of them, and removes new ones. It restores files that the code wrote, after a question, and "
        "names what cannot be restored. With chat, variables and files stay as they are.",
        completes="conversation.turn_numbers",
    ),
    SlashCommand(
        "reset", "", "begin a new conversation", "Conversation", "conversation.reset",
        "Variables in the kernel stay. The former conversation stays a session, which /resume and terp "
        "sessions list. Ctrl+L clears only the screen.", aliases=("clear",),
    ),
    SlashCommand(
        "compact", "[FOCUS|undo]", "replace earlier turns by a summary", "Conversation",
        "conversation.compact",
        "The model writes a summary that replaces all turns before the last; FOCUS says what must be kept. "
        "Your own messages, the files of runs and the existing variables are kept beside it. undo restores "
        "the history before the last compaction, also an automatic one.",
        completes=("undo",),
    ),
    SlashCommand(
        "reasoning", "", "show what the model thought before its last answer", "Conversation",
        "conversation.reasoning", shows=True,
    ),
    SlashCommand(
        "copy", "[answer|code [N]|N]", "copy the last answer, code, or the output of a run", "Conversation",
        "code.copy",
        "Without an argument it copies the last answer; code is the last piece of code, or that of run N; a "
        "number is the full output of that run. It uses a program of this machine if there is one, else the "
        "terminal (OSC 52), which also works over SSH.",
        completes="code.copyable", shows=True,
    ),
    SlashCommand(
        "tokens", "[PROMPT]", "estimate the tokens of the next request", "Conversation", "status.tokens",
        "It counts the whole request: system prompt, tools and conversation, and PROMPT if it is given. The "
        "estimate is corrected by what the provider counted before.", shows=True,
    ),
    SlashCommand(
        "cost", "", "show the cost of the turn, the session and the profile", "Conversation", "status.cost",
        "All requests count, also for summaries and explanations, and those before a session was resumed. "
        "The costs of the profile are those of all its sessions in this month; terp cost shows more.",
        shows=True,
    ),
    SlashCommand(
        "model", "[NAME]", "pick another model, or name it", "Conversation", "switches.model",
        "NAME is provider/model, as for terp --model. The conversation stays. The list has the models of the "
        "provider and of local servers, those that you used before, and those of your profiles.",
        completes="switches.known_models",
    ),
    SlashCommand(
        "auto_run", "[on|off]", "run code without asking, or ask again", "Code", "switches.auto_run",
        "Without an argument it shows the state and offers to change it. It names the sandbox of the code; "
        "without a sandbox, code that runs without asking can do whatever you can do.",
        completes=("on", "off"),
    ),
    SlashCommand(
        "approve", "[before|effect|never]", "ask before code runs, at its effects, or never", "Code",
        "switches.approve",
        "With effect, code starts at once; when it is about to change, delete or send something, it pauses "
        "and you are asked about that. New files in the working directory are free. Linux, in a sandbox.",
        completes=("before", "effect", "never"),
    ),
    SlashCommand(
        "plan", "[TASK|off]", "let the model read and compute only, and answer with a plan", "Code",
        "switches.plan",
        "Changes of files, deletions and the network are refused, also to what you type: when they happen, "
        "where effects are held (see /approve effect); else code that is expected to do so is declined, and "
        "you are asked about code of which that cannot be told. /go or /plan off ends planning.",
        completes=("off",),
    ),
    SlashCommand(
        "go", "[WORDS]", "end planning, and have the plan carried out", "Code", "switches.go",
        "WORDS are added to the message, for example: only steps 1 and 2.",
    ),
    SlashCommand(
        "until", "[CHECK|off]", "repeat turns until a check passes", "Code", "switches.set_check",
        "CHECK is a shell command (pytest -q), or py: and a Python expression (py: shop.total([1]) == 1). "
        "It runs after each answer, in a copy of the project with the tests as they are now. If it fails, "
        "its output goes back to the model, at most max_revisions times. Without an argument it shows the "
        "check; off removes it.",
        completes=("off",),
    ),
    SlashCommand(
        "watch", "[CONDITION|off]", "stop the turn when a run breaks a condition", "Code", "switches.watch",
        "CONDITION is a Python expression on variables (df.isna().mean().max() < 0.01, or len(df) > 700). It "
        "is evaluated now, and in the kernel after each run of Python. When a run breaks it, the turn stops "
        "and the model reads why. Without an argument it lists the conditions; off ends them.",
        completes=("off",),
    ),
    SlashCommand(
        "rules", "", "list the rules that allow, ask about or deny code", "Code", "switches.show_rules",
        "Rules of your settings, and those that you added with r at a question. terp docs rules shows how "
        "to write them; terp rules test CODE shows their decision about a piece of code.",
        shows=True,
    ),
    SlashCommand(
        "vars", "[LANGUAGE|NAME]", "list the variables of the kernels", "Code", "code.variables",
        "Name, type, shape, size and the beginning of the value. LANGUAGE limits the list to its kernel, "
        "NAME those whose names contain it.",
        completes="code.started_languages", shows=True,
    ),
    SlashCommand(
        "why", "NAME", "show the code that has made a value", "Code", "files.why",
        "It shows only the runs that the variable depends on, in order, each with the names that it made. "
        "Code that cannot be analysed, such as shell commands, is included and marked. /save FILE NAME "
        "writes these runs to a file.",
        shows=True,
    ),
    SlashCommand(
        "languages", "", "list the languages that run here", "Code", "code.which_languages",
        "With the command that installs each missing one.",
    ),
    SlashCommand(
        "tools", "", "list the functions that the model can call in the Python kernel", "Code",
        "code.which_tools",
        "With arguments and source of each; for a tool that cannot work here, with what is missing.",
    ),
    SlashCommand(
        "skills", "", "list the skills whose instructions the model can read", "Code", "code.which_skills",
        "With the description of each, and its folder. terp skills check finds mistakes in them.",
    ),
    SlashCommand(
        "mcp", "[NAME|restart NAME]", "list the MCP servers and their states", "Code",
        "environment.mcp",
        "NAME lists the functions of that server, and the file with its stderr; restart NAME restarts it.",
        completes="environment.server_names",
    ),
    SlashCommand(
        "attach", "[FILE|NAME|own]", "share this kernel, or use a kernel of Jupyter or VS Code", "Code",
        "environment.attach",
        "Without an argument it shows how other programs can use this session's kernel. FILE is the "
        "connection file of a running kernel; NAME is its id, its notebook or newest. That kernel replaces "
        "terp's kernel of its language, whose variables are lost, and it keeps running when you leave. own "
        "returns to a kernel of terp.",
        completes="environment.attachable",
    ),
    SlashCommand(
        "python", "[PATH|own]", "show the Python that runs the code, or change it", "Code",
        "environment.python",
        "PATH is a Python or the folder of an environment; own is terp's own Python. The kernel restarts, "
        "so its variables are lost. If that Python has no ipykernel, it gets terp's own, or terp asks "
        "before it installs one.",
    ),
    SlashCommand(
        "install", "PACKAGES", "install packages for the Python code", "Code", "environment.install",
        "Uses uv or pip and installs into the environment of the kernel. PACKAGES are names or requirements "
        "such as 'pandas>=2'. Packages without a wheel are not built.",
    ),
    SlashCommand(
        "out", "[N]", "show the full output of a run", "Code", "code.out",
        "In your pager ($PAGER). Without N you pick the run. Code in the kernel reads "
        "the same with out[N].",
        completes="code.run_numbers", shows=True,
    ),
    SlashCommand(
        "code", "[N]", "show all code of a run", "Code", "code.code",
        "In your pager ($PAGER). Without N it shows the last code, also while you are asked about it.",
        completes="code.run_numbers", shows=True,
    ),
    SlashCommand(
        "effects", "[N]", "show what a run changed, sent and started", "Code", "code.effects",
        "As the system reported it, one line each, where effects are held (/approve effect).",
        completes="code.run_numbers", shows=True,
    ),
    SlashCommand(
        "diff", "[N|NAME]", "show what a run changed in text files, or in a variable", "Code", "code.diff",
        "NAME is a variable: its changes by run, and the rows and cells of a small table of pandas that the "
        "last one changed. Without N, for the last run that changed a file. Compared are files that Python "
        "writes or the code names, and with /approve effect all; a file that is no text, or large, is named "
        "with its size.",
        completes="code.changeable", shows=True,
    ),
    SlashCommand(
        "bg", "", "move the running code to the background", "Code", "code.detach",
        "The model continues meanwhile. The result is shown, and sent to the model, when the code has "
        "ended. Until then its kernel takes no other code. Ctrl+B on an empty line does the same, and "
        "background_after_s does it automatically. Ctrl-C stops the turn and no job.",
        at_once=True,
    ),
    SlashCommand(
        "detach", "", "leave this window; the session, its kernel and its code continue", "Session",
        "environment.detach",
        "For a session of terp --detach. terp attach last shows it again, on any terminal of this machine; "
        "Ctrl+Z and closing the window do the same.",
        at_once=True,
    ),
    SlashCommand(
        "jobs", "[N|stop N]", "list background jobs, show or stop one", "Code",
        "code.jobs",
        "N shows the last output of job N so far; stop N interrupts it, and its variables stay.",
        completes="code.job_arguments", at_once=True,
    ),
    SlashCommand(
        "open", "[N|PATH]", "open a page or a picture outside the terminal", "Code", "code.open_shown",
        "The last one that was shown, that of run N, or a file. Pages open in $BROWSER if it is set; "
        "everything else opens in the desktop's viewer (xdg-open, open).",
        completes="code.runs_with_pictures", shows=True,
    ),
    SlashCommand(
        "edit", "[N]", "put code back on the input line", "Code", "code.edit",
        "The last piece of code, or that of run N, as a line of >>> or !. Change it and press Enter: it "
        "runs without the model. Ctrl+X Ctrl+E opens it in your editor.",
        completes="code.run_numbers",
    ),
    SlashCommand(
        "restart", "[LANGUAGE]", "restart the kernel", "Code", "code.restart",
        "Variables and imports are lost; files and the conversation stay.",
        completes="code.languages",
    ),
    SlashCommand(
        "allow", "PATH|network", "allow sandboxed code to write there, or to use the network", "Code",
        "switches.allow",
        "It holds until the session ends. A running kernel must restart for it; you are asked.",
    ),
    SlashCommand(
        "resume", "[ID]", "resume an earlier session", "Session", "conversation.resume",
        "Without an ID you pick one of the sessions of this directory; the beginning of an ID is enough. It "
        "asks before it ends a kernel with variables.",
        aliases=("sessions",), completes="conversation.session_ids",
    ),
    SlashCommand(
        "checkpoint", "[NAME|load [NAME]|drop NAME|list]", "keep the variables of Python on disk", "Session",
        "conversation.checkpoint",
        "Without NAME it is called last. terp -c and /resume offer the newest; load binds its names in this "
        "kernel, and each value is read when code first mentions it. It names what is not kept: open files, "
        "connections, generators, threads, and secrets. With checkpoint: auto one is saved after each turn.",
        completes=("drop", "list", "load"),
    ),
    SlashCommand(
        "rename", "TITLE", "give this session a title", "Session", "conversation.rename",
        "Lists of sessions show it. Without a title of yours, the model writes one after the first exchange "
        "if that costs at most 0.1 cent, or a server of this machine does it (titles: auto); else it is your "
        "first words.",
    ),
    SlashCommand(
        "fork", "", "save a copy of the conversation as another session", "Session", "conversation.fork",
        "This session continues; the copy can be resumed.",
    ),
    SlashCommand(
        "export", "FORMAT [PATH]", "write the session to a file", "Session", "files.export",
        "FORMAT is ipynb (a notebook with outputs and pictures, which runs again), py (a script of # %% "
        "cells with its dependencies), md (a transcript, with pictures beside it) or html (one page that "
        "opens anywhere). An existing file is never overwritten. Secrets are redacted.",
        completes=EXPORTS,
    ),
    SlashCommand(
        "save", "FILE [NAME…]", "write the code of a value as notebook or script", "Session",
        "files.save",
        "FILE ends in .ipynb or .py. It has the runs that made the variables, as /why NAME shows them, or "
        "without a NAME those that the last output depends on, and the packages that it needs (PEP 723). It "
        "runs once in a new kernel, after a question if it does more than compute; then terp says that it "
        "reproduces, or what differs.",
    ),
    SlashCommand(
        "jupyter", "[PATH]", "the same as /export ipynb", "Session", "files.jupyter", listed=False
    ),
    SlashCommand(
        "markdown", "[PATH]", "the same as /export md", "Session", "files.markdown", listed=False
    ),
    SlashCommand(
        "save_message", "[PATH]", "write the conversation as JSON", "Session", "files.save_message",
        "In the form of Open Interpreter, which can read it. Without PATH the file is messages.json.",
        listed=False,
    ),
    SlashCommand(
        "load_message", "[PATH]", "continue a conversation from a JSON file", "Session",
        "files.load_message",
        "A file of /save_message or Open Interpreter. It replaces this conversation; its code does not run.",
    ),
    SlashCommand(
        "settings", "[NAME VALUE]", "show settings and their sources, or set one", "terp",
        "status.settings",
        "Without NAME it shows what differs from the built-in values, with all every setting. A VALUE holds "
        "until the session ends.",
        completes="status.setting_names",
    ),
    SlashCommand(
        "profile", "[NAME]", "pick another profile, or name it", "terp",
        "switches.use_profile",
        "The settings of NAME apply now, except where a flag or a variable is set. It shows the changes. "
        "The conversation stays; a kernel restarts only if it must, after a question.",
        completes="switches.profile_names",
    ),
    SlashCommand(
        "init", "", "let the model write an AGENTS.md for this folder", "terp", "files.init",
        "It looks at the folder, and proposes the file, or changes to the one that is there, as a diff that "
        "you are asked about. Later sessions here read it once you trust the folder.",
    ),
    SlashCommand(
        "trust", "", "show what this project would change, and trust it or not", "terp",
        "environment.trust",
        "Settings, instructions, tools and the Python of a project count after you trust its files as they "
        "are. Settings and instructions count at once, tools and a Python from the next start. terp trust "
        "does the same outside a session.",
    ),
    SlashCommand(
        "verbose", "[on|off]", "show whole tracebacks, or short ones", "terp", "switches.verbose",
        "Without an argument it switches.",
        completes=("on", "off"),
    ),
    SlashCommand(
        "debug", "[on|off]", "show the causes of errors, or not", "terp", "switches.debug",
        "Without an argument it switches.",
        completes=("on", "off"),
    ),
    SlashCommand(
        "info", "", "show versions, model, kernels and files of this session", "terp",
        "status.info", shows=True,
    ),
    SlashCommand("doctor", "", "list problems and their remedies", "terp", "status.doctor", shows=True),
    SlashCommand(
        "help", "[NAME|all]", "show the first commands, all, or more about one", "terp", "help.show",
        completes="help.names", shows=True,
    ),
    SlashCommand("quit", "", "leave terp", "terp", "status.leave", aliases=("exit",)),
)  # fmt: skip
