#!/bin/sh
# Finds every fuzz target of the module and runs each for FUZZTIME: a time (10s) or
# a number of inputs (3000x).
# Failing inputs are stored in the package's testdata/fuzz: commit them.
set -eu
cd "$(dirname "$0")/.."

packages=$(grep -rl --include='*_test.go' '^func Fuzz' internal cmd 2>/dev/null | xargs -r -n1 dirname | sort -u)
for package in $packages; do
	for target in $(${GO:-go} test -list '^Fuzz' "./$package" | grep '^Fuzz'); do
		echo "fuzz ./$package $target ${FUZZTIME:-10s}"
		${GO:-go} test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-10s}" -fuzzminimizetime 10x "./$package"
	done
done
