package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// refused is the coverage of a kind that a user may not list.
func refused(kind, resource, place string) model.Coverage {
	where := "in all namespaces"
	if place != "" {
		where = "in namespace " + place
	}
	return model.Coverage{Source: "prod", Kind: "kubernetes/" + kind, Place: place, Reason: fmt.Sprintf(
		"forbidden: user %q cannot list %s %s; grant list and watch on it, or exclude the kind", "system:serviceaccount:shop:driftd", resource, where)}
}

func failed(kinds, places int) []model.Coverage {
	var all []model.Coverage
	for k := range kinds {
		for p := range places {
			all = append(all, model.Coverage{Source: "prod", Kind: fmt.Sprintf("kubernetes/Kind%02d", k), Place: fmt.Sprintf("ns-%02d", p), Reason: "timeout"})
		}
	}
	return all
}

func TestGaps(t *testing.T) {
	t.Parallel()
	const rest = "; grant list and watch on it, or exclude the kind"
	const who = `forbidden: user "system:serviceaccount:shop:driftd" cannot list `
	for name, tc := range map[string]struct {
		reason   string
		coverage []model.Coverage
		want     []string
	}{
		"one": {reason: "one kind keeps its whole reason", coverage: []model.Coverage{refused("Secret", "secrets", "")},
			want: []string{"prod: Secret: " + who + "secrets in all namespaces" + rest}},
		"each names itself": {reason: "reasons that differ in the kind alone are one", coverage: []model.Coverage{
			refused("Secret", "secrets", ""), refused("ServiceAccount", "serviceaccounts", ""),
			refused("Ingress.networking.k8s.io", "ingresses.networking.k8s.io", ""),
			refused("NetworkPolicy.networking.k8s.io", "networkpolicies.networking.k8s.io", ""),
		}, want: []string{"prod: 4 kinds, among them Ingress, NetworkPolicy, Secret: " + who + "… in all namespaces" + rest}},
		"places": {reason: "so are those that differ in the place", coverage: []model.Coverage{
			refused("Secret", "secrets", "a"), refused("Secret", "secrets", "b"), refused("Secret", "secrets", "c"), refused("Secret", "secrets", "d"),
		}, want: []string{"prod: Secret in 4 places: " + who + "… in namespace …" + rest}},
		"many": {reason: "many kinds in many places are one line", coverage: failed(52, 30),
			want: []string{"prod: 52 kinds, among them Kind00, Kind01, Kind02 in 30 places: timeout"}},
		"few": {reason: "a few are named", coverage: failed(1, 2), want: []string{"prod: Kind00 (in ns-00), Kind00 (in ns-01): timeout"}},
		"groups": {reason: "what is not one kind is not counted as one", coverage: append(failed(3, 1),
			model.Coverage{Source: "prod", Kind: "kubernetes/*.a.io", Reason: "timeout"}),
			want: []string{"prod: 4 parts, among them Kind00, Kind01, Kind02 in 1 place: timeout"}},
		"kubectl hint": {reason: "a path names the kind, too", coverage: []model.Coverage{
			{Source: "prod", Kind: "kubernetes/Secret", Reason: "500; see kubectl get --raw '/api/v1/secrets?limit=1'"},
			{Source: "prod", Kind: "kubernetes/Job.batch", Reason: "500; see kubectl get --raw '/apis/batch/v1/jobs?limit=1'"},
		}, want: []string{"prod: Job, Secret: 500; see kubectl get --raw …"}},
		"one names itself": {reason: "one reason for two kinds stays whole", coverage: []model.Coverage{
			{Source: "prod", Kind: "kubernetes/Secret", Reason: "grant list on secrets"},
			{Source: "prod", Kind: "kubernetes/Role", Reason: "grant list on secrets"},
		}, want: []string{"prod: Role, Secret: grant list on secrets"}},
		"sources": {reason: "a line speaks of one source", coverage: []model.Coverage{{Source: "b", Reason: "down"}, {Source: "a", Reason: "down"}},
			want: []string{"a: everything: down", "b: everything: down"}},
		"read": {reason: "what was read or skipped is no gap", coverage: []model.Coverage{{Source: "a", Complete: true}, {Source: "b", Skipped: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range newOutline(&model.Report{Coverage: tc.coverage}, phrase.Clock{}).unread() {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestGapsSaidAlreadyAreLeftOut(t *testing.T) {
	t.Parallel()
	secrets := refused("Secret", "secrets", "")
	f := finding("1", model.Unchecked, model.Info, "Secret/shop/db")
	f.Reason = secrets.Reason
	r := model.Report{Findings: []model.Finding{f}, Coverage: []model.Coverage{secrets, refused("Role", "roles", "")}}
	unread := newOutline(&r, phrase.Clock{}).unread()
	if len(unread) != 1 || !strings.HasPrefix(unread[0].String(), "prod: Role: ") {
		t.Errorf("got %v, want the gap of Role alone", unread)
	}
}

func TestUnreadableParts(t *testing.T) {
	t.Parallel()
	r := model.Report{Findings: []model.Finding{part("1", "shop/b.yaml:4"), part("2", "shop/a.yaml:4")}}
	got := newOutline(&r, phrase.Clock{}).unchecked()
	want := "cannot read shop/a.yaml:4, shop/b.yaml:4: found character that cannot start any token"
	if len(got) != 1 || got[0].String() != want {
		t.Errorf("got %v, want %q", got, want)
	}
}

func TestPipesCutLongValues(t *testing.T) {
	t.Parallel()
	f := configMap()
	long := strings.Repeat("x", 10_000)
	claimed := disputed()
	claimed.Changes[1].Claims[0].Value = *text(long)
	lines := strings.Split(write(t, "table", model.Report{Findings: []model.Finding{f, claimed}}, Options{Now: now}), "\n")
	for _, line := range lines {
		if n := phrase.Columns(line); n > 2*pipeLimit+80 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	if whole := write(t, "json", model.Report{Findings: []model.Finding{claimed}}, Options{}); !strings.Contains(whole, long) {
		t.Error("JSON does not have the value whole")
	}
}
