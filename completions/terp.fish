# Completion of terp in fish. Written by python -m terp_cli.shells; edit the tables it is made from.

function __terp_profiles
    set -l own $HOME/.config
    set -q XDG_CONFIG_HOME; and test -n "$XDG_CONFIG_HOME"; and set own $XDG_CONFIG_HOME
    set own $own/terp
    set -q TERP_HOME; and test -n "$TERP_HOME"; and set own $TERP_HOME
    printf '%s\n' careful data default demo explain fast local shell solve vision
    for file in $own/profiles/*.yaml $own/profiles/*.yml
        string replace -r '.*/(.*)\.ya?ml$' '$1' -- $file
    end
end

function __terp_sessions
    set -l kept $HOME/.local/state
    set -q XDG_STATE_HOME; and test -n "$XDG_STATE_HOME"; and set kept $XDG_STATE_HOME
    set kept $kept/terp
    set -q TERP_HOME; and test -n "$TERP_HOME"; and set kept $TERP_HOME
    for log in $kept/sessions/*/events.jsonl
        string replace -r '.*/(.*)/events.jsonl$' '$1' -- $log
    end
end

# Whether these words, and no others, stand before the cursor.
function __terp_after
    test (string join ' ' -- (commandline -opc)) = "$argv"
end

function __terp_directories
    # fish's own function takes --flag= for a part of the path.
    __fish_complete_directories (commandline -ct | string replace -r '^--[^=]*=' '')
end

