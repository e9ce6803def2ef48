package mapping

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestParseSteps(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]step{
		"":                            nil,
		"memory":                      {{name: "memory"}},
		"disk[1].size":                {{name: "disk"}, {index: 1}, {name: "size"}},
		"disk[-2].size":               {{name: "disk"}, {index: -2}, {name: "size"}},
		`custom_fields["a b.[c]\"d"]`: {{name: "custom_fields"}, {name: `a b.[c]"d`}},
		`["ä"].b`:                     {{name: "ä"}, {name: "b"}},
		"a-b_c$1":                     {{name: "a-b_c$1"}},
		"nics[mac=BC:24].vlan":        {{name: "nics"}},
		"a[+1]":                       {{name: "a"}},
		"a[1":                         {{name: "a"}},
		`a["b"c]`:                     {{name: "a"}},
		`a[""]`:                       {{name: "a"}},
		"a..b":                        {{name: "a"}},
		"a[99999999999999999999]":     {{name: "a"}},
	} {
		if diff := gocmp.Diff(want, parseSteps(path), gocmp.AllowUnexported(step{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", path, diff)
		}
	}
}
