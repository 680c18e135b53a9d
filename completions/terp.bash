# Completion of terp in bash. Written by python -m terp_cli.generate.shells from terp_cli.line: edit that.

_terp() {
    local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} word words=()
    local own=${TERP_HOME:-${XDG_CONFIG_HOME:-$HOME/.config}/terp}/profiles
    local kept=${TERP_HOME:-${XDG_STATE_HOME:-$HOME/.local/state}/terp}/sessions
    COMPREPLY=()
    # Readline takes the colon of NAME:FORM as a word.
    if [[ ${COMP_LINE:0:COMP_POINT} =~ --emit[=[:space:]][A-Za-z0-9_]+:([a-z]*)$ ]]; then
        COMPREPLY=($(compgen -W "csv json parquet png md txt" -- "${BASH_REMATCH[1]}"))
        return
    fi
    # Readline takes the sign of --flag=value as a word.
    if [[ $now == = ]]; then
        now=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    # Without words of ours, readline completes file names. The bash of macOS lacks compopt, and does always.
    case $before in
        --profile | -p)
            words=(careful data default demo explain fast local shell solve vision)
            for word in "$own"/*.yaml "$own"/*.yml; do
                [[ -f $word ]] && word=${word##*/} && words+=("${word%.*}")
            done
            ;;
        --resume | -r) compopt +o default 2>/dev/null
            for word in "$kept"/*/events.jsonl; do
                [[ -f $word ]] && word=${word%/*} && words+=("${word##*/}")
            done
            ;;
        --model | -m) compopt +o default 2>/dev/null; words=(anthropic/claude-sonnet-5-5 openai/gpt-5.6 gemini/gemini-pro-latest openrouter/anthropic/claude-sonnet-5.5 mistral/mistral-large-latest xai/grok-4.7 deepseek/deepseek-v4-pro groq/openai/gpt-oss-120b cerebras/gpt-oss-120b) ;;
        --discover) compopt +o default 2>/dev/null; words=(any local) ;;
        --adapter) compopt +o default 2>/dev/null; words=(auto direct litellm) ;;
        --reasoning-effort) compopt +o default 2>/dev/null; words=(none minimal low medium high) ;;
        --approve) compopt +o default 2>/dev/null; words=(before effect never) ;;
        --auto-install) compopt +o default 2>/dev/null; words=(never ask known always) ;;
        --search-provider) compopt +o default 2>/dev/null; words=(searxng brave tavily) ;;
        --sandbox) compopt +o default 2>/dev/null; words=(auto off workspace strict docker) ;;
        --theme) compopt +o default 2>/dev/null; words=(auto dark light none) ;;
        --images) compopt +o default 2>/dev/null; words=(auto off kitty iterm sixel blocks) ;;
        --titles) compopt +o default 2>/dev/null; words=(auto off) ;;
        --notify) compopt +o default 2>/dev/null; words=(auto off bell osc9 osc99 osc777) ;;
        --replay-mode) compopt +o default 2>/dev/null; words=(strict new sequence) ;;
        --output-format) compopt +o default 2>/dev/null; words=(text json stream-json) ;;
        --language | -l) compopt +o default 2>/dev/null; words=(python shell javascript typescript r julia ruby perl lua php c applescript powershell go rust c++ c# java kotlin sql html react) ;;
        --python | --shell | --attach | --gateway-token-file | --record | --replay | --file | -f) ;;
        --out | -o | --cwd) compopt +o default -o dirnames 2>/dev/null ;;
        --fallback-models | --api-base | -ab | --api-version | -av | --api-key-env | --temperature | -t | --max-tokens | -x | --context-window | -cw | --compact-at | --input-price | --output-price | --timeout-s | --retries | --system-message | -sm | --instructions | --custom-instructions | -ci | --max-steps | --max-budget | --max-budget-usd | -b | --max-turn-usd | --max-month-usd | --max-output | --max-output-chars | -xo | --checkpoint | --session-quota-mb | --languages | --packages | --kernel-provisioner | --kernel-provisioner-config | --run-timeout | --run-timeout-s | --background-after | --background-after-s | --until | --max-revisions | --watch-condition | --until-timeout-s | --solve-timeout-s | --until-protect | --env-pass | --gateway | --gateway-url | --gateway-token-env | --tools | --search-url | --memory-limit-mb | --max-processes | --max-file-mb | --docker-image | --allow | --ask | --deny | --timeout | --api-key | -ak | --host | --port | --max-sessions | --idle-timeout | --emit) compopt +o default 2>/dev/null ;;
        *)
            if [[ $now == -* ]]; then
                compopt +o default 2>/dev/null
                words=(
                    --model -m
                    --discover
                    --fallback-models
                    --adapter
                    --api-base -ab
                    --api-version -av
                    --api-key-env
                    --temperature -t
                    --max-tokens -x
                    --context-window -cw
                    --compact-at
                    --supports-tools
                    --no-supports-tools
                    --supports-vision
                    --no-supports-vision
                    --reasoning-effort
                    --input-price
                    --output-price
                    --timeout-s
                    --retries
                    --system-message -sm
                    --instructions --custom-instructions -ci
                    --max-steps
                    --max-budget --max-budget-usd -b
                    --max-turn-usd
                    --max-month-usd
                    --max-output --max-output-chars -xo
                    --error-values
                    --no-error-values
                    --checkpoint
                    --session-quota-mb
                    --code
                    --no-code
                    --auto-run -y
                    --no-auto-run
                    --approve
                    --python
                    --shell
                    --references
                    --no-references
                    --languages
                    --packages
                    --auto-install
                    --attach
                    --kernel-provisioner
                    --kernel-provisioner-config
                    --run-timeout --run-timeout-s
                    --background-after --background-after-s
                    --until
                    --max-revisions
                    --watch-condition
                    --until-timeout-s
                    --solve-timeout-s
                    --until-protect
                    --env-pass
                    --gateway --gateway-url
                    --gateway-token-env
                    --gateway-token-file
                    --gateway-keep
                    --no-gateway-keep
                    --tools
                    --search-provider
                    --search-url
                    --sandbox
                    --sandbox-required
                    --no-sandbox-required
                    --net --network
                    --no-network
                    --memory-limit-mb
                    --max-processes
                    --max-file-mb
                    --docker-image
                    --allow
                    --ask
                    --deny
                    --theme
                    --images
                    --vi --vi-mode
                    --no-vi-mode
                    --screen-reader
                    --no-screen-reader
                    --titles
                    --notify
                    --record
                    --replay
                    --replay-mode
                    --profile -p
                    --file -f
                    --out -o
                    --emit
                    --cwd
                    --interactive -i
                    --detach
                    --continue -c
                    --resume -r
                    --fork
                    --rerun
                    --fresh
                    --output-format
                    --timeout
                    --no-stdin -n
                    --quiet -q
                    --silent -qq
                    --verbose -v
                    --debug
                    --plain -pl
                    --api-key -ak
                    --all
                    --server
                    --host
                    --port
                    --allow-remote
                    --keep-token
                    --compat
                    --compat-unsafe
                    --max-sessions
                    --idle-timeout
                    --watch
                    --language -l
                    --help -h
                    --version -V
                    -lsv --llm-supports-vision --vision
                    -nlsv --no-llm-supports-vision
                    -lsf --llm-supports-functions
                    -nlsf --no-llm-supports-functions
                    --fast
                    --local
                    --conversations
                    --no-net
                    --json
                )
            elif ((COMP_CWORD == 1)); then
                words=(run solve attach ps demo docs doctor languages tools skills mcp mcp-server profiles trust rules keys sessions cost replay export serve acp completions)
            elif ((COMP_CWORD == 2)) && [[ $before == completions ]]; then
                words=(bash zsh fish)
            elif ((COMP_CWORD == 2)) && [[ $before == sessions ]]; then
                words=(list show search rm prune import)
            elif ((COMP_CWORD == 2)) && [[ $before == profiles ]]; then
                words=(list show new edit validate diff path import)
            elif ((COMP_CWORD == 2)) && [[ $before == skills ]]; then
                words=(list check)
            elif ((COMP_CWORD == 2)) && [[ $before == trust ]]; then
                words=(ask show yes no list remove)
            elif ((COMP_CWORD == 2)) && [[ $before == rules ]]; then
                words=(list test)
            elif ((COMP_CWORD == 2)) && [[ $before == cost ]]; then
                words=(month days all)
            elif ((COMP_CWORD == 2)) && [[ $before == ps ]]; then
                words=(list stop)
            elif ((COMP_CWORD == 2)) && [[ $before == keys ]]; then
                words=(list set delete)
            elif ((COMP_CWORD == 2)) && [[ $before == docs ]]; then
                compopt +o default 2>/dev/null; words=(approval attach background changes clusters commands context costs editors events index kernel languages library mcp mcp-server model notebook pipelines profiles prompt references replay rewind rules sandbox server sessions settings shell skills solve start stores tools trust until)
            elif ((COMP_CWORD == 2)) && [[ $before == export ]]; then
                words=(ipynb py md html)
            elif [[ "${COMP_WORDS[1]} ${COMP_WORDS[2]}" == @(sessions' 'show|sessions' 'rm) ]] ||
                { ((COMP_CWORD == 3)) && [[ ${COMP_WORDS[1]} == export ]]; } ||
                { ((COMP_CWORD == 2)) && [[ $before == replay ]]; }; then
                compopt +o default 2>/dev/null
                for word in "$kept"/*/events.jsonl; do
                    [[ -f $word ]] && word=${word%/*} && words+=("${word##*/}")
                done
            elif [[ "${COMP_WORDS[1]} ${COMP_WORDS[2]}" == @(keys' 'set|keys' 'delete) ]]; then
                compopt +o default 2>/dev/null; words=(anthropic azure azure_ai brave cerebras cohere cohere_chat dashscope deepseek fireworks_ai gemini groq huggingface jan mistral moonshot novita nvidia_nim openai openrouter perplexity tavily together_ai vercel_ai_gateway xai zai)
            elif [[ "${COMP_WORDS[1]} ${COMP_WORDS[2]}" == @(profiles' 'show|profiles' 'edit|profiles' 'validate|profiles' 'diff|profiles' 'path) ]]; then
                words=(careful data default demo explain fast local shell solve vision)
                for word in "$own"/*.yaml "$own"/*.yml; do
                    [[ -f $word ]] && word=${word##*/} && words+=("${word%.*}")
                done
            fi ;;
    esac
    for word in "${words[@]}"; do
        printf -v word %q "$word"
        [[ $word == "$now"* ]] && COMPREPLY+=("$word")
    done
}

complete -o default -F _terp terp
