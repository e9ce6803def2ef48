package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// An equivalent is a set of mutants that behave like the source, by key. The value
// reports whether the mutant exists.
type equivalent map[string]bool

// readEquivalent reads the list. Each line is a mutant's key, "  # " and the reason. Empty
// lines and lines that begin with # are comments.
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

// has reports whether the list has the mutant, and records that it exists.
func (e equivalent) has(m mutant) bool {
	_, ok := e[m.key()]
	if ok {
		e[m.key()] = true
	}
	return ok
}

// unknown returns the listed mutants of files in the folder that do not exist, sorted.
func (e equivalent) unknown(folder string) []string {
	var keys []string
	for key, exists := range e {
		if !exists && strings.HasPrefix(key, folder+"/") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