complete -c terp -n '__terp_after terp' -a run -d 'run code in the kernel, without a model'
complete -c terp -n '__terp_after terp' -a attach -d 'talk in a running kernel of Jupyter or VS Code'
complete -c terp -n '__terp_after terp' -a demo -d 'a tour without key or network'
complete -c terp -n '__terp_after terp' -a doctor -d 'what is here, what is wrong, and what to do about it'
complete -c terp -n '__terp_after terp' -a languages -d 'which languages run here, and how to get the others'
complete -c terp -n '__terp_after terp' -a tools -d 'which functions the model can call'
complete -c terp -n '__terp_after terp' -a mcp -d 'which MCP servers there are, and what they offer'
complete -c terp -n '__terp_after terp' -a profiles -d 'named sets of settings: list, show, new, edit, …'
complete -c terp -n '__terp_after terp' -a trust -d 'let the files of a project count, or not'
complete -c terp -n '__terp_after terp' -a keys -d 'the keys of providers: list, set, delete'
complete -c terp -n '__terp_after terp' -a sessions -d 'earlier conversations: list, show, search, rm, …'
complete -c terp -n '__terp_after terp' -a export -d 'write a session as ipynb, py, md, html'
complete -c terp -n '__terp_after terp' -a serve -d 'sessions over HTTP and WebSocket'
complete -c terp -n '__terp_after terp' -a completions -d 'what bash, zsh, fish need to complete flags'
complete -c terp -n '__terp_after terp completions' -x -a 'bash zsh fish'
complete -c terp -n '__terp_after terp sessions' -x -a 'list show search rm prune import'
complete -c terp -n '__terp_after terp profiles' -x -a 'list show new edit validate diff path import'
complete -c terp -n '__terp_after terp trust' -x -a 'ask show yes no list remove'
complete -c terp -n '__terp_after terp keys' -x -a 'list set delete'
complete -c terp -n '__terp_after terp export' -x -a 'ipynb py md html'
complete -c terp -n '__terp_after terp export ipynb' -x -a '(__terp_sessions)'
complete -c terp -n '__terp_after terp export py' -x -a '(__terp_sessions)'
complete -c terp -n '__terp_after terp export md' -x -a '(__terp_sessions)'
complete -c terp -n '__terp_after terp export html' -x -a '(__terp_sessions)'
complete -c terp -n '__terp_after terp sessions show' -x -a '(__terp_sessions)'
complete -c terp -n '__terp_after terp sessions rm' -x -a '(__terp_sessions)'
complete -c terp -n '__terp_after terp profiles show' -a '(__terp_profiles)'
complete -c terp -n '__terp_after terp profiles edit' -a '(__terp_profiles)'
complete -c terp -n '__terp_after terp profiles validate' -a '(__terp_profiles)'
complete -c terp -n '__terp_after terp profiles diff' -a '(__terp_profiles)'
complete -c terp -n '__terp_after terp profiles path' -a '(__terp_profiles)'
complete -c terp -n '__terp_after terp keys set' -x -a 'anthropic azure azure_ai brave cerebras cohere_chat dashscope deepseek fireworks_ai gemini groq huggingface jan mistral moonshot novita nvidia_nim openai openrouter perplexity tavily together_ai vercel_ai_gateway xai zai'
complete -c terp -n '__terp_after terp keys delete' -x -a 'anthropic azure azure_ai brave cerebras cohere_chat dashscope deepseek fireworks_ai gemini groq huggingface jan mistral moonshot novita nvidia_nim openai openrouter perplexity tavily together_ai vercel_ai_gateway xai zai'
complete -c terp -l model -s m -x -d 'the model, as PROVIDER/NAME'
complete -c terp -l discover -x -a 'any local' -d 'where a model is looked for when none is named: keys first, or this machine alone'
complete -c terp -l fallback-models -x -d 'models that are asked in turn when the one before cannot be reached'
complete -c terp -l adapter -x -a 'auto direct litellm' -d 'how the model is reached'
complete -c terp -l api-base -o ab -x -d 'address of an OpenAI-compatible server'
complete -c terp -l api-version -o av -x -d 'version of the API, where a provider wants one'
complete -c terp -l api-key-env -x -d 'the variable that holds the key'
complete -c terp -l temperature -s t -x -d 'how freely the model words its replies'
complete -c terp -l max-tokens -s x -x -d 'length of one reply'
complete -c terp -l context-window -o cw -x -d 'what the model can read at once'
complete -c terp -l supports-tools -d 'whether the model can call tools; without, it writes fenced code'
complete -c terp -l no-supports-tools -d 'the same as --supports-tools=off'
complete -c terp -l supports-vision -d 'whether the model can see images'
complete -c terp -l no-supports-vision -d 'the same as --supports-vision=off'
complete -c terp -l reasoning-effort -x -a 'none minimal low medium high' -d 'how much a reasoning model thinks'
complete -c terp -l timeout-s -x -d 'silence of the model after which a request fails'
complete -c terp -l retries -x -d 'how often a failed request is sent again'
complete -c terp -l system-message -o sm -x -d 'the whole system prompt, in place of terp\'s own'
complete -c terp -l instructions -l custom-instructions -o ci -x -d 'your own instructions, added to the system prompt'
complete -c terp -l max-steps -x -d 'model replies in one turn before it stops'
complete -c terp -l max-budget -l max-budget-usd -s b -x -d 'what a session may cost'
complete -c terp -l max-output -l max-output-chars -o xo -x -d 'output of a run that the model reads; head and tail are kept'
complete -c terp -l session-quota-mb -x -d 'disk space for stored sessions; beyond it the oldest are removed'
complete -c terp -l code -d 'the model may write code to run; without it, it can only talk'
complete -c terp -l no-code -d 'the same as --code=off'
complete -c terp -l auto-run -s y -d 'run code without asking'
complete -c terp -l no-auto-run -d 'the same as --auto-run=off'
complete -c terp -l python -r -F -d 'the Python that runs the code'
complete -c terp -l shell -r -F -d 'the shell that runs shell code: a bash or a zsh'
complete -c terp -l languages -x -d 'the languages that code may be in, the default first'
complete -c terp -l packages -x -d 'packages that must be there before the first Python code runs'
complete -c terp -l auto-install -x -a 'never ask known always' -d 'whether a package that code imports is installed: those that terp knows, or any'
complete -c terp -l attach -r -F -d 'a running kernel of somebody else: its connection file, id or notebook, or newest'
complete -c terp -l kernel-provisioner -x -d 'the kernel provisioner of Jupyter that starts kernels of Python and of kernelspecs'
complete -c terp -l kernel-provisioner-config -x -d 'what it is configured with'
complete -c terp -l run-timeout -l run-timeout-s -x -d 'seconds after which a run is interrupted'
complete -c terp -l env-pass -x -d 'variables that the code may see, besides the harmless ones'
complete -c terp -l gateway -l gateway-url -x -d 'run code behind this Jupyter Server, Kernel Gateway or Enterprise Gateway'
complete -c terp -l gateway-token-env -x -d 'the variable that holds the gateway\'s token'
complete -c terp -l gateway-token-file -r -F -d 'the file that holds it instead'
complete -c terp -l gateway-keep -d 'leave kernels at the gateway when the session ends; -c finds them again'
complete -c terp -l no-gateway-keep -d 'the same as --gateway-keep=off'
complete -c terp -l tools -x -d 'files that declare tools: .py, .yaml, .json'
complete -c terp -l search-provider -x -a 'searxng brave tavily' -d 'who searches the web'
complete -c terp -l search-url -x -d 'address of a SearXNG server, or of another provider'
complete -c terp -l sandbox -x -a 'auto off workspace strict docker' -d 'what holds the code back: auto confines it when it runs unasked'
complete -c terp -l sandbox-required -d 'run no code where no sandbox works, instead of saying so'
complete -c terp -l no-sandbox-required -d 'the same as --sandbox-required=off'
complete -c terp -l net -l network -d 'whether confined code has the network; --no-net closes it'
complete -c terp -l no-network -d 'the same as --net=off'
complete -c terp -l memory-limit-mb -x -d 'memory of each process of the code'
complete -c terp -l max-processes -x -d 'processes and threads of yours while code runs; does not bind root'
complete -c terp -l max-file-mb -x -d 'size of a file that the code writes'
complete -c terp -l docker-image -x -d 'for docker: an image with Python and ipykernel'
complete -c terp -l theme -x -a 'auto dark light none' -d 'the ground that colours must be readable on'
complete -c terp -l images -x -a 'auto off kitty iterm sixel blocks' -d 'how pictures are drawn; their files are named in any case'
complete -c terp -l vi -l vi-mode -d 'edit the line with the keys of vi instead of Emacs'
complete -c terp -l no-vi-mode -d 'the same as --vi=off'
complete -c terp -l screen-reader -d 'whole labelled lines to be read aloud; nothing is redrawn'
complete -c terp -l no-screen-reader -d 'the same as --screen-reader=off'
complete -c terp -l notify -x -a 'auto off bell osc9 osc99 osc777' -d 'how the terminal tells that a turn of over 10 s is done, or asks, while you are away'
complete -c terp -l record -r -F -d 'write the model\'s replies to a file'
complete -c terp -l replay -r -F -d 'answer from such a file instead of a model'
complete -c terp -l replay-mode -x -a 'strict new sequence' -d 'a request that is not in the file: fails, is sent and added, or gets the next reply'
complete -c terp -l profile -s p -r -a '(__terp_profiles)' -d 'a profile by name, or a file'
complete -c terp -l file -s f -r -F -d 'attach a file, or what an address names; may be repeated'
complete -c terp -l out -s o -x -a '(__terp_directories)' -d 'collect the files and images of the run'
complete -c terp -l emit -x -d 'write a variable of the code to stdout instead of the answer'
complete -c terp -l cwd -x -a '(__terp_directories)' -d 'work in this directory'
complete -c terp -l interactive -s i -d 'stay in the prompt after the answer'
complete -c terp -l continue -s c -d 'go on with the last session of this directory'
complete -c terp -l resume -s r -x -a '(__terp_sessions)' -d 'go on with a session: this one, or one to be chosen'
complete -c terp -l rerun -d 'with -c or -r: first run the code of the session again'
complete -c terp -l output-format -x -a 'text json stream-json' -d 'what stdout carries'
complete -c terp -l timeout -x -d 'end the whole command after so long'
complete -c terp -l quiet -s q -d 'the answer and errors only'
complete -c terp -l verbose -s v -d 'more of what happens'
complete -c terp -l debug -d 'tracebacks of failures'
complete -c terp -l plain -o pl -d 'no colours, no redrawing'
complete -c terp -l api-key -o ak -x -d 'the key itself; other users of the machine can read it'
complete -c terp -l all -d 'for `terp sessions`: those of all directories'
complete -c terp -l server -d 'serve sessions over HTTP and WebSocket; the same as `terp serve`'
complete -c terp -l host -x -d 'for the server: the address it listens on'
complete -c terp -l port -x -d 'for the server: its port; 0 takes a free one'
complete -c terp -l allow-remote -d 'for the server: --host may be an address that others can reach'
complete -c terp -l max-sessions -x -d 'for the server: sessions open at a time'
complete -c terp -l idle-timeout -x -d 'for the server: rest after which kernels are closed'
complete -c terp -l language -s l -x -d 'for `terp run`: the language of the code'
complete -c terp -l help -s h -d 'show this help'
complete -c terp -l version -s V -d 'show the version'
complete -c terp -o lsv -l llm-supports-vision -l vision -d 'whether the model can see images'
complete -c terp -o nlsv -l no-llm-supports-vision -d 'the same as --supports-vision=off'
complete -c terp -o lsf -l llm-supports-functions -d 'whether the model can call tools; without, it writes fenced code'
complete -c terp -o nlsf -l no-llm-supports-functions -d 'the same as --supports-tools=off'
complete -c terp -l fast -d 'the same as --profile=fast'
complete -c terp -l local -d 'the same as --profile=local'
complete -c terp -l conversations -d 'the same as --resume=off'
complete -c terp -l no-net -d 'the same as --net=off'
complete -c terp -l json -d 'the same as --output-format=json'
