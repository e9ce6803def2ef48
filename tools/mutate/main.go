// Command mutate measures how many small mistakes the tests of a package find: it
// replaces one operator at a time and runs the package's own tests.
//
//	go run ./tools/mutate [-least PERCENT] PACKAGE...
//
// It prints each mutant that no test finds and that tools/mutate/equivalent.txt does not
// list, and the score of each package and of all. It fails if the tests of a package find
// fewer than -least percent of its mutants, if more than 5 percent of them are listed as
// equivalent, or if a listed mutant does not exist.
//
// All mutants of a package are compiled into one test binary, and an environment variable
// selects one of them. Trying a mutant takes as long as the tests take, about a tenth of a
// second, so that CI tries all of them instead of a sample: the score of a sample
// depends on chance (of 100 mutants, a suite that finds 95 % misses the limit of 95 in two of
// five samples), while this score only changes with the code and its tests. Property
// tests run with a fixed seed for the same reason, and with 30 checks.
//
// Operators in constant expressions and between strings have no replacement.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	o := options{out: os.Stdout}
	flag.IntVar(&o.least, "least", 95, "the percentage of mutants that the tests of each package must find")
	flag.StringVar(&o.equivalent, "equivalent", "tools/mutate/equivalent.txt", "list of the mutants that behave like the source")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := o.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// mostEquivalent is the percentage of a package's mutants that may be listed as
// equivalent.
const mostEquivalent = 5

type options struct {
	least      int
	equivalent string
	out        io.Writer
}

// run tries the mutants of packages, which are folders, and prints the scores.
func (o options) run(ctx context.Context, packages []string) error {
	if len(packages) == 0 {
		return errors.New("name the folders of one package or more, for example ./internal/diff")
	}
	listed, err := readEquivalent(o.equivalent)
	if err != nil {
		return err
	}
	var total tally
	var failures []error
	for _, folder := range packages {
		folder = filepath.ToSlash(filepath.Clean(folder))
		t, err := try(ctx, folder, listed)
		if err != nil {
			return err
		}
		t.print(o.out, folder)
		failures = append(failures, t.verdict(folder, o.least))
		for _, key := range listed.unknown(folder) {
			failures = append(failures, fmt.Errorf("%s lists a mutant that does not exist: %s", o.equivalent, key))
		}
		total = total.plus(t)
	}
	total.print(o.out, "total")
	return errors.Join(failures...)
}

// try tries the mutants of the package in a folder.
func try(ctx context.Context, folder string, listed equivalent) (t tally, err error) {
	p, err := load(ctx, folder)
	if err != nil {
		return tally{}, err
	}
	temp, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return tally{}, fmt.Errorf("make a folder for mutants: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	return p.try(ctx, listed, temp)
}

// A tally counts mutants: those that were tried, those of them that the tests did not
// find, and those listed as equivalent, which were not tried.
type tally struct {
	tried, equivalent int
	survivors         []mutant
}

func (t tally) plus(u tally) tally {
	return tally{t.tried + u.tried, t.equivalent + u.equivalent, append(t.survivors, u.survivors...)}
}

func (t tally) found() int { return t.tried - len(t.survivors) }

// score returns the percentage of the mutants tried that the tests found.
func (t tally) score() float64 {
	if t.tried == 0 {
		return 100
	}
	return 100 * float64(t.found()) / float64(t.tried)
}

func (t tally) print(w io.Writer, what string) {
	if what != "total" {
		for _, m := range t.survivors {
			fmt.Fprintf(w, "survived: %s\n", m)
		}
	}
	fmt.Fprintf(w, "%s: %d of %d found (%.1f %%), %d equivalent\n", what, t.found(), t.tried, t.score(), t.equivalent)
}

// verdict returns an error if the tests of a package found too few mutants, or if too
// many are listed as equivalent.
func (t tally) verdict(folder string, least int) error {
	all := t.tried + t.equivalent
	switch {
	case 100*t.found() < least*t.tried:
		return fmt.Errorf("%s: the tests find %.1f %% of the mutants, fewer than %d %%: write tests that fail for the survivors", folder, t.score(), least)
	case 100*t.equivalent > mostEquivalent*all:
		return fmt.Errorf("%s: %d of %d mutants are listed as equivalent, more than %d %%", folder, t.equivalent, all, mostEquivalent)
	}
	return nil
}
