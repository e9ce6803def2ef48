package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = `package p

import "fmt"

const big = 3 < 4

func f(a, b int, ok bool) bool {
	if !ok || a+b > 2 {
		return true
	}
	fmt.Println(a == b)
	return false
}
`

func TestMutantsOf(t *testing.T) {
	t.Parallel()
	all, err := mutantsOf("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, m.old+" "+m.new)
		if text := source[m.offset:]; !strings.HasPrefix(text, m.old) {
			t.Errorf("%s: %q does not begin with it", m, text[:5])
		}
	}
	want := []string{"< <=", "< >=", "|| &&", "! ", "> >=", "> <=", "+ -", "true false", "== !=", "false true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTry makes the mistakes in a package whose tests find one of two.
//
//nolint:paralleltest // go test takes the package from the working folder
func TestTry(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.org/p\n\ngo 1.26\n",
		"p.go":      "package p\n\nfunc Less(a, b int) bool { return a < b }\n\nfunc Join(a, b string) string { return a + b }\n",
		"p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestLess(t *testing.T) {\n\tif Less(2, 1) || !Less(1, 2) {\n\t\tt.Fail()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	all, err := mutants(".")
	if err != nil {
		t.Fatal(err)
	}
	got, err := equivalent{}.split(all).try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.killed != 1 || got.survived != 1 || got.invalid != 1 {
		t.Errorf("%+v, want one mutant of each: < as >= is found, < as <= is not, and texts have no -", got)
	}
	if err := got.verdict(51); err == nil {
		t.Error("half is enough for 51 percent")
	}
	listed := equivalent{got.survivors[0].key(): false, "p.go: gone: < -> <=": false}
	again := listed.split(all)
	if again.equivalent != 1 || len(again.mutants) != 2 {
		t.Errorf("%+v, want the listed mutant left out", again)
	}
	if diff := cmp.Diff([]string{"p.go: gone: < -> <="}, listed.unused(true)); diff != "" {
		t.Error(diff)
	}
	if err := (tally{killed: 90, equivalent: 10}).verdict(95); err == nil {
		t.Error("a tenth may not be listed as equivalent")
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	all, err := mutantsOf("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	first := sample(all, 3)
	if diff := cmp.Diff(first, sample(all, 3), cmp.AllowUnexported(mutant{})); diff != "" || len(first) != 3 {
		t.Errorf("%d mutants, and others at the second time: %s", len(first), diff)
	}
	moved, err := mutantsOf("p.go", []byte(strings.Replace(source, "package p\n", "package p\n\n// More.\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range sample(moved, 3) {
		if m.key() != first[i].key() {
			t.Errorf("an edit elsewhere changes the sample: %s", m)
		}
	}
	if len(sample(all, 0)) != len(all) {
		t.Error("0 is all")
	}
}

func TestReadEquivalent(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "list")
	for text, want := range map[string]int{"": 0, "# a comment\n\n": 0, "p.go: x: < -> <=  # never equal\n": 1, "p.go: x: < -> <=\n": -1} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := readEquivalent(name)
		if got := len(list); want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%q: %d entries, %v", text, got, err)
		}
	}
	if _, err := readEquivalent(name + "-gone"); err == nil {
		t.Error("a list that is not there is an error")
	}
}
