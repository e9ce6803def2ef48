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
