package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func valueOf(t *testing.T, text string) *Value {
	t.Helper()
	if text == "" {
		return nil
	}
	var v Value
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return &v
}

// asked is a finding on one of many resources that priya touched at once.
func asked(id string, changes ...Change) Finding {
	return Finding{ID: id, Verdict: Changed, Key: Key{Source: "netbox", Kind: "netbox/dcim.device", ID: id}, Changes: changes,
		Actor: Actor{Name: "priya", Via: "NetBox changelog", Evidence: "object-change " + id, Request: "7f3a", Confidence: Exact}}
}

func with(f Finding, change func(*Finding)) Finding {
	f.Changes = slices.Clone(f.Changes)
	change(&f)
	return f
}

func TestCause(t *testing.T) {
	t.Parallel()
	site := Change{Path: "site", Declared: valueOf(t, `"ber1"`), Recorded: valueOf(t, `"ber1"`), Live: valueOf(t, `"berlin1"`)}
	lists := func(declared, live string) Finding {
		return asked("2", Change{Path: "tags", Recorded: valueOf(t, declared), Live: valueOf(t, live)})
	}
	first := asked("1", site)
	tagged := lists(`["old","web"]`, `["new","web"]`)
	claimed := func(address, path string) Finding {
		return asked(address, Change{Path: "memory", Declared: valueOf(t, "2"), Live: valueOf(t, "2"), Claims: []ClaimedValue{
			{Declaration: "infra", Address: address, Value: *valueOf(t, "2")}, {Declaration: "intent", Address: address, Path: path, Value: *valueOf(t, "4")}}})
	}
	for reason, tc := range map[string]struct {
		a, b Finding
		same bool
	}{
		"another resource":                 {first, asked("2", site), true},
		"another kind":                     {first, with(asked("2", site), func(f *Finding) { f.Kind = "netbox/dcim.site" }), true},
		"another declaration of it":        {first, with(asked("2", site), func(f *Finding) { f.Declaration, f.Address = "infra", "x.y" }), true},
		"another request":                  {first, with(asked("2", site), func(f *Finding) { f.Actor.Request = "8" }), false},
		"the same id in another log":       {first, with(asked("2", site), func(f *Finding) { f.Actor.Via = "git" }), false},
		"another source":                   {first, with(asked("2", site), func(f *Finding) { f.Source = "other" }), false},
		"another verdict":                  {first, with(asked("2", site), func(f *Finding) { f.Verdict = Conflict }), false},
		"another field":                    {first, with(asked("2", site), func(f *Finding) { f.Changes[0].Path = "tenant" }), false},
		"another value before":             {first, with(asked("2", site), func(f *Finding) { f.Changes[0].Declared = valueOf(t, `"ber2"`) }), false},
		"another value live":               {first, with(asked("2", site), func(f *Finding) { f.Changes[0].Live = valueOf(t, `"x"`) }), false},
		"absent and null":                  {first, with(asked("2", site), func(f *Finding) { f.Changes[0].Declared = nil }), false},
		"a side more":                      {first, with(asked("2", site), func(f *Finding) { f.Changes[0].Running = valueOf(t, "1") }), false},
		"one field more":                   {first, asked("2", site, Change{Path: "name"}), false},
		"the order of fields":              {asked("1", site, Change{Path: "name"}), asked("2", Change{Path: "name"}, site), true},
		"a field that somebody else had":   {first, with(asked("2", site), func(f *Finding) { f.Changes[0].Actor = &Actor{Request: "8"} }), false},
		"an entry of its own for a field":  {first, with(asked("2", site), func(f *Finding) { f.Changes[0].Actor = &Actor{Evidence: "9", Request: "7f3a"} }), true},
		"tags beside the one":              {tagged, lists(`["a","old"]`, `["a","new"]`), true},
		"tags in another order":            {tagged, lists(`["web","old"]`, `["x","new"]`), false},
		"the place of the tag":             {tagged, lists(`["old","x"]`, `["x","new"]`), true},
		"a tag more that came":             {tagged, lists(`["old"]`, `["new","more"]`), false},
		"a tag that went only":             {tagged, lists(`["old"]`, `[]`), false},
		"as often":                         {lists(`["a"]`, `["a","a"]`), lists(`["a","a"]`, `["a","a","a"]`), true},
		"twice as often":                   {lists(`["a"]`, `["a","a"]`), lists(`["a"]`, `["a","a","a"]`), false},
		"no list before":                   {tagged, lists(``, `["new","web"]`), false},
		"only the order of a list":         {lists(`["a","b"]`, `["b","a"]`), lists(`["c","d"]`, `["d","c"]`), false},
		"fields beside the one":            {lists(`{"a":1,"x":1}`, `{"a":2,"x":1}`), lists(`{"a":1,"y":{}}`, `{"a":2,"y":{}}`), true},
		"another field of a map":           {lists(`{"a":1,"b":1}`, `{"a":2,"b":1}`), lists(`{"a":1,"b":1}`, `{"a":1,"b":2}`), false},
		"a field that came":                {lists(`{}`, `{"a":null}`), lists(`{"b":1}`, `{"b":1,"a":null}`), true},
		"a field that came, and its null":  {lists(`{}`, `{"a":null}`), lists(`{"a":null}`, `{}`), false},
		"tags within a map":                {lists(`{"t":["a","old"]}`, `{"t":["a","new"]}`), lists(`{"t":["old"]}`, `{"t":["new"]}`), true},
		"texts that run into one another":  {lists(`["ab","c"]`, `[]`), lists(`["a","bc"]`, `[]`), false},
		"a side without one to compare":    {lists(`["old"]`, ``), lists(`["older"]`, ``), false},
		"claims at other addresses":        {claimed("1", "vcpus"), claimed("2", "vcpus"), true},
		"claims in other words":            {claimed("1", "vcpus"), claimed("2", ""), false},
		"nothing but the whole of it":      {asked("1"), asked("2"), true},
		"what came where nothing was said": {asked("1", Change{Path: "tags[=a]", Live: valueOf(t, `"a"`)}), asked("2", Change{Path: "tags[=a]", Live: valueOf(t, `"b"`)}), false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if got := !tc.a.Cause().IsZero() && tc.a.Cause() == tc.b.Cause(); got != tc.same {
				t.Errorf("one cause: %t, want %t", got, tc.same)
			}
		})
	}
	if unasked := with(first, func(f *Finding) { f.Actor.Request = "" }); !unasked.Cause().IsZero() {
		t.Error("a finding without a request has a cause to share")
	}
}

