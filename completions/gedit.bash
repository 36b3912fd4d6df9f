# Completion of gedit in bash: `gedit completion bash` prints it.
_gedit() {
  local line=${COMP_LINE:0:COMP_POINT} piece rest words=() i quote=
  for ((i = 0; i <= COMP_CWORD; i++)); do
    rest=${line#"${line%%[![:blank:]]*}"}
    piece=${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || piece=$rest
    if ((i == 0)) || [[ $rest != "$line" || -z $rest ]]; then
      words+=("$piece")
    else
      words[${#words[@]} - 1]+=$piece
    fi
    line=${rest#"$piece"}
  done
  local last=$((${#words[@]} - 1))
  local before=${words[last]%"$piece"}
  [[ $piece == [=:] ]] && before=${words[last]}
  [[ $piece == [\'\"]* ]] && quote=${piece:0:1}
  words=("${words[@]//[\'\"\\]/}")
  local IFS=$'\n' answers
  answers=($("${COMP_WORDS[0]/#\~\//$HOME/}" __complete $last -- "${words[@]}" 2> /dev/null))
  COMPREPLY=()
  if [[ ${answers[0]} == :files ]]; then
    compopt -o default
    return
  fi
  for i in "${answers[@]%%$'\t'*}"; do
    i=${i#"$before"}
    [[ $quote || $i != *[$' \t&;()<>|$`\\"\'!']* ]] || printf -v i %q "$i"
    COMPREPLY+=("$i")
  done
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[/:=] ]]; then
    compopt -o nospace
    # Of one answer bash would close the quotes.
    [[ -z $quote ]] || COMPREPLY+=("${COMPREPLY[0]}.")
  fi
}
complete -F _gedit gedit
