package filter

import (
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func outlines() []*model.Outline {
	of := func(id, kind, key, place, owner, actor string, severity model.Severity, others ...string) *model.Outline {
		return &model.Outline{ID: id, Severity: severity, Key: model.Key{Source: "prod", Kind: kind, ID: key}, Place: place, Owner: owner,
			Actor: model.OutlineActor{Name: actor}, Actors: others}
	}
	return []*model.Outline{
		of("1", "kubernetes/Deployment.apps", "shop/api", "shop", "team-shop", "alice", model.High),
		of("2", "kubernetes/Service", "shop/api", "shop", "", "", model.Low, "bob"),
		of("3", "kubernetes/Service.serving.knative.dev", "lab/web", "lab", "Team A, B", "kubectl-edit", model.Critical),
		of("4", "proxmox/qemu", "101", "pve1", "", "root@pam", model.Medium),
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	list := outlines()
	names := NamesOf(list, func(o *model.Outline) string { return o.Kind })
	for _, tc := range []struct {
		reason string
		filter Filter
		want   string
	}{
		{"no filter", Filter{}, "1 2 3 4"},
		{"severities", Filter{Severities: []model.Severity{model.High, model.Low}}, "1 2"},
		{"a short name", Filter{Kinds: []string{"deploy"}}, "1"},
		{"a kind that is named exactly, before others of its name", Filter{Kinds: []string{"Service"}}, "2"},
		{"a plural with its group", Filter{Kinds: []string{"services.serving.knative.dev"}}, "3"},
		{"a kind of another system", Filter{Kinds: []string{"QEMU"}}, "4"},
		{"a pattern", Filter{Kinds: []string{"kubernetes/*"}}, "1 2 3"},
		{"no such kind", Filter{Kinds: []string{"pod"}}, ""},
		{"namespaces", Filter{Namespaces: []string{"la*", "pve?"}}, "3 4"},
		{"owners", Filter{Owners: []string{"team-*"}}, "1"},
		{"an owner with a comma", Filter{Owners: []string{"Team A, B"}}, "3"},
		{"no owner", Filter{Owners: []string{NoOwner}}, "2 4"},
		{"an actor", Filter{Actors: []string{"alice"}}, "1"},
		{"the actor of a change", Filter{Actors: []string{"bob"}}, "2"},
		{"an unknown actor", Filter{Actors: []string{"unknown"}}, "2"},
		{"the end of a key", Filter{Resources: []string{"api"}}, "1 2"},
		{"a kind and a name, without the namespace", Filter{Resources: []string{"deploy/api"}}, "1"},
		{"a kind and a key", Filter{Resources: []string{"svc/shop/api"}}, "2"},
		{"a pattern of keys", Filter{Resources: []string{"shop/*"}}, "1 2"},
		{"all must match", Filter{Namespaces: []string{"shop"}, Owners: []string{NoOwner}, Severities: []model.Severity{model.Low}}, "2"},
	} {
		fits, err := tc.filter.Fits(names)
		if err != nil {
			t.Errorf("%s: %v", tc.reason, err)
			continue
		}
		var ids []string
		for _, o := range list {
			if fits(o) {
				ids = append(ids, o.ID)
			}
		}
		if got := strings.Join(ids, " "); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
		if tc.filter.Empty() != (tc.reason == "no filter") {
			t.Errorf("%s: Empty() = %t", tc.reason, tc.filter.Empty())
		}
	}
}

func TestAmbiguousKindIsAnError(t *testing.T) {
	t.Parallel()
	names := NewKindNames("kubernetes/Backup.velero.io", "kubernetes/Backup.k8up.io")
	for _, f := range []Filter{{Kinds: []string{"backup"}}, {Resources: []string{"backup/shop/db"}}} {
		_, err := f.Fits(names)
		if err == nil || err.Error() != `kind "backup" is ambiguous: want one of kubernetes/Backup.k8up.io, kubernetes/Backup.velero.io` {
			t.Errorf("%+v: got %v", f, err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		filter Filter
		want   string
	}{
		{Filter{Severities: model.Severities(), Kinds: []string{"*"}, Resources: []string{"a/*"}}, ""},
		{Filter{Severities: []model.Severity{"hihg"}}, `unknown severity "hihg" (did you mean "high"?): want one of critical, high, medium, low, info`},
		{Filter{Owners: []string{""}}, "a filter has an empty value: leave the filter out to select everything, or give it a value"},
		{Filter{Actors: slices.Repeat([]string{"a"}, MaxPatterns)}, ""},
		{Filter{Actors: slices.Repeat([]string{"a"}, MaxPatterns), Kinds: []string{"b"}},
			"the filters have 101 values of 101 encoded bytes, and the most are 100 of 6144 bytes: use patterns, as in 'shop/*', or several requests"},
		{Filter{Owners: []string{"["}}, `malformed pattern "[": write \[ for the character [`},
	} {
		got := ""
		if err := tc.filter.Check(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.filter, got, tc.want)
		}
	}
}
