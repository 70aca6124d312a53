#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The completion of bash knows what the program takes, whichever subcommands it has.

bats_require_minimum_version 1.5.0

setup() {
	LENS=$LENS_TEST_BUILDDIR/slurm-lens
	LENS_TEST_PYTHON=${LENS_TEST_PYTHON:-python3}
	PATH=$LENS_TEST_BUILDDIR:$PATH
	# shellcheck source=/dev/null
	source "$LENS_TEST_SRCDIR/contrib/completion/slurm-lens"
	cd "$BATS_TEST_TMPDIR" || return 1
	cp "$LENS_TEST_SRCDIR/contrib/completion/slurm-lens" completion
}

# complete_words WORD...: what Tab offers at the end of the last word, a line each.
complete_words() {
	local COMP_WORDS=(slurm-lens "$@") COMP_CWORD=$# COMP_LINE="slurm-lens $*" COMPREPLY=()
	local COMP_POINT=${#COMP_LINE} function
	function=$(complete -p slurm-lens | sed 's/.*-F \([^ ]*\).*/\1/')
	"$function" slurm-lens "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}"
}

commands() {
	"$LENS" help | awk '/^Commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'
}

@test "every command" {
	[ "$(commands | wc -l)" -ge 5 ]
	local command
	while read -r command; do
		complete_words '' | grep -Fx -- "$command"
	done < <(commands)
	complete_words -- | grep -Fx -- --version
	[ "$(complete_words sta)" = status ]
}

@test "every option that a command's help prints" {
	local command option count=0
	while read -r command; do
		[ "$command" != help ] || continue
		# shellcheck disable=SC2013 # words
		for option in $("$LENS" "$command" --help | grep -oE '^ +-[^ ]+(, -[^ ]+)?' | tr -d ,); do
			complete_words "$command" - | grep -Fx -e "$option" ||
				{ echo "$command $option"; false; }
			count=$((count + 1))
		done
	done < <(commands)
	[ "$count" -ge 25 ]
}

@test "every option that the code takes is in the help, and so is completed" {
	local command option count=0
	while read -r command; do
		[ "$command" != help ] || continue
		# shellcheck disable=SC2013 # words
		for option in $(cat "$LENS_TEST_SRCDIR/cmd/${command}"{,_*}.c 2>/dev/null |
			sed -nE 's/^\t+\{ "([a-z-]+)", (no|required|optional)_argument.*/--\1/p'); do
			complete_words "$command" -- | grep -Fx -e "$option" ||
				{ echo "$command $option"; false; }
			count=$((count + 1))
		done
	done < <(commands)
	[ "$count" -ge 25 ]
}

@test "nothing but what a command's help prints" {
	local command option
	while read -r command; do
		for option in $(complete_words "$command" -); do
			"$LENS" "$command" --help | grep -F -e "$option"
		done
	done < <(commands)
	run complete_words nonsense -
	[ "$output" = "" ]
}

@test "what options take: words of the help, and words that the program accepts" {
	[ "$(complete_words attrs --stage '')" = $'sbatch\ntask' ]
	[ "$(complete_words attrs --stage t)" = task ]
	[ "$(complete_words status --format = j)" = json ]
	[ "$(complete_words status --format =)" = $'text\njson' ]
	local word count=0
	for word in $(complete_words ranks --strategy ''); do
		"$LENS" ranks --strategy "$word" --world-size 4 --tasks-per-node 2
		count=$((count + 1))
	done
	for word in $(complete_words emit --kind ''); do
		"$LENS" emit --dry-run --span a,1,2 --kind "$word"
		count=$((count + 1))
	done
	for word in $(complete_words emit --status ''); do
		"$LENS" emit --dry-run --span a,1,2 --status "$word"
		count=$((count + 1))
	done
	[ "$count" = 12 ]
}

@test "files and directories, odd names too" {
	mkdir 'a dir'
	: >'a file'
	[ "$(complete_words emit --file a | sort)" = $'a dir\na file' ]
	[ "$(complete_words status --state-dir '')" = 'a dir' ]
	[ "$(complete_words emit --service '')" = "" ]
}

@test "job ids, where Slurm tells them" {
	mkdir bin
	printf '#!/bin/sh\nprintf "41\\n42_7\\n142\\n"\n' >bin/squeue
	chmod 755 bin/squeue
	cat >bin/slurm-lens <<-'L'
	#!/bin/sh
	printf 'Usage: slurm-lens show FILE|DIR|JOBID [OPTION...]\n\n  --job ID  of this job\n  --trace ID  of this trace\n'
	L
	chmod 755 bin/slurm-lens
	PATH=$PWD/bin:$PATH
	[ "$(complete_words show 4)" = $'41\n42_7' ]
	[ "$(complete_words show --job 1)" = 142 ]
	[ "$(complete_words show --trace '')" = "" ]
	printf '#!/bin/sh\necho "squeue: error: nobody" >&2\nexit 1\n' >bin/squeue
	run -0 complete_words show 4
	[ "$output" = "" ]
}

@test "behind \`--\` of emit stands another command" {
	: >afile
	complete_words emit -- bas | grep -x bash
	complete_words emit --name x -- cat af | grep -x afile
}

@test "Tab at a terminal" {
	local typed='slurm-lens att\t--sta\tsb\t; echo "status $?"\n'
	local joined='slurm-lens attrs --stage=ta\t --format=\t\tj\t; echo "status $?"\n'
	run "$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cmd/terminal.py" \
		"prompt$ :source completion\n|prompt$ :$typed|prompt$ :$joined|prompt$ :exit\n" \
		env -i PS1='prompt$ ' TERM=dumb PATH="$PATH" INPUTRC=/dev/null bash --norc --noprofile -i
	[[ $output == *'slurm-lens attrs --stage sbatch ; echo "status $?"'* ]]
	[[ $output == *$'\njson   shell'* ]]
	[[ $output == *'slurm-lens attrs --stage=task  --format=json ; echo "status $?"'* ]]
}

@test "loading it in a strict shell says nothing" {
	# shellcheck disable=SC2016
	run -0 bash -euc 'source "$1"; complete -p slurm-lens' - "$LENS_TEST_SRCDIR/contrib/completion/slurm-lens"
	[ "$output" = "complete -F _slurm_lens slurm-lens" ]
}
