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
  if ((COMP_CWORD == 1)); then
    command=
  elif ((COMP_CWORD > 2)); then
    case "$command ${COMP_WORDS[2]}" in
      'checkpoint list' | 'checkpoint get' | 'checkpoint rename' | 'checkpoint copy' | 'checkpoint drop' | 'checkpoint merge' | 'checkpoint convert' | 'checkpoint export' | 'checkpoint import' | 'checkpoint diff' | 'checkpoint average' | 'checkpoint cast' | 'checkpoint swap' | 'checkpoint join' | 'checkpoint dedupe' | 'checkpoint state' | 'checkpoint verify' | 'signature add' | 'signature rename' | 'signature remove') command+=" ${COMP_WORDS[2]}" ;;
    esac
  fi
  case $command in
    '')
      options='-h --help --version'
      words='inspect select list diff prove check draw copy merge extract insert sync freeze checkpoint rename set signature convert help'
      words='inspect select list diff check draw copy merge extract insert sync freeze checkpoint rename set retarget signature convert help'
      words='inspect select list diff check draw shapes copy merge extract insert sync freeze checkpoint rename set signature convert help'
      ;;
    'inspect')
      options='-h --help --as --tag-set --ops --color --depth -j --json'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        --color) words='auto always never' ;;
      esac
      ;;
    'select')
      options='-h --help --as --tag-set --ops -j --json -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
      esac
      ;;
    'list')
      options='-h --help --as --tag-set --ops --full -j --json'
      case $before in
        --as) words='graph metagraph saved_model' ;;
      esac
      ;;
    'diff')
      options='-h --help --as --tag-set --ops --stat -j --json -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
      esac
      ;;
    'prove')
      options='-h --help --as --tag-set --ops --outputs --map --given --checkpoint --bytes -j --json -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
      esac
      ;;
    'check')
      options='-h --help --as --tag-set --ops --fetch --security --tf -j --json'
      case $before in
        --as) words='graph metagraph saved_model' ;;
      esac
      ;;
    'draw')
      options='-h --help --as --tag-set --ops -o --output -f --format -O --overwrite -s --select --depth'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='svg html dot' ;;
      esac
      ;;
    'shapes')
      options='-h --help --as --tag-set --ops --input --symbols --flops --by -j --json'
      case $before in
        --as) words='graph metagraph saved_model' ;;
      esac
      ;;
    'copy')
      options='-h --help --as --tag-set --ops --outputs --inputs -s --select --scope --from-scope --input-map --placeholders --share --device --stop-gradient --checkpoint --copy-data --map-out -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'merge')
      options='-h --help --as --tag-set --ops --input-map --on-conflict --checkpoint --prune --copy-data -o --output -f --format --assets -O --overwrite -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        --on-conflict) words='error uniquify share' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'extract')
      options='-h --help --as --tag-set --ops --outputs --inputs -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'insert')
      options='-h --help --as --tag-set --ops --op --after --attr -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'sync')
      options='-h --help --as --tag-set --ops --from-scope --to-scope --pair --name --tau --all -o --output -f --format -O --overwrite -i --in-place -n --dry-run -q --quiet'
      options='-h --help --as --tag-set --ops --from-scope --to-scope --name --tau --all -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'freeze')
      options='-h --help --as --tag-set --ops --outputs --signature --inputs --checkpoint --keep -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'checkpoint')
      ((COMP_CWORD == 2)) && words='list get rename copy drop merge convert export import diff average cast swap join dedupe state verify'
      ;;
    'checkpoint list')
      options='-h --help -l --long -j --json -q --quiet'
      ;;
    'checkpoint get')
      options='-h --help -f --format -o --output -O --overwrite -q --quiet'
      case $before in
        -f | --format) words='text npy raw' ;;
      esac
      ;;
    'checkpoint rename')
      options='-h --help -e --expression -o --output -O --overwrite --copy-data --state -n --dry-run -i --in-place -q --quiet'
      ;;
    'checkpoint copy')
      options='-h --help -o --output -O --overwrite --copy-data --state -n --dry-run -i --in-place -q --quiet'
      ;;
    'checkpoint drop')
      options='-h --help --compact -o --output -O --overwrite --copy-data --state -n --dry-run -i --in-place -q --quiet'
      ;;
    'checkpoint merge')
      options='-h --help --on-conflict -o --output -O --overwrite --copy-data --state -n --dry-run -q --quiet'
      case $before in
        --on-conflict) words='error first last' ;;
      esac
      ;;
    'checkpoint convert')
      options='-h --help --shards --max-size -o --output -O --overwrite --copy-data --state -n --dry-run -q --quiet'
      ;;
    'checkpoint export')
      options='-h --help -o --output -s --select --map --cast --skip --part -O --overwrite -q --quiet'
      ;;
    'checkpoint import')
      options='-h --help --into --partly --map --transpose --cast -s --select --skip --shards --part -o --output -O --overwrite --copy-data --state -n --dry-run -q --quiet'
      ;;
    'checkpoint diff')
      options='-h --help -s --select --tolerance --cast --bytes -j --json --part -q --quiet'
      ;;
    'checkpoint average')
      options='-h --help --last --shards --part -o --output -O --overwrite --copy-data --state -n --dry-run -q --quiet'
      ;;
    'checkpoint cast')
      options='-h --help --to -s --select --shards --part -o --output -O --overwrite --copy-data --state -n --dry-run -q --quiet'
      case $before in
        --to) words='float16 bfloat16 float32 float64' ;;
      esac
      ;;
    'checkpoint swap')
      options='-h --help --both -o --output -O --overwrite --copy-data --state -n --dry-run -i --in-place -q --quiet'
      ;;
    'checkpoint join')
      options='-h --help -s --select --partition --shards --part -o --output -O --overwrite --copy-data --state -n --dry-run -q --quiet'
      ;;
    'checkpoint dedupe')
      options='-h --help -o --output -O --overwrite --copy-data --state -n --dry-run -q --quiet'
      ;;
    'checkpoint state')
      options='-h --help -n --dry-run -q --quiet'
      ;;
    'checkpoint verify')
      options='-h --help -j --json -q --quiet'
      ;;
    'rename')
      options='-h --help --as --tag-set --ops -e --expression --checkpoint -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'set')
      options='-h --help --as --tag-set --ops --device --attr --shape -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'retarget')
      options='-h --help --as --tag-set --ops --tf --partly -o --output -f --format -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'signature')
      options='-h --help --as --tag-set --ops -j --json'
      ((COMP_CWORD == 2)) && words='add rename remove'
      case $before in
        --as) words='graph metagraph saved_model' ;;
      esac
      ;;
    'signature add')
      options='-h --help --as --tag-set --ops --inputs --outputs --method --checkpoint -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'signature rename')
      options='-h --help --as --tag-set --ops -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'signature remove')
      options='-h --help --as --tag-set --ops -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'convert')
      options='-h --help --as --tag-set --ops -o --output -f --format --assets -O --overwrite -i --in-place -n --dry-run -q --quiet --checkpoint --tags --tensors-from --drop-unknown'
      case $before in
        --as) words='graph metagraph saved_model' ;;
        -f | --format) words='pb pbtxt meta gtxt json saved_model events' ;;
      esac
      ;;
    'help')
      options='-h --help --man --markdown --names --completion'
      words='inspect select list diff prove check draw copy merge extract insert sync freeze checkpoint rename set signature convert help selectors'
      words='inspect select list diff check draw copy merge extract insert sync freeze checkpoint rename set retarget signature convert help selectors'
      words='inspect select list diff check draw shapes copy merge extract insert sync freeze checkpoint rename set signature convert help selectors'
      case $before in
        --completion) words='bash zsh fish' ;;
      esac
      ;;
  esac
  [[ $word == -* ]] && words=$options
  COMPREPLY=($(compgen -W "$words" -- "$word"))
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