// TestCauseKeepsSecrets: a cause contains no secret.
func TestCauseKeepsSecrets(t *testing.T) {
	t.Parallel()
	secret := func(digest string) Finding {
		old, now := DigestOf(digest+"1"), DigestOf(digest+"2")
		list := ListOf(old, StringOf("x"))
		return asked(digest, Change{Path: "keys[=" + digest + "2]", Live: &now}, Change{Path: "list", Declared: &list, Live: &now, Secret: true})
	}
	one, other := secret("d1ce57a0"), secret("d1ce57b0")
	if one.Cause() != other.Cause() {
		t.Error("what reads the same, and came of one request, is not of one cause")
	}
	public := one.Public()
	if one.Cause() != public.Cause() {
		t.Error("a public finding has another cause")
	}
	raw, err := json.Marshal(public)
	if err != nil {
		t.Fatal(err)
	}
	var read Finding
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	if one.Cause() != read.Cause() {
		t.Error("a finding that was sent has another cause")
	}
}

func TestByCause(t *testing.T) {
	t.Parallel()
	cause := func(f Finding) (Cause, string) { return f.Cause(), f.Owner }
	ids := func(findings []Finding) string {
		var all []string
		for _, group := range ByCause(findings, cause) {
			one := ""
			for i := range group {
				one += group[i].ID
			}
			all = append(all, one)
		}
		return fmt.Sprint(all)
	}
	of := func(request string, names ...string) []Finding {
		var all []Finding
		for _, id := range names {
			all = append(all, with(asked(id), func(f *Finding) { f.Actor.Request = request }))
		}
		return all
	}
	owned := of("1", "e", "f")
	owned[0].Owner, owned[1].Owner = "x", "x"
	for reason, tc := range map[string]struct {
		findings []Finding
		want     string
	}{
		"nothing":                           {nil, "[]"},
		"too few":                           {of("1", "a", "b", "c"), "[a b c]"},
		"enough":                            {of("1", "a", "b", "c", "d"), "[abcd]"},
		"nobody asked":                      {of("", "a", "b", "c", "d", "e"), "[a b c d e]"},
		"where the first stands":            {slices.Concat(of("2", "x"), of("1", "a"), of("2", "y"), of("1", "b", "c", "d")), "[x abcd y]"},
		"several":                           {slices.Concat(of("1", "a", "b"), of("2", "k", "l", "m", "n"), of("1", "c", "d")), "[abcd klmn]"},
		"what is apart does not count, too": {slices.Concat(of("1", "a", "b", "c"), owned), "[a b c e f]"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, ids(tc.findings)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

// TestByCauseLosesNothing: each element is in exactly one group.
func TestByCauseLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		requests := rapid.SliceOf(rapid.SampledFrom([]string{"", "1", "2", "3"})).Draw(t, "requests")
		all := make([]int, len(requests))
		for i := range all {
			all[i] = i
		}
		var got []int
		for _, group := range ByCause(all, func(i int) (Cause, string) {
			f := Finding{Actor: Actor{Request: requests[i]}}
			return f.Cause(), ""
		}) {
			if len(group) > 1 && len(group) < CauseFrom {
				t.Fatalf("%d are said as one", len(group))
			}
			if !slices.IsSorted(group) {
				t.Fatalf("a group is not in order: %v", group)
			}
			got = append(got, group...)
		}
		slices.Sort(got)
		if !slices.Equal(got, all) {
			t.Fatalf("got %v, want each of %d once", got, len(all))
		}
	})
}

func BenchmarkCause(b *testing.B) {
	value := func(text string) *Value { v := StringOf(text); return &v }
	f := asked("1", Change{Path: "tags[=new]", Live: value("new")}, Change{Path: "tags[=old]", Declared: value("old"), Recorded: value("old")})
	b.ReportAllocs()
	for b.Loop() {
		f.Cause()
	}
}
