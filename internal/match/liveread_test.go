package match

import (
	"slices"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestLiveRead checks how the list of a source and the reading of an engine decide together whether a
// resource exists.
func TestLiveRead(t *testing.T) {
	t.Parallel()
	listed := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	value := model.MapOf(model.Field{Name: "cidr_block", Value: model.StringOf("10.0.0.0/16")})
	covered := []model.Coverage{{Source: "prod", Kind: "aws/VPC", Place: "eu", Complete: true}, {Source: "prod", Kind: "aws/VPC", Reason: "the region is not read"}}
	for reason, tt := range map[string]struct {
		place    string
		read     *model.LiveRead
		live     bool
		unproven bool
	}{
		"deleted after the plan":                      {place: "eu", read: &model.LiveRead{Value: value, At: listed.Add(-time.Minute)}},
		"created after the list":                      {place: "eu", read: &model.LiveRead{Value: value, At: listed.Add(time.Minute)}, live: true},
		"in a region that is not read":                {place: "us", read: &model.LiveRead{Value: value, At: listed.Add(-time.Minute)}, live: true},
		"gone for the plan, in a region not read":     {place: "us", read: &model.LiveRead{At: listed.Add(-time.Minute)}},
		"gone for both":                               {place: "eu", read: &model.LiveRead{At: listed.Add(-time.Minute)}},
		"only a state, gone":                          {place: "eu", read: &model.LiveRead{Value: model.MapOf()}},
		"only a state, in a region that is not read":  {place: "us", read: &model.LiveRead{Value: model.MapOf()}, unproven: true},
		"only a state, in a region that is not known": {read: &model.LiveRead{Value: model.MapOf()}, unproven: true},
	} {
		c := model.Claim{Declaration: "infra", Source: "prod", Kind: "aws/VPC", ID: "vpc-1", Place: tt.place, Value: value, LiveRead: tt.read}
		subjects := Match(model.Snapshot{Source: "prod", Taken: listed, Coverage: covered},
			[]model.Declaration{{Name: "infra", Governs: []string{"prod"}, Claims: []model.Claim{c}}})
		if len(subjects) != 1 {
			t.Fatalf("%s: %d subjects", reason, len(subjects))
		}
		if s := subjects[0]; (s.Live != nil) != tt.live || (s.Unread != "") != tt.unproven {
			t.Errorf("%s: live %v, unread %q", reason, s.Live != nil, s.Unread)
		}
	}
}

// TestChildren checks that what resources of their own show is not compared a second time in their
// parent, unless the source has not read all of them, and that a claim covers the children that it
// declares.
func TestChildren(t *testing.T) {
	t.Parallel()
	const group, rule = "aws/Group", "aws/Rule"
	fields := func(extra ...model.Field) model.Value {
		return model.MapOf(append(extra, model.Field{Name: "name", Value: model.StringOf("web")})...)
	}
	ingress := model.Field{Name: "ingress", Value: model.ListOf(model.StringOf("22"))}
	s := model.Snapshot{Source: "prod", Coverage: []model.Coverage{{Source: "prod", Complete: true}}, Resources: []model.Resource{
		{Key: model.Key{Source: "prod", Kind: group, ID: "sg-1"}, Value: fields()},
		{Key: model.Key{Source: "prod", Kind: group, ID: "sg-2"}, SystemOwned: "the default group"},
		{Key: model.Key{Source: "prod", Kind: rule, ID: "sgr-1"}, Parent: model.Ref{Kind: group, ID: "sg-1"}},
		{Key: model.Key{Source: "prod", Kind: rule, ID: "sgr-2"}, Parent: model.Ref{Kind: group, ID: "sg-2"}},
	}}
	claim := model.Claim{Declaration: "infra", Kind: group, ID: "sg-1", Value: fields(), LiveRead: &model.LiveRead{Value: fields(ingress), At: time.Unix(1, 0)}}
	d := model.Declaration{Name: "infra", Governs: []string{"prod"}, Scopes: []model.Scope{{Kind: group}, {Kind: rule}},
		Includes: []model.Included{{Source: "prod", Ref: model.Ref{Kind: rule}, Identity: model.Identity{By: "rule", Value: "sg-1 22"}}}}
	for reason, tt := range map[string]struct {
		change   func(*model.Claim, *model.Snapshot)
		compared bool
		rules    int
	}{
		"rules of their own": {func(c *model.Claim, _ *model.Snapshot) { c.Children = []model.Children{{Field: "ingress", Kind: rule}} }, false, 2},
		"rules in the group": {func(c *model.Claim, _ *model.Snapshot) { c.CoversChildren = []string{rule} }, true, 1},
		"rules that it includes": {func(_ *model.Claim, s *model.Snapshot) {
			s.Resources = slices.Clone(s.Resources)
			s.Resources[2].Identities = []model.Identity{{By: "rule", Value: "sg-1 22"}}
		}, true, 1},
		"rules that were not read": {func(c *model.Claim, s *model.Snapshot) {
			c.Children = []model.Children{{Field: "ingress", Kind: rule}}
			s.Coverage = append(s.Coverage, model.Coverage{Source: "prod", Kind: rule, Reason: "denied"})
		}, true, 2},
	} {
		c, read := claim, s
		tt.change(&c, &read)
		one := d
		one.Claims = []model.Claim{c}
		rules := 0
		for _, subject := range Match(read, []model.Declaration{one}) {
			if subject.Key.Kind == rule && subject.UndeclaredBy != nil {
				rules++
			}
			if subject.ID != "sg-1" {
				continue
			}
			if _, compared := subject.Claims[0].LiveRead.Value.Get("ingress"); compared != tt.compared {
				t.Errorf("%s: the group's ingress is compared: %v", reason, compared)
			}
		}
		if rules != tt.rules {
			t.Errorf("%s: %d rules are expected to be declared, want %d", reason, rules, tt.rules)
		}
	}
	if _, kept := claim.LiveRead.Value.Get("ingress"); !kept {
		t.Error("the claim of the declaration was modified")
	}
}
