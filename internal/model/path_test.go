package model

import "testing"

func TestWithoutKeys(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		`a.b`:               `a.b`,
		`a[0].b`:            `a.b`,
		`a[name=x].b[1]`:    `a.b`,
		`a["x]y"].b`:        `a["x]y"].b`,
		`a["x[y"].b`:        `a["x[y"].b`,
		`a["x\"]y"].b`:      `a["x\"]y"].b`,
		`a["x\\"].b`:        `a["x\\"].b`,
		`a[="x]y"].b`:       `a.b`,
		`a[x="\"]y"].b`:     `a.b`,
		`a[0`:               `a`,
		`a"b[c]"d`:          `a"b"d`,
		`a[x="1",y="2"].b`:  `a.b`,
		`labels["a.b/c"].d`: `labels["a.b/c"].d`,
	} {
		if got := WithoutKeys(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestBelow checks whether one path continues another one at a step, and whether one of two does.
func TestBelow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		path, above    string
		below, overlap bool
	}{
		{"a.b", "a.b", true, true},
		{"a.b.c", "a.b", true, true},
		{"a.b[0]", "a.b", true, true},
		{`labels["a.b/c"]`, "labels", true, true},
		{`labels["a.b/c"].d`, `labels["a.b/c"]`, true, true},
		{"a", "a.b", false, true},
		{"labels", `labels["a.b/c"]`, false, true},
		{"ab", "a", false, false},
		{"a", "ab", false, false},
		{"a.b", "a.c", false, false},
		{`labels["a.b"]`, `labels["a.c"]`, false, false},
		{"spec-x", "spec", false, false},
		{"", "", true, true},
		{"a", "", false, false},
		{"", "a", false, false},
	} {
		if got := Below(tc.path, tc.above); got != tc.below {
			t.Errorf("%s below %s: %t", tc.path, tc.above, got)
		}
		if got := Overlap(tc.path, tc.above); got != tc.overlap {
			t.Errorf("%s and %s overlap: %t", tc.path, tc.above, got)
		}
	}
}
