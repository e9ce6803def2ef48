package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = `package p

import "time"

const big = 3 < 4

var names = [2 + 1]string{}

func f(a, b int, ok bool) bool {
	if !ok || a+b > 2 {
		return true
	}
	wait := 2 * time.Second * time.Duration(a)
	text := "x" + names[0]
	return a == b &&
		len(text) <= int(wait/time.Second)-b*2
}
`

// write makes a module with the files in a temporary folder, and changes to it.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	folder := t.TempDir()
	files["go.mod"] = "module example.org/p\n\ngo 1.26\n"
	for name, text := range files {
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
}

// TestLoad lists the mutants of a file: none in constants and between strings.
//
//nolint:paralleltest // go list takes the package from the working folder
func TestLoad(t *testing.T) {
	write(t, map[string]string{"p/p.go": source})
	p, err := load(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"p/p.go: if !ok «||» a+b > 2 { -> &&", "p/p.go: if «!»ok || a+b > 2 { -> nothing", "p/p.go: if !ok || a+b «>» 2 { -> >=",
		"p/p.go: if !ok || a+b «>» 2 { -> <=", "p/p.go: if !ok || a«+»b > 2 { -> -", "p/p.go: return «true» -> false",
		"p/p.go: wait := 2 * time.Second «*» time.Duration(a) -> /", "p/p.go: return a == b «&&» -> ||", "p/p.go: return a «==» b && -> !=",
		"p/p.go: len(text) «<=» int(wait/time.Second)-b*2 -> <", "p/p.go: len(text) <= int(wait/time.Second)«-»b*2 -> +",
		"p/p.go: len(text) <= int(wait«/»time.Second)-b*2 -> *", "p/p.go: len(text) <= int(wait/time.Second)-b«*»2 -> /",
	}
	if diff := cmp.Diff(want, keys(p.mutants)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := p.mutants[0].String(); got != "p/p.go:10: if !ok «||» a+b > 2 { -> &&" {
		t.Errorf("got %s", got)
	}
	for name, text := range p.files {
		if filepath.Base(name) != "p.go" || strings.Count(string(text), "\n") != strings.Count(source, "\n") {
			t.Errorf("%s: the number of lines differs:\n%s", name, text)
		}
	}
}

// every has each operator that can be replaced. Its tests notice all replacements.
const every = `package p

func F(a, b int, ok bool) []bool {
	return []bool{a == b, a != b, a < b, a <= b, a > b, a >= b, ok && a > 1, ok || b > 1, !ok, true, false}
}

func G(a, b float64) []float64 { return []float64{a + b, a - b, a * b, a / b} }

func Join(a, b string) string { return a + b }
`

const everyTest = `package p

import (
	"slices"
	"testing"
)

func TestAll(t *testing.T) {
	for _, all := range [][2][]bool{
		{F(1, 2, true), {false, true, true, true, false, false, false, true, false, true, false}},
		{F(2, 2, true), {true, false, false, true, false, true, true, true, false, true, false}},
		{F(2, 1, false), {false, true, false, false, true, true, false, false, true, true, false}},
		{F(1, 1, false), {true, false, false, true, false, true, false, false, true, true, false}},
		{F(1, 1, true), {true, false, false, true, false, true, false, true, false, true, false}},
	} {
		if !slices.Equal(all[0], all[1]) {
			t.Error(all)
		}
	}
	if got := G(6, 2); !slices.Equal(got, []float64{8, 4, 12, 3}) {
		t.Error(got)
	}
}
`

// TestTry tries mutants of packages whose tests find all, some and none of them.
//
//nolint:paralleltest // go test takes the package from the working folder
func TestTry(t *testing.T) {
	write(t, map[string]string{
		"every/p.go": every, "every/p_test.go": everyTest,
		"some/p.go":      "package p\n\nfunc Less(a, b int) bool { return a < b }\n\nfunc Loop(n int) {\n\tfor n > 0 {\n\t\tn = n - 1\n\t}\n}\n",
		"some/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestLess(t *testing.T) {\n\tLoop(1)\n\tif Less(2, 1) || !Less(1, 2) {\n\t\tt.Fail()\n\t}\n}\n",
		"broken/p.go":    "package p\n", "broken/p_test.go": "package p\n\nimport \"testing\"\n\nfunc Test(t *testing.T) { t.Fatal(\"as it is\") }\n",
		"invalid/p.go": "package p\n\nfunc F() int { return true }\n",
	})
	got, err := try(t.Context(), "every", equivalent{})
	if err != nil || got.tried != 21 || len(got.survivors) != 0 {
		t.Errorf("every: %+v, %v; want all of 21 found", got, err)
	}
	got, err = try(t.Context(), "some", equivalent{})
	want := []string{"some/p.go: func Less(a, b int) bool { return a «<» b } -> <=", "some/p.go: for n «>» 0 { -> >=", "some/p.go: for n «>» 0 { -> <="}
	if survived := keys(got.survivors); err != nil || got.tried != 5 || cmp.Diff(want, survived) != "" {
		t.Errorf("some: %d tried, %q survived, %v; want %q, and the endless loop found", got.tried, survived, err, want)
	}
	listed := equivalent{want[0]: false, "some/p.go: a «<» b -> <=": false, "every/p.go: a «<» b -> <=": false}
	got, err = try(t.Context(), "some", listed)
	if err != nil || got.tried != 4 || got.equivalent != 1 || len(got.survivors) != 2 {
		t.Errorf("some: %+v, %v; want one of them listed", got, err)
	}
	if diff := cmp.Diff([]string{"some/p.go: a «<» b -> <="}, listed.unknown("some")); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
	for folder, want := range map[string]string{"broken": "without a mutant", "invalid": "cannot use true", "absent": "list the files of absent"} {
		if _, err := try(t.Context(), folder, equivalent{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", folder, err, want)
		}
	}
}

func keys(mutants []mutant) []string {
	var all []string
	for _, m := range mutants {
		all = append(all, m.key())
	}
	return all
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	lost := func(n int) []mutant { return make([]mutant, n) }
	for reason, tc := range map[string]struct {
		tally tally
		fails bool
	}{
		"no mutants":                   {tally{}, false},
		"all are found":                {tally{tried: 3}, false},
		"just enough are found":        {tally{tried: 100, survivors: lost(5)}, false},
		"too few are found":            {tally{tried: 100, survivors: lost(6)}, true},
		"a little too few are found":   {tally{tried: 1000, survivors: lost(51)}, true},
		"as many listed as may be":     {tally{tried: 95, equivalent: 5}, false},
		"too many listed":              {tally{tried: 94, equivalent: 6}, true},
		"listed ones are not found":    {tally{tried: 95, equivalent: 5, survivors: lost(5)}, true},
		"listed ones, and just enough": {tally{tried: 95, equivalent: 5, survivors: lost(4)}, false},
	} {
		if err := tc.tally.verdict("p", 95); (err != nil) != tc.fails {
			t.Errorf("%s: got %v", reason, err)
		}
	}
}

func TestReadEquivalent(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "list")
	for text, want := range map[string]int{"": 0, "# a comment\n\n": 0, "p.go: a «<» b -> <=  # never equal\n": 1, "p.go: a «<» b -> <=\n": -1} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := readEquivalent(name)
		if got := len(list); want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%q: %d entries, %v", text, got, err)
		}
	}
	if _, err := readEquivalent(name + "-gone"); err == nil {
		t.Error("a list that does not exist is an error")
	}
}
