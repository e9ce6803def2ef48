// Command mutate measures how many small mistakes the tests of a package find: it
// changes one operator at a time and runs the package's tests against the result.
//
//	go run ./tools/mutate [-sample N] [-least PERCENT] PACKAGE...
//
// A mutant that no test notices, and that tools/mutate/equivalent.txt does not
// list, is printed. Mutants that do not compile, or that are listed there as
// equivalent, do not count.
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
	flag.IntVar(&o.sample, "sample", 0, "try only so many mutants of each package, always the same ones; 0 tries all")
	flag.IntVar(&o.least, "least", 95, "fail where the tests find fewer than so many percent")
	flag.StringVar(&o.equivalent, "equivalent", "tools/mutate/equivalent.txt", "file of mutants that mean the same as the code")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := o.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// mostEquivalent is how many percent of the mutants may be listed as equivalent.
const mostEquivalent = 5

type options struct {
	sample, least int
	equivalent    string
	out           io.Writer
}

// run tries the mutants of packages, which are folders, and reports the score.
func (o options) run(ctx context.Context, packages []string) error {
	if len(packages) == 0 {
		return errors.New("name the folders of one package or more, for example ./internal/diff")
	}
	listed, err := readEquivalent(o.equivalent)
	if err != nil {
		return err
	}
	var total tally
	for _, folder := range packages {
		all, err := mutants(filepath.Clean(folder))
		if err != nil {
			return err
		}
		t, err := listed.split(sample(all, o.sample)).try(ctx)
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		t.print(o.out, folder)
		total = total.plus(t)
	}
	for _, e := range listed.unused(o.sample == 0) {
		fmt.Fprintf(o.out, "%s lists a mutant that does not exist: %s\n", o.equivalent, e)
		total.survived++
	}
	return total.verdict(o.least)
}

// A tally counts mutants by what became of them.
type tally struct {
	killed, survived, equivalent, invalid int
	survivors                             []mutant
}

func (t tally) plus(u tally) tally {
	return tally{killed: t.killed + u.killed, survived: t.survived + u.survived, equivalent: t.equivalent + u.equivalent, invalid: t.invalid + u.invalid}
}

// score is how many percent of the mutants that count were found.
func (t tally) score() float64 {
	if t.killed+t.survived == 0 {
		return 100
	}
	return 100 * float64(t.killed) / float64(t.killed+t.survived)
}

func (t tally) print(w io.Writer, folder string) {
	for _, m := range t.survivors {
		fmt.Fprintf(w, "survived: %s\n", m)
	}
	fmt.Fprintf(w, "%s: %d of %d found (%.1f %%), %d equivalent, %d do not compile\n",
		folder, t.killed, t.killed+t.survived, t.score(), t.equivalent, t.invalid)
}

// verdict is an error where the tests find too little, or too much is excused.
func (t tally) verdict(least int) error {
	counted := t.killed + t.survived + t.equivalent
	switch {
	case t.score() < float64(least):
		return fmt.Errorf("the tests find %.1f %% of the mutants, fewer than %d %%: write tests that fail for those that survived", t.score(), least)
	case 100*t.equivalent > mostEquivalent*counted:
		return fmt.Errorf("%d of %d mutants are listed as equivalent, more than %d %%", t.equivalent, counted, mostEquivalent)
	}
	return nil
}
