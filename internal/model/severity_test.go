package model_test

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestIsWorld(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"0.0.0.0/0": true, "::/0": true, "::0/0": true, "0:0:0:0:0:0:0:0/0": true, "0/0": true, "0.0.0.0/0.0.0.0": true, "192.0.2.1/0": true,
		"0.0.0.0/00": true, "128.0.0.0/1": true, "64.0.0.0/2": true, "32.0.0.0/3": true, "2000::/3": true, "::ffff:0.0.0.0/96": true,
		"10.0.0.0/8,0.0.0.0/0": true, "10.0.0.0/8, ::/0": true, "0.0.0.0-255.255.255.255": true, "32.0.0.0-63.255.255.255": true,
		"::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff": true,

		"": false, "10.0.0.0/8": false, "16.0.0.0/4": false, "fc00::/7": false, "2001:db8::/32": false, "0.0.0.0": false, "0.0.0.0/": false, "::ffff:10.0.0.0/104": false,
		"10.0.0.0-10.255.255.255": false, "0.0.0.0-::": false, "9.0.0.0-1.0.0.0": false, "+dc/admins": false, "10.0.0.0/8,192.168.0.0/16": false, "a-b": false,
	} {
		if got := model.IsWorld(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	open := model.Condition{Path: "rules", With: []model.Condition{{Path: "action", In: []string{"accept"}}, {Path: "from", In: []string{""}, World: true}}}
	files := model.Condition{Path: "path", Above: []string{"/etc/kubernetes", "/root"}}
	for reason, tc := range map[string]struct {
		condition model.Condition
		value     string
		want      bool
	}{
		"one element holds all":          {open, `{"rules":[{"action":"drop"},{"action":"accept","from":"::/0"}]}`, true},
		"two elements hold a half each":  {open, `{"rules":[{"action":"drop"},{"action":"accept","from":"10.0.0.0/8"}]}`, false},
		"an absent field of an element":  {open, `{"rules":[{"action":"accept"}]}`, true},
		"an empty list in an element":    {open, `{"rules":[{"action":"accept","from":[]}]}`, true},
		"a list in an element":           {open, `{"rules":[{"action":"accept","from":["10.0.0.0/8","0.0.0.0/0"]}]}`, true},
		"maps are not empty":             {open, `{"rules":[{"action":"accept","from":[{"group":"a"}]}]}`, false},
		"a map instead of a list":        {open, `{"rules":{"action":"accept"}}`, true},
		"an empty list":                  {open, `{"rules":[]}`, false},
		"no list":                        {open, `{}`, false},
		"a text instead":                 {open, `{"rules":"x"}`, false},
		"a name with dots":               {model.Condition{Path: `data["a.b"].c`, In: []string{"x"}}, `{"data":{"a.b":{"c":"x"}}}`, true},
		"not that name":                  {model.Condition{Path: `data["a.b"].c`, In: []string{"x"}}, `{"data":{"a":{"b":{"c":"x"}}}}`, false},
		"another text":                   {model.Condition{Path: "a", NotIn: []string{"x"}}, `{"a":"y"}`, true},
		"no text":                        {model.Condition{Path: "a", NotIn: []string{"x"}}, `{}`, true},
		"that text":                      {model.Condition{Path: "a", NotIn: []string{"x"}}, `{"a":"x"}`, false},
		"a field that is there":          {model.Condition{Path: "a", Present: true}, `{"a":""}`, true},
		"a field that is not":            {model.Condition{Path: "a", Present: true}, `{"b":""}`, false},
		"the file":                       {files, `{"path":"/root/"}`, true},
		"a folder of the file":           {files, `{"path":"//etc"}`, true},
		"the root folder":                {files, `{"path":"/"}`, true},
		"a folder beside the file":       {files, `{"path":"/etc/kube"}`, false},
		"a folder in the file":           {files, `{"path":"/root/x"}`, false},
		"no path":                        {files, `{"path":""}`, false},
		"a relative path":                {files, `{"path":"root"}`, false},
		"no files, and any path at all":  {model.Condition{Path: "path"}, `{"path":"/"}`, false},
		"a scalar where a map should be": {model.Condition{Path: "a.b", In: []string{""}}, `{"a":"x"}`, true},
	} {
		var v model.Value
		if err := v.UnmarshalJSON([]byte(tc.value)); err != nil {
			t.Fatal(err)
		}
		if got := tc.condition.Holds(v); got != tc.want {
			t.Errorf("%s: %t", reason, got)
		}
	}
}

func TestCutName(t *testing.T) {
	t.Parallel()
	for at, want := range map[string][2]string{
		"a": {"a", ""}, "a.b.c": {"a", "b.c"}, `a["b.c"].d`: {"a", `["b.c"].d`}, `["b.c"].d`: {"b.c", "d"}, `["b\"]c"]`: {`b"]c`, ""},
		`["b"]["c"]`: {"b", `["c"]`}, "": {"", ""}, "[0]": {"[0]", ""},
	} {
		if name, rest := model.CutName(at); name != want[0] || rest != want[1] {
			t.Errorf("%s: %q, %q", at, name, rest)
		}
	}
}

func TestRulesAreAboutVerdictsAndIDs(t *testing.T) {
	t.Parallel()
	all, some := model.SeverityRule{}, model.SeverityRule{Verdicts: []model.Verdict{model.Changed}, IDs: []string{"*/a", "ns/b"}}
	for id, want := range map[string]bool{"x/a": true, "ns/b": true, "x/b": false, "a": false} {
		if some.About(model.Changed, id) != want || some.About(model.Missing, id) || !all.About(model.Missing, id) {
			t.Errorf("%s: want %t", id, want)
		}
	}
}
