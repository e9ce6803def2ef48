package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// An equivalent is a set of mutants that mean the same as the code, by key, with
// whether each was met.
type equivalent map[string]bool

// readEquivalent reads the list: one mutant a line, and why it means the same
// after "  # ". Empty lines and those that begin with # are comments.
func readEquivalent(name string) (equivalent, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the list of equivalent mutants: %w", err)
	}
	list := equivalent{}
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, why, ok := strings.Cut(line, "  # ")
		if !ok || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("%s:%d: give the reason after \"  # \"", name, i+1)
		}
		list[strings.TrimSpace(key)] = false
	}
	return list, nil
}

// A batch is the mutants to try, and how many are not, being equivalent.
type batch struct {
	mutants    []mutant
	equivalent int
}

func (e equivalent) split(all []mutant) batch {
	var b batch
	for _, m := range all {
		if _, ok := e[m.key()]; ok {
			e[m.key()] = true
			b.equivalent++
			continue
		}
		b.mutants = append(b.mutants, m)
	}
	return b
}

// unused returns what is listed and was not met, where everything was tried.
func (e equivalent) unused(all bool) []string {
	var keys []string
	for key, met := range e {
		if all && !met {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// try tests every mutant of the batch, as many at once as there are processors.
func (b batch) try(ctx context.Context) (t tally, err error) {
	folder, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return tally{}, fmt.Errorf("make a folder for mutants: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	results, failures := make([]outcome, len(b.mutants)), make([]error, len(b.mutants))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i, m := range b.mutants {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			results[i], failures[i] = m.test(ctx, filepath.Join(folder, strconv.Itoa(i)))
		})
	}
	group.Wait()
	t.equivalent = b.equivalent
	for i, r := range results {
		switch r {
		case killed:
			t.killed++
		case invalid:
			t.invalid++
		case survived:
			t.survived++
			t.survivors = append(t.survivors, b.mutants[i])
		}
	}
	return t, errors.Join(failures...)
}

// An outcome is what became of a mutant.
type outcome int

const (
	survived outcome = iota
	killed
	invalid
)

// test runs the tests of the mutant's package against it. The tree stays as it
// is: go test takes the mutant as an overlay, from a folder for temporary files.
func (m mutant) test(ctx context.Context, folder string) (outcome, error) {
	overlay, err := m.overlay(folder)
	if err != nil {
		return invalid, err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=5m", "-overlay", overlay, "./"+filepath.Dir(m.file))
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return survived, nil
	case bytes.Contains(out, []byte("[build failed]")):
		return invalid, nil
	}
	return killed, nil
}

// overlay writes the mutant into a folder, and what makes go test read it in the
// place of the source.
func (m mutant) overlay(folder string) (string, error) {
	source, err := filepath.Abs(m.file)
	if err != nil {
		return "", fmt.Errorf("find the source: %w", err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return "", fmt.Errorf("read source: %w", err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for the mutant: %w", err)
	}
	changed := slices.Concat(text[:m.offset], []byte(m.new), text[m.offset+len(m.old):])
	mutated, overlay := filepath.Join(folder, "mutant.go"), filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(mutated, changed, 0o600); err != nil {
		return "", fmt.Errorf("write the mutant: %w", err)
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {source: mutated}})
	if err != nil {
		return "", fmt.Errorf("encode the overlay: %w", err)
	}
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	return overlay, nil
}
