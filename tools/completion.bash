# bash completion of tapegrad's programs: options as --help-all lists them, else files.
_tapegrad()
{
    local current=${COMP_WORDS[COMP_CWORD]}
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$("$1" --help-all 2>/dev/null | grep -oE -- '^ +(-.,? )?(    )?--[a-z][a-z0-9-]*=?' | grep -o -- '--[a-z].*')" -- "$current"))
        [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
    else
        compopt -o default
        COMPREPLY=()
    fi
}
complete -F _tapegrad tapegrad-activations tapegrad-compare tapegrad-emit tapegrad-gradcheck tapegrad-predict tapegrad-study tapegrad-train
