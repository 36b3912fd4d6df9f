# Completion of gedit in fish: `gedit completion fish` prints it.
function __gedit_complete
    set -l words (commandline -opc)
    set -l word (string replace -r '^[\'"]' '' -- (commandline -ct) | string replace -ar '\\\\(.)' '$1')
    set -l answers (command $words[1] __complete (count $words) -- $words "$word" 2> /dev/null)
    if test "$answers[1]" = :files
        __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$word")
    else
        printf '%s\n' $answers
    end
end
complete -c gedit -f -a '(__gedit_complete)'
