package main

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

// root is the top folder of the repository.
const root = "../.."

// TestPageIsFresh fails if the page differs from the code, or if a key has no comment.
func TestPageIsFresh(t *testing.T) {
	t.Parallel()
	if *update {
		if err := write(root); err != nil {
			t.Fatal(err)
		}
	}
	want, err := page(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, pagePath))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale: go run ./tools/docgen (-want +got):\n%s", pagePath, diff)
	}
}

// sampled is a struct with comments that the test reads.
type sampled struct {
	// Timeout is how long it takes; see TokenFile.
	Timeout time.Duration `mapstructure:"timeout"`

	Undescribed string `mapstructure:"undescribed"`
	A, B        string `mapstructure:"a"`
	TokenFile   string `mapstructure:"token_file"`
	Hidden      string `mapstructure:"-"`
}

// TestEveryKeyNeedsAComment verifies that a key without a comment is a problem.
func TestEveryKeyNeedsAComment(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docgen_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]described{}
	if err := readFile(found, "docgen_test.go", text); err != nil {
		t.Fatal(err)
	}
	typ := reflect.TypeFor[sampled]()
	r := &reader{comments: &comments{read: map[string]map[string]described{typ.PkgPath(): found}}}
	rows, _ := r.rows(reflect.New(typ).Elem(), "x.")
	problems := r.err()
	if problems == nil {
		t.Fatal("keys without comments are no problem")
	}
	for _, key := range []string{"x.undescribed", "x.a", "x.token_file"} {
		if !strings.Contains(problems.Error(), `"`+key+`"`) {
			t.Errorf("problems %v do not name %s", problems, key)
		}
	}
	if strings.Contains(problems.Error(), "x.timeout") || strings.Contains(problems.Error(), "Hidden") {
		t.Errorf("problems %v name what has a comment, or is no key", problems)
	}
	want := row{"x.timeout", "duration", "`0`", "How long it takes; see `token_file`."}
	if rows[0] != want {
		t.Errorf("row = %+v, want %+v", rows[0], want)
	}
}

func TestProse(t *testing.T) {
	t.Parallel()
	keys := map[string]string{"Every": "every", "CAFile": "ca_file", "Except": "except", "State": "state"}
	for name, tc := range map[string]struct {
		reason, field, comment, want string
	}{
		"is":        {"the name is the column beside", "Every", "Every is how often\nit looks.", "How often it looks."},
		"are":       {"plural", "States", "States are what was applied.", "What was applied."},
		"verb":      {"any verb begins the sentence", "Timeout", "Timeout bounds each request.", "Bounds each request."},
		"article":   {"a type's comment may begin so", "Source", "A Source is one live system.", "One live system."},
		"reference": {"a name in a sentence is a key", "Hours", "Hours are as bad as Except says. CAFile counts too.", "As bad as `except` says. `ca_file` counts too."},
		"word":      {"a word that begins a sentence is none", "Hours", "Hours are some. State it.", "Some. State it."},
		"markdown":  {"patterns are text", "Kind", "Kind is *.yaml | <any>.", `\*.yaml \| \<any>.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := prose(tc.field, tc.comment, keys); got != tc.want {
				t.Errorf("prose() = %q, want %q: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestWritten(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for name, tc := range map[string]struct {
		value     any
		typ, want string
	}{
		"days":    {90 * day, "", "`90d`"},
		"a day":   {day, "", "`24h`"},
		"minutes": {10 * time.Minute, "", "`10m`"},
		"mixed":   {90 * time.Second, "", "`1m30s`"},
		"none":    {time.Duration(0), "", "`0`"},
		"bytes":   {int64(16 << 20), "size", "`16MiB`"},
		"odd":     {int64(1000), "size", "`1000`"},
		"number":  {int64(1024), "number", "`1024`"},
		"text":    {"", "text", ""},
		"list":    {[]string{"a", "b"}, "", "`[a, b]`"},
		"false":   {false, "", "`false`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := written(reflect.ValueOf(tc.value), tc.typ); got != tc.want {
				t.Errorf("written() = %q, want %q", got, tc.want)
			}
		})
	}
}
