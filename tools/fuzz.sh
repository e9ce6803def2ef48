#!/bin/sh
# Finds every fuzz target of the module and runs each for FUZZTIME: a time (10s) or
# a number of inputs (1000x). The targets of a package share one build. Without the
# flag -fuzz it is that of `go test`, and the inputs are random.
# Failing inputs are stored in the package's testdata/fuzz: commit them.
#
# usage: tools/fuzz.sh [-fuzz .]
set -eu
cd "$(dirname "$0")/.."

go=${GO:-go}
time=${FUZZTIME:-10s}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

for package in $(grep -rl --include='*_test.go' '^func Fuzz' internal cmd | xargs -n1 dirname | sort -u); do
	$go test -c "$@" -o "$work/fuzz" "./$package"
	corpus=$($go env GOCACHE)/fuzz/$($go list "./$package")
	(
		cd "$package"
		for target in $("$work/fuzz" -test.list '^Fuzz'); do
			echo "fuzz ./$package $target $time"
			"$work/fuzz" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.fuzzminimizetime 10x -test.fuzzcachedir "$corpus"
		done
	)
done
