package members_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/driftd/driftd/internal/declared/members"
)

// TestFind finds the folders with a file main.tf.
func TestFind(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for _, name := range []string{"roots/dns/main.tf", "roots/web/main.tf", "roots/main.tf", "roots/docs/readme.md", "roots/.old/main.tf", "roots/prod/eu/dns/main.tf",
		"roots/prod/eu/main.tf", "roots/prod/us/dns/main.tf", "main.tf"} {
		files[name] = &fstest.MapFile{}
	}
	files["roots/link"] = &fstest.MapFile{Data: []byte("web"), Mode: fs.ModeSymlink}
	for pattern, want := range map[string]string{
		"roots/*":          "roots: dns web",
		"./roots/*/":       "roots: dns web",
		"roots/**":         "roots: dns prod/eu prod/eu/dns prod/us/dns web",
		"roots/**/dns":     "roots: dns prod/eu/dns prod/us/dns",
		"roots/prod/*/dns": "roots/prod: eu/dns us/dns",
		"roots/p*/e?/dns":  "roots: prod/eu/dns",
		"*":                ".: roots",
		"**":               ".: roots roots/dns roots/prod/eu roots/prod/eu/dns roots/prod/us/dns roots/web",
		"none/*":           "none: the folder before the first wildcard does not exist",
	} {
		p, err := members.Parse(pattern)
		if err != nil {
			t.Fatal(err)
		}
		below, err := fs.Sub(files, p.Fixed)
		if err != nil {
			t.Fatal(err)
		}
		found, err := p.Find(below, func(fsys fs.FS, dir string) (bool, error) {
			_, err := fs.Stat(fsys, dir+"/main.tf")
			return err == nil, nil
		})
		got := strings.TrimSpace(p.Fixed + ": " + strings.Join(found, " "))
		if err != nil {
			got = p.Fixed + ": " + err.Error()
		}
		if got != want || p.IsDeep() != strings.Contains(pattern, "**") {
			t.Errorf("%s finds %s, want %s", pattern, got, want)
		}
	}
}

// TestFindStops checks that a folder that cannot be read, and one that is not known to be a member, stop the search.
func TestFindStops(t *testing.T) {
	t.Parallel()
	p, err := members.Parse("*")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if _, err := p.Find(fstest.MapFS{"a/b": {}}, func(fs.FS, string) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("Find() = %v", err)
	}
	many := fstest.MapFS{}
	for i := range 1001 {
		many[strings.Repeat("x", i+1)+"/main.tf"] = &fstest.MapFile{}
	}
	if _, err := p.Find(many, func(fs.FS, string) (bool, error) { return true, nil }); err == nil || !strings.Contains(err.Error(), "narrow it") {
		t.Errorf("Find() = %v", err)
	}
}

// TestParseRejects checks that a pattern that cannot match is an error.
func TestParseRejects(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{"roots/[a/*": "do not close", "roots/**x": "whole folders", "../*": "must not have the element ..", "roots": "is no pattern"} {
		if _, err := members.Parse(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s) = %v, want %s", pattern, err, want)
		}
	}
	for pattern, want := range map[string]string{"/srv/roots/*": "/srv/roots", "/*": "/", "*": "."} {
		if p, err := members.Parse(pattern); err != nil || p.Fixed != want {
			t.Errorf("Parse(%s) = %+v, %v", pattern, p, err)
		}
	}
}
