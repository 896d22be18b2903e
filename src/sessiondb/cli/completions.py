"""`sessiondb completions`"""

from __future__ import annotations

from ..errors import Invalid
from . import options

# readline, not bash, decides where a word begins and how quotes end; `completing` knows both.
BASH = r"""_sessiondb() {
    local kind value help
    COMPREPLY=()
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            file) compopt -o default ;;
            dir) compopt -o dirnames ;;
            *) COMPREPLY+=("$value") ;;
        esac
    done < <(_SESSIONDB_COMPLETE=bash COMP_LINE=$COMP_LINE COMP_POINT=$COMP_POINT "$1" 2>/dev/null)
}
complete -o nosort -F _sessiondb sessiondb
"""

ZSH = r"""#compdef sessiondb
_sessiondb() {
    local kind value help
    local -a values shown
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            file) _files ;;
            dir) _files -/ ;;
            *) values+=("$value"); shown+=("$value${help:+  -- $help}") ;;
        esac
    done < <(_SESSIONDB_COMPLETE=zsh "${(Q)words[1]}" "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    (( $#values )) && compadd -l -V sessiondb -d shown -a values
}
if [[ $funcstack[1] == _sessiondb ]]; then
    _sessiondb "$@"
else
    compdef _sessiondb sessiondb
fi
"""

FISH = r"""function __sessiondb_complete
    set -l words (commandline -opc)
    set -l current (string unescape -- (commandline -ct); or string trim -lc '"\'' -- (commandline -ct))
    _SESSIONDB_COMPLETE=fish $words[1] $words[2..-1] "$current" 2>/dev/null | while read -d \t -l kind value help
        switch $kind
            case file
                __fish_complete_path "$current"
            case dir
                __fish_complete_directories "$current"
            case '*'
                printf '%s\t%s\n' $value $help
        end
    end
end
complete -c sessiondb -k -f -a '(__sessiondb_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@options.command("completions")
@options.words("shell", metavar="bash|zsh|fish")
@options.common
def command(shell: str) -> None:
    """Print a script that lets a shell complete commands, options, titles and ids.

    Bash 4.4 or newer: put `source <(sessiondb completions bash)` into ~/.bashrc. Zsh: the same with zsh into ~/.zshrc,
    after compinit. Fish: write it to ~/.config/fish/completions/sessiondb.fish.

    \b
    Example:
        sessiondb completions bash
        sessiondb completions fish > ~/.config/fish/completions/sessiondb.fish
    """
    if shell not in SCRIPTS:
        raise Invalid(f"no completions for {shell!r}; there are some for {', '.join(SCRIPTS)}")
    print(SCRIPTS[shell], end="")
