package proxmox

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// rule returns a rule for packets to a port; "" is all of them.
func rule(action, port, enable string) model.Value {
	fields := []model.Field{{Name: "type", Value: model.StringOf("in")}, {Name: "action", Value: model.StringOf(action)}, {Name: "enable", Value: model.StringOf(enable)}}
	if port != "" {
		fields = append(fields, model.Field{Name: "dport", Value: model.StringOf(port)})
	}
	return model.MapOf(fields...)
}

// decides returns what rules decide about a packet to a port.
func decides(rules []model.Value, port string) string {
	for _, r := range rules {
		if to := r.At("dport").Str(); pveapi.Truth(r.At("enable")) && (to == "" || to == port) {
			return r.At("action").Str()
		}
	}
	return "the policy"
}

// TestRuleSteps changes random lists of rules: at each moment a packet has the fate that it had before, or that it has
// afterwards, and the last request leads to what is wanted.
func TestRuleSteps(t *testing.T) {
	t.Parallel()
	ports := []string{"22", "80", "443"}
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.Custom(func(t *rapid.T) model.Value {
			return rule(rapid.SampledFrom([]string{"ACCEPT", "DROP", "web"}).Draw(t, "action"), rapid.SampledFrom(append(ports, "")).Draw(t, "port"), rapid.SampledFrom([]string{"0", "1", "1"}).Draw(t, "enable"))
		})
		l := &list{place: place{path: "/f"}, kind: normalize.FirewallRules, field: "rules", rows: rapid.SliceOfN(draw, 0, 6).Draw(t, "live")}
		wanted := rapid.SliceOfN(draw, 0, 6).Draw(t, "wanted")
		keeps := pairs(len(wanted), len(l.rows), func(n, i int) bool { return wanted[n].Equal(l.rows[i]) }, true)
		rows := l.rows
		for i, step := range l.steps(wanted, keeps) {
			if rows = step.rows; len(rows) > len(l.rows)+len(wanted) {
				t.Fatalf("step %d has %d rows", i, len(rows))
			}
			for _, port := range ports {
				if is := decides(rows, port); is != decides(l.rows, port) && is != decides(wanted, port) {
					t.Fatalf("after step %d (%s) port %s is %s:\n%v\n%v\n%v", i, step.text, port, is, l.rows, rows, wanted)
				}
			}
		}
		if !slices.EqualFunc(rows, wanted, model.Value.Equal) {
			t.Fatalf("the rules are %v, want %v", rows, wanted)
		}
	})
}

// TestPairs compares the number of pairs with that of all choices.
func TestPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 6)
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		got := pairs(len(a), len(b), func(n, m int) bool { return a[n] == b[m] }, true)
		last, count := -1, 0
		for n, m := range got {
			if m < 0 {
				continue
			}
			if m <= last || a[n] != b[m] {
				t.Fatalf("the pairs of %v and %v are %v", a, b, got)
			}
			last, count = m, count+1
		}
		if most := longestCommon(a, b); count != most {
			t.Fatalf("%d pairs of %v and %v, want %d: %v", count, a, b, most, got)
		}
	})
}

func longestCommon(a, b []int) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if a[0] == b[0] {
		return 1 + longestCommon(a[1:], b[1:])
	}
	return max(longestCommon(a[1:], b), longestCommon(a, b[1:]))
}

// TestEntrySteps changes the entries of an IP set: the narrowest one that has an address decides about it.
func TestEntrySteps(t *testing.T) {
	t.Parallel()
	entry := func(cidr string, no bool) model.Value {
		row := model.MapOf(model.Field{Name: "cidr", Value: model.StringOf(cidr)})
		if no {
			row = row.With("nomatch", model.StringOf("1"))
		}
		return row
	}
	live := []model.Value{entry("192.0.2.0/24", false), entry("192.0.2.7", true), entry("198.51.100.0/24", false), entry("198.51.100.9", true)}
	wanted := []model.Value{entry("192.0.2.0/24", true), entry("203.0.113.0/24", false), entry("203.0.113.7", true)}
	l := &list{place: place{path: "/f", name: "s"}, kind: normalize.FirewallIPSet, field: "cidr", rows: live}
	var texts []string
	for _, s := range l.steps(wanted, []int{-1, -1, -1}) {
		texts = append(texts, s.method+" "+s.path+" "+s.form.Encode())
	}
	want := []string{
		"POST /f/ipset/s cidr=203.0.113.7&nomatch=1", "POST /f/ipset/s cidr=203.0.113.0%2F24", "PUT /f/ipset/s/192.0.2.0%2F24 nomatch=1",
		"DELETE /f/ipset/s/198.51.100.0%2F24 ", "DELETE /f/ipset/s/192.0.2.7 ", "DELETE /f/ipset/s/198.51.100.9 ",
	}
	if fmt.Sprint(texts) != fmt.Sprint(want) {
		t.Errorf("the requests are\n%q, want\n%q", texts, want)
	}
}
