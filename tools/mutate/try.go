package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// switchSource is the body of the file that is added to a package to select a mutant.
//
//go:embed runtime.go.txt
var switchSource []byte

// A binary is the compiled tests of a package with all its mutants.
type binary struct {
	path, folder string
	flags        []string
	// limit is how long the tests may take with a mutant.
	limit time.Duration
}

// try runs the tests of the package once for each mutant that is not listed as
// equivalent, as many at once as there are processors. Files go to the folder temp.
func (p *pkg) try(ctx context.Context, listed equivalent, temp string) (tally, error) {
	var t tally
	tests, err := p.compile(ctx, temp)
	if err != nil {
		return t, err
	}
	survived := make([]bool, len(p.mutants))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i, m := range p.mutants {
		if listed.has(m) {
			t.equivalent++
			continue
		}
		t.tried++
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			survived[i] = tests.run(ctx, i+1) == nil
		})
	}
	group.Wait()
	for i, m := range p.mutants {
		if survived[i] {
			t.survivors = append(t.survivors, m)
		}
	}
	return t, ctx.Err()
}

// compile compiles the package's tests, and runs them once without a mutant. The working
// tree stays as it is: the compiler reads the mutants from an overlay.
func (p *pkg) compile(ctx context.Context, temp string) (*binary, error) {
	here, err := filepath.Abs(p.folder)
	if err != nil {
		return nil, fmt.Errorf("find the package: %w", err)
	}
	files := map[string][]byte{filepath.Join(here, "mutant_switch.go"): append([]byte("package "+p.name+"\n\n"), switchSource...)}
	for name, text := range p.files {
		files[name] = text
	}
	replace := map[string]string{}
	for name, text := range files {
		replace[name] = filepath.Join(temp, filepath.Base(name))
		if err := os.WriteFile(replace[name], text, 0o600); err != nil {
			return nil, fmt.Errorf("write a mutated file: %w", err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, fmt.Errorf("encode the overlay: %w", err)
	}
	name := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(name, overlay, 0o600); err != nil {
		return nil, fmt.Errorf("write the overlay: %w", err)
	}
	tests := &binary{path: filepath.Join(temp, "tests"), folder: here, limit: time.Minute, flags: []string{"-test.failfast"}}
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", name, "-o", tests.path, "./"+p.folder).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile the mutants of %s: %w: %s", p.folder, err, out)
	}
	err = tests.calibrate(ctx)
	return tests, err
}

// calibrate runs the tests without a mutant, and sets their flags and their time limit
// accordingly.
func (b *binary) calibrate(ctx context.Context) error {
	// -h makes the binary print its flags, and fail.
	help, _ := exec.CommandContext(ctx, b.path, "-h").CombinedOutput()
	if bytes.Contains(help, []byte("-rapid.seed")) {
		b.flags = append(b.flags, "-rapid.seed=1", "-rapid.checks=30", "-rapid.nofailfile", "-rapid.shrinktime=0s")
	}
	since := time.Now()
	if err := b.run(ctx, 0); err != nil {
		return fmt.Errorf("run the tests of %s without a mutant: %w", b.folder, err)
	}
	b.limit = 20*time.Since(since) + 2*time.Second
	return nil
}

// run runs the tests with the mutant of a number. It returns nil if they pass.
func (b *binary) run(ctx context.Context, number int) error {
	ctx, stop := context.WithTimeout(ctx, b.limit)
	defer stop()
	cmd := exec.CommandContext(ctx, b.path, b.flags...)
	cmd.Dir, cmd.Env = b.folder, append(os.Environ(), "DRIFTD_TEST_MUTANT="+strconv.Itoa(number))
	failed := &failure{stop: stop}
	cmd.Stdout = failed
	if err := cmd.Run(); err != nil {
		return errors.Join(err, errors.New(strings.TrimSpace(failed.text.String())))
	}
	return nil
}

// A failure collects the output of tests, and stops them as soon as one has failed.
type failure struct {
	text bytes.Buffer
	stop func()
}

func (f *failure) Write(p []byte) (int, error) {
	n, err := f.text.Write(p)
	if bytes.Contains(f.text.Bytes(), []byte("--- FAIL: ")) {
		f.stop()
	}
	return n, err
}
