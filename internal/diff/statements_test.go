package diff

import (
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// renamedLens shows live fields under other names. Fields in halves have half the live value
// and cannot be converted back.
type renamedLens struct {
	schema *model.Schema
	live   map[string]string
	halves string
	// oneWay fields cannot be converted back, either.
	oneWay []string
}

func newRenamedLens(live map[string]string, halves string, oneWay ...string) *renamedLens {
	l := &renamedLens{schema: &model.Schema{Fields: map[string]*model.Schema{}}, live: live, halves: halves, oneWay: append(oneWay, halves)}
	for name := range live {
		l.schema.Fields[name] = &model.Schema{}
	}
	return l
}

func (l *renamedLens) Schema() *model.Schema { return l.schema }

func (l *renamedLens) View(live model.Value) model.Value {
	v := model.MapOf()
	for name, field := range l.live {
		if field == "flavor" && name != field {
			field = "flavor_" + name // derived from it
		}
		held, ok := live.Get(field)
		if !ok {
			continue
		}
		if name == l.halves {
			held = model.StringOf(held.Text() + "/2")
		}
		v = v.With(name, held)
	}
	return v
}

func (l *renamedLens) LivePath(_ model.Value, path string) string { return l.live[path] }

func (l *renamedLens) IsShared(string) bool        { return false }
func (l *renamedLens) Misfit(*model.Schema) string { return "" }

func (l *renamedLens) LiveValue(_ model.Value, path string, v model.Value) (model.Value, bool) {
	return v, !slices.Contains(l.oneWay, path)
}

func TestClaimsInDifferentForms(t *testing.T) {
	t.Parallel()
	tool := newRenamedLens(map[string]string{"memory_mb": "memory", "cpus": "cores", "part": "cores", "title": "name", "addr": "ip", "vids": "trunks", "flavor": "flavor"}, "part")
	inventory := newRenamedLens(map[string]string{"memory": "memory", "vcpus": "cores", "half": "cores", "name": "name", "ip": "ip", "trunks": "trunks", "ram": "flavor", "cpu": "flavor"}, "half", "ram", "cpu")
	inventory.schema.Fields["name"].Location = true
	for _, tc := range []struct {
		reason                string
		live, tool, inventory string
		declared              string
		want                  []string
		says                  string
	}{
		{"both agree with what is live", `{"memory":4}`, `{"memory_mb":4}`, `{"memory":4}`, "", nil, ""},
		{"the inventory stands alone", `{"memory":4}`, `{"memory_mb":4}`, `{"memory":8}`, "",
			[]string{"disputed memory_mb - 4"}, "inventory differs, tool and pve agree"},
		{"the tool stands alone", `{"memory":8}`, `{"memory_mb":4}`, `{"memory":8}`, "",
			[]string{"disputed memory_mb - 8"}, "tool differs, inventory and pve agree"},
		{"no two agree", `{"memory":16}`, `{"memory_mb":4}`, `{"memory":8}`, "",
			[]string{"disputed memory_mb - 16"}, "tool, inventory and pve all differ"},
		{"both say the same, and somebody changed it: once", `{"memory":16}`, `{"memory_mb":4}`, `{"memory":"4"}`, "",
			[]string{"changed memory_mb 4 16"}, ""},
		{"an address that both write in their way", `{"ip":"::9"}`, `{"addr":"2001:db8:0::5/64"}`, `{"ip":"2001:DB8::5/64"}`, "",
			[]string{`changed addr "2001:db8:0::5/64" "::9"`}, ""},
		{"a list that both write in their way", `{"trunks":[9]}`, `{"vids":["20","30"]}`, `{"trunks":[30,20]}`, "",
			[]string{`changed vids ["20","30"] [9]`}, ""},
		{"words that cannot be turned round, and say the same", `{"cores":6}`, `{"cpus":4}`, `{"half":"4/2"}`, "",
			[]string{"changed cpus 4 6"}, ""},
		{"words that cannot be turned round, and say something else", `{"cores":6}`, `{"cpus":4}`, `{"half":"2/2"}`, "",
			[]string{"disputed cpus - 6"}, "tool, inventory and pve all differ"},
		{"what cannot be put in the other's words is said by each", `{"cores":6}`, `{"part":"4/2"}`, `{"half":"2/2"}`, "",
			[]string{`changed part "4/2" "6/2"`, `changed half - "6/2"`}, ""},
		{"to the inventory another name is a move, of which both tell", `{"name":"db-new"}`, `{"title":"db"}`, `{"name":"db"}`, "",
			[]string{`moved title "db" "db-new"`}, ""},
		{"a field of which one speaks alone", `{"memory":4,"cores":2}`, `{"memory_mb":4,"cpus":4}`, `{"memory":8}`, "",
			[]string{"disputed memory_mb - 4", "changed cpus 4 2"}, "inventory differs, tool and pve agree"},
		{"both say the same in another case", `{"name":"x"}`, `{"title":"DB"}`, `{"name":"db"}`, "",
			[]string{`moved title "DB" "x"`}, ""},
		{"both say the same in another order", `{"memory":[]}`, `{"memory_mb":["b","a"]}`, `{"memory":["a","b"]}`, "",
			[]string{`changed memory_mb ["b","a"] []`}, ""},
		{"one says nothing of it", `{"memory":4}`, `{"memory_mb":2}`, `{"memory":null}`, "",
			[]string{"changed memory_mb 2 4"}, ""},
		{"somebody changed what both see, one of them by what follows from it", `{"flavor":"f2","flavor_ram":8,"flavor_cpu":2}`, `{"flavor":"f1"}`, `{"ram":4,"cpu":2}`, "",
			[]string{`changed flavor "f1" "f2"`, "changed ram - 8"}, ""},
		{"only one of them is wrong, in two words", `{"flavor":"f1","flavor_ram":4,"flavor_cpu":2}`, `{"flavor":"f1"}`, `{"ram":8,"cpu":1}`, "",
			[]string{`disputed flavor - "f1"`}, "inventory differs, tool and pve agree"},
		{"what git has taken over already is no dispute", `{"memory":8}`, `{"memory_mb":4}`, `{"memory":4}`, `{"memory_mb":8}`,
			[]string{"codified memory_mb 4 8", "changed memory - 8"}, ""},
		{"what waits for an apply is no dispute", `{"memory":4}`, `{"memory_mb":4}`, `{"memory":4}`, `{"memory_mb":8}`,
			[]string{"pending memory_mb 4 4"}, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			recorded := value(t, tc.tool)
			claims := []*model.Claim{
				{Declaration: "tool", Address: "vm.a", Value: recorded, Lens: tool, RecordOnly: true},
				{Declaration: "inventory", Address: "vm/1", Value: value(t, tc.inventory), Lens: inventory, ClaimMatching: model.ClaimMatching{ByIdentity: true}, ClaimHistory: model.ClaimHistory{WriterUnknown: "the changelog is not read"}},
			}
			if tc.declared != "" {
				claims[0].RecordOnly, claims[0].Recorded, claims[0].Value = false, &recorded, value(t, tc.declared)
			}
			s := model.Subject{Key: model.Key{Source: "pve"}, Live: &model.Resource{Value: value(t, tc.live), WriterUnknown: "the cluster log is silent"}, Claims: claims}
			outcomes := Compare(&s, Options{})
			if diff := gocmp.Diff(tc.want, sketch(outcomes)); diff != "" {
				t.Error(diff)
			}
			if len(outcomes) > 0 && outcomes[0].Verdict == model.Disputed && outcomes[0].Reason != tc.says {
				t.Errorf("it says %q, want %q", outcomes[0].Reason, tc.says)
			}
			unsigned := map[bool]string{true: "the changelog is not read", false: "the cluster log is silent"}[strings.HasPrefix(tc.says, "inventory")]
			if len(outcomes) > 0 && outcomes[0].Verdict == model.Disputed && outcomes[0].Actor.Reason != unsigned {
				t.Errorf("nobody is known: %q, want %q", outcomes[0].Actor.Reason, unsigned)
			}
		})
	}
}

func TestMissingActors(t *testing.T) {
	t.Parallel()
	event := func(deed model.Action, name string, minute int) model.AuditEvent {
		return model.AuditEvent{Action: deed, Actor: model.Actor{Name: name, At: time.Unix(int64(minute)*60, 0), Confidence: model.Exact}}
	}
	for _, tc := range []struct {
		reason       string
		log, entered []model.AuditEvent
		want         string
	}{
		{"who entered what never was", nil, []model.AuditEvent{event(model.Created, "jonas", 1), event(model.Edited, "mara", 9)}, "never made, or removed and not found in pve's logs: it was declared by jonas at 1970-01-01 00:01 UTC"},
		{"who deleted what was entered", []model.AuditEvent{event(model.Deleted, "eve", 5)}, []model.AuditEvent{event(model.Created, "jonas", 1), event(model.Edited, "mara", 9)}, "eve exact"},
		{"who entered again what had been deleted", []model.AuditEvent{event(model.Deleted, "eve", 5)}, []model.AuditEvent{event(model.Created, "jonas", 6)},
			"never made, or removed and not found in pve's logs: it was declared by jonas at 1970-01-01 00:06 UTC"},
		{"nobody, and why", nil, nil, "the changelog is not read"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			claim := &model.Claim{Value: value(t, `{"memory":1}`), ClaimMatching: model.ClaimMatching{ByIdentity: true}, ClaimHistory: model.ClaimHistory{AuditEvents: tc.entered, WriterUnknown: "the changelog is not read"}}
			s := model.Subject{Key: model.Key{Source: "pve"}, Claims: []*model.Claim{claim}, AuditEvents: tc.log, Kind: &model.Kind{WriterUnknown: "the cluster log is silent"}}
			outcomes := Compare(&s, Options{})
			if len(outcomes) != 1 {
				t.Fatalf("outcomes %+v, want one", outcomes)
			}
			got := outcomes[0].Actor.Reason
			if got == "" {
				got = outcomes[0].Actor.Name + " " + string(outcomes[0].Actor.Confidence)
			}
			if got != tc.want {
				t.Errorf("by %s, want %s", got, tc.want)
			}
		})
	}
}

// TestDisputeBeforeRestart checks that a running guest gets a new memory size when it is
// restarted.
func TestDisputeBeforeRestart(t *testing.T) {
	t.Parallel()
	tool := newRenamedLens(map[string]string{"memory_mb": "memory"}, "")
	inventory := newRenamedLens(map[string]string{"memory": "memory"}, "")
	for _, tc := range []struct {
		reason          string
		tool, inventory string
		want            []string
	}{
		{"somebody changed it, and the inventory says something else again", `{"memory_mb":4}`, `{"memory":2}`, []string{"disputed memory_mb - 8 running 4"}},
		{"the inventory says what still runs, and the tool something else", `{"memory_mb":2}`, `{"memory":4}`, []string{"disputed memory_mb - 8 running 4"}},
		{"the tool was applied, and the inventory does not know yet", `{"memory_mb":8}`, `{"memory":4}`, []string{"disputed memory_mb - 8 running 4"}},
		{"both say what still runs: once", `{"memory_mb":4}`, `{"memory":4}`, []string{"pending-restart memory_mb 4 8 running 4"}},
		{"both say what comes: once", `{"memory_mb":8}`, `{"memory":8}`, []string{"pending-restart memory_mb 8 8 running 4"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := model.Subject{Key: model.Key{Source: "pve"}, Claims: []*model.Claim{
				{Declaration: "tool", Value: value(t, tc.tool), Lens: tool, RecordOnly: true, Complete: true},
				{Declaration: "inventory", Value: value(t, tc.inventory), Lens: inventory, ClaimMatching: model.ClaimMatching{ByIdentity: true}},
			}, Live: &model.Resource{Value: value(t, `{"memory":8}`), Running: []model.Field{{Name: "memory", Value: model.IntOf(4)}}}}
			if diff := gocmp.Diff(tc.want, sketch(Compare(&s, Options{}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDisputeActors(t *testing.T) {
	t.Parallel()
	at := func(name string, minute int, fields ...string) model.AuditEvent {
		return model.AuditEvent{Fields: fields, Actor: model.Actor{Name: name, At: time.Unix(int64(minute)*60, 0), Via: name + "'s log", Confidence: model.Exact}}
	}
	for _, tc := range []struct {
		reason          string
		live, inventory []model.AuditEvent
		want            string
	}{
		{"who changed the live side last", []model.AuditEvent{at("root@pam", 9, "memory")}, []model.AuditEvent{at("mara", 5, "memory")}, "root@pam"},
		{"who changed what is claimed last", []model.AuditEvent{at("root@pam", 5, "memory")}, []model.AuditEvent{at("mara", 9, "memory")}, "mara"},
		{"who changed a part of it", []model.AuditEvent{at("root@pam", 9, "memory.current")}, []model.AuditEvent{at("mara", 5, "memory")}, "root@pam"},
		{"a field whose name only begins alike is another one", []model.AuditEvent{at("root@pam", 9, "memory_hotplug")}, []model.AuditEvent{at("mara", 5, "memory")}, "mara"},
		{"who changed another field is nobody", []model.AuditEvent{at("root@pam", 5, "cores")}, []model.AuditEvent{at("mara", 9, "name")}, "unknown"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			claims := []*model.Claim{
				{Declaration: "tool", Value: value(t, `{"memory_mb":4}`), Lens: newRenamedLens(map[string]string{"memory_mb": "memory"}, ""), RecordOnly: true},
				{Declaration: "inventory", Value: value(t, `{"memory":8}`), Lens: newRenamedLens(map[string]string{"memory": "memory"}, ""), ClaimHistory: model.ClaimHistory{AuditEvents: tc.inventory}, ClaimMatching: model.ClaimMatching{ByIdentity: true}},
			}
			s := model.Subject{Live: &model.Resource{Value: value(t, `{"memory":16}`)}, Claims: claims, AuditEvents: tc.live}
			outcomes := Compare(&s, Options{})
			if len(outcomes) != 1 || outcomes[0].Actor.Name != tc.want {
				t.Fatalf("outcomes %+v, want one by %s", outcomes, tc.want)
			}
			if values := outcomes[0].Changes[0].Claims; len(values) != 2 || values[1].Path != "memory" || values[0].Path != "" {
				t.Errorf("each claim is shown in its own words, got %+v", values)
			}
		})
	}
}

func TestOneEventOnManyResources(t *testing.T) {
	t.Parallel()
	renamed := model.AuditEvent{Fields: []string{"tags"}, Texts: []string{"web", "www"},
		Actor: model.Actor{Name: "priya", At: time.Unix(600, 0), Request: "r1", Confidence: model.Exact}}
	defined := model.AuditEvent{Fields: []string{"fields.tier"}, Actor: model.Actor{Name: "mara", At: time.Unix(600, 0), Confidence: model.Exact}}
	own := model.AuditEvent{Fields: []string{"tags"}, Actor: model.Actor{Name: "jonas", At: time.Unix(300, 0), Confidence: model.Exact}}
	for _, tc := range []struct {
		reason, declared, live, want string
	}{
		{"a renamed tag", `{"tags":["a","web"]}`, `{"tags":["a","www"]}`, "priya"},
		{"the tag went before it was renamed", `{"tags":["a","web"]}`, `{"tags":["a"]}`, "jonas"},
		{"another tag came, which the resource's own log tells of", `{"tags":["web"]}`, `{"tags":["web","db"]}`, "jonas"},
		{"a field that was defined anew, whatever it holds", `{"fields":{"tier":"gold"}}`, `{"fields":{"tier":"lead"}}`, "mara"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			claim := &model.Claim{Value: value(t, tc.declared), RecordOnly: true, Complete: true}
			s := model.Subject{Live: &model.Resource{Value: value(t, tc.live)}, Claims: []*model.Claim{claim},
				AuditEvents: []model.AuditEvent{own}, BroadEvents: []model.AuditEvent{defined, renamed}}
			if outcomes := Compare(&s, Options{}); len(outcomes) != 1 || outcomes[0].Actor.Name != tc.want {
				t.Errorf("outcomes %+v, want one by %s", outcomes, tc.want)
			}
		})
	}
}

func TestMadeAgain(t *testing.T) {
	t.Parallel()
	event := func(deed model.Action, name string, minute int) model.AuditEvent {
		return model.AuditEvent{Action: deed, Actor: model.Actor{Name: name, At: time.Unix(int64(minute)*60, 0), Confidence: model.Exact}}
	}
	claim := &model.Claim{ID: "6", ClaimMatching: model.ClaimMatching{Former: "4"}, Value: value(t, `{"slug":"ham1","status":"staging"}`), RecordOnly: true, Complete: true}
	s := model.Subject{Key: model.Key{ID: "6"}, Live: &model.Resource{Value: value(t, `{"slug":"ham1","status":"active"}`)},
		Claims: []*model.Claim{claim}, AuditEvents: []model.AuditEvent{event(model.Deleted, "priya", 1), event(model.Created, "jonas", 2)}}
	outcomes := Compare(&s, Options{})
	if diff := gocmp.Diff([]string{`moved id "4" "6"`, `moved status "staging" "active"`}, sketch(outcomes)); diff != "" {
		t.Error(diff)
	}
	if len(outcomes) != 1 || outcomes[0].Actor.Name != "jonas" || !strings.Contains(outcomes[0].Reason, "4 is gone") {
		t.Errorf("one story by who made it again, got %+v", outcomes)
	}
}

func TestReportedActors(t *testing.T) {
	t.Parallel()
	author := model.AuditEvent{Actor: model.Actor{Name: "carol", At: time.Unix(60, 0), Via: "git", Confidence: model.Likely}}
	entry := model.AuditEvent{Fields: []string{"memory"}, Actor: model.Actor{Name: "mara", At: time.Unix(60, 0), Via: "NetBox changelog", Confidence: model.Exact}}
	recorded := value(t, `{"a":1}`)
	for _, tc := range []struct {
		reason string
		claim  model.Claim
		live   string
		want   string
	}{
		{"what waits to be applied is its author's", model.Claim{Value: value(t, `{"a":2}`), Recorded: &recorded, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{author}, Evidence: declaredBefore(recorded)}}, `{"a":1}`, "carol"},
		{"what no commit declares is not its author's", model.Claim{Value: value(t, `{"a":2}`), Recorded: &recorded, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{author}, Evidence: &model.Evidence{}}}, `{"a":1}`, "unknown"},
		{"what waits as a whole, too", model.Claim{Value: value(t, `{"a":1}`), ClaimApply: model.ClaimApply{Pending: "to be made"}, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{author}}}, "", "carol"},
		{"an author did not change what is live", model.Claim{Value: value(t, `{"a":1}`), Recorded: &recorded, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{author}}}, `{"a":3}`, "unknown"},
		{"who changed the entry of an inventory is answerable", model.Claim{Value: value(t, `{"memory":1}`), ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{entry}}}, `{"memory":3}`, "mara"},
		{"who entered something in an inventory did not remove it", model.Claim{Value: value(t, `{"memory":1}`), ClaimMatching: model.ClaimMatching{ByIdentity: true}, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{entry}}}, "", "unknown"},
		{"an author did not delete anything", model.Claim{Value: value(t, `{"a":1}`), ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{author}}}, "", "unknown"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := model.Subject{Claims: []*model.Claim{&tc.claim}}
			if tc.live != "" {
				s.Live = &model.Resource{Value: value(t, tc.live)}
			}
			outcomes := Compare(&s, Options{})
			if len(outcomes) != 1 || outcomes[0].Actor.Name != tc.want {
				t.Errorf("outcomes %+v, want one by %s", outcomes, tc.want)
			}
		})
	}
}

// TestEntererIsNamedInReason checks that the person who entered a missing resource in an
// inventory is named in the reason: another actor may have removed it.
func TestEntererIsNamedInReason(t *testing.T) {
	t.Parallel()
	entry := model.AuditEvent{Action: model.Created, Actor: model.Actor{Name: "mara", At: time.Unix(60, 0), Via: "NetBox changelog", Evidence: "object-change 7", Confidence: model.Exact}}
	s := model.Subject{Key: model.Key{Source: "pve"}, Claims: []*model.Claim{{Value: value(t, `{"memory":1}`), ClaimMatching: model.ClaimMatching{ByIdentity: true}, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{entry}}}}}
	want := model.UnknownActor("never made, or removed and not found in pve's logs: it was declared by mara at 1970-01-01 00:01 UTC (NetBox changelog, object-change 7)")
	if outcomes := Compare(&s, Options{}); len(outcomes) != 1 || outcomes[0].Actor != want {
		t.Errorf("outcomes %+v, want one by %+v", outcomes, want)
	}
	s.AuditEvents = []model.AuditEvent{{Action: model.Deleted, Actor: model.Actor{Name: "carol", At: time.Unix(120, 0), Confidence: model.Exact}}}
	if outcomes := Compare(&s, Options{}); len(outcomes) != 1 || outcomes[0].Actor.Name != "carol" {
		t.Errorf("outcomes %+v, want one by who deleted it", outcomes)
	}
}

func TestAnInventoryAppliesNothing(t *testing.T) {
	t.Parallel()
	s := model.Subject{Live: &model.Resource{Value: value(t, `{"memory":8}`)}, Claims: []*model.Claim{{Declaration: "intent", Value: value(t, `{"memory":4}`), ClaimMatching: model.ClaimMatching{ByIdentity: true}}}}
	if outcomes := Compare(&s, Options{}); len(outcomes) != 1 || outcomes[0].Verdict != model.Changed || outcomes[0].Reason != "" {
		t.Errorf("outcomes %+v, want one change without a word on what was applied", outcomes)
	}
}

func TestOnlyOneKindOfDeclarationHasIt(t *testing.T) {
	t.Parallel()
	live := &model.Resource{Value: value(t, `{"a":1}`)}
	claim := &model.Claim{Declaration: "infra", Address: "vm.web", Value: value(t, `{"a":1}`)}
	for _, tc := range []struct {
		reason             string
		subject            model.Subject
		declaration, reads string
		verdict            model.Verdict
		outcomes           int
	}{
		{"the inventory lacks what the tool made", model.Subject{Live: live, Claims: []*model.Claim{claim}, UndeclaredBy: [][]string{{"intent"}}},
			"intent", "live, and in infra (vm.web), but not in intent", model.Unmanaged, 1},
		{"nobody has it", model.Subject{Live: live, UndeclaredBy: [][]string{{"infra", "more"}, {"intent"}}},
			"", "neither infra or more nor intent speaks of it", model.Unmanaged, 1},
		{"the tool lacks it, and the inventory is unknown", model.Subject{Live: live, UndeclaredBy: [][]string{{"infra", "more"}}, Partial: "page 2 of intent could not be read, and may declare it"}, "", "not in infra or more; page 2 of intent could not be read, and may declare it", model.Unmanaged, 1},
		{"it may be absent", model.Subject{Claims: []*model.Claim{{ClaimApply: model.ClaimApply{MayBeAbsent: true}}}}, "", "", "", 0},
		{"two declarations miss the same", model.Subject{Claims: []*model.Claim{claim, {Declaration: "intent", Address: "vm/1"}}},
			"", "intent (vm/1) claims it, too", model.Missing, 1},
		{"two things of one declaration went with it", model.Subject{Claims: []*model.Claim{claim, {Declaration: "infra", Address: "ip.web"}}},
			"", "", model.Missing, 2},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			outcomes := Compare(&tc.subject, Options{})
			if len(outcomes) != tc.outcomes {
				t.Fatalf("%d outcomes, want %d: %+v", len(outcomes), tc.outcomes, outcomes)
			}
			for _, o := range outcomes {
				if o.Verdict != tc.verdict || o.Declaration != tc.declaration || o.Reason != tc.reads {
					t.Errorf("%s by %q: %q", o.Verdict, o.Declaration, o.Reason)
				}
			}
		})
	}
}

// TestFieldsOfOneNameInDifferentForms checks that fields of one name in different forms are
// different fields, and that their disputes have the order of the claims.
func TestFieldsOfOneNameInDifferentForms(t *testing.T) {
	t.Parallel()
	one, other := newRenamedLens(map[string]string{"size": "disk"}, ""), newRenamedLens(map[string]string{"size": "memory"}, "")
	for range 30 {
		s := model.Subject{Live: &model.Resource{Value: value(t, `{"disk":1,"memory":1}`)}}
		for _, c := range []struct {
			name string
			lens *renamedLens
			says string
		}{{"a", one, `{"size":1}`}, {"b", one, `{"size":2}`}, {"c", other, `{"size":1}`}, {"d", other, `{"size":2}`}} {
			s.Claims = append(s.Claims, &model.Claim{Declaration: c.name, Value: value(t, c.says), Lens: c.lens, RecordOnly: true})
		}
		var said []string
		for _, change := range Compare(&s, Options{})[0].Changes {
			said = append(said, change.Claims[0].Declaration+" "+change.Claims[1].Declaration)
		}
		if diff := gocmp.Diff([]string{"a b", "c d"}, said); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestActorsOfRecreatedResource checks the actors of a resource that was created again: the
// last writer of a field is named, and without a log of the creation the actor that deleted the
// earlier one.
func TestActorsOfRecreatedResource(t *testing.T) {
	t.Parallel()
	event := func(deed model.Action, name string, fields ...string) model.AuditEvent {
		return model.AuditEvent{Action: deed, Fields: fields, Actor: model.Actor{Name: name, At: time.Unix(60, 0), Confidence: model.Exact}}
	}
	claim := &model.Claim{ID: "6", ClaimMatching: model.ClaimMatching{Former: "4"}, Value: value(t, `{"status":"staging"}`), Complete: true}
	s := model.Subject{Key: model.Key{ID: "6"}, Live: &model.Resource{Value: value(t, `{"status":"active"}`)},
		Claims: []*model.Claim{claim}, AuditEvents: []model.AuditEvent{event(model.Deleted, "priya"), event(model.Edited, "mara", "status")}}
	outcomes := Compare(&s, Options{})
	if len(outcomes) != 1 || len(outcomes[0].Changes) != 2 {
		t.Fatalf("one story of two fields, got %+v", outcomes)
	}
	id, status := outcomes[0].Changes[0], outcomes[0].Changes[1]
	by := func(c model.Change) string {
		if c.Actor == nil {
			return outcomes[0].Actor.Name
		}
		return c.Actor.Name
	}
	if by(id) != "priya" || by(status) != "mara" {
		t.Errorf("by %s and %s, want priya and mara", by(id), by(status))
	}
	if id.Declared == nil || id.Declared.Text() != "4" {
		t.Errorf("what is declared is compared with what is recorded: %+v", id)
	}
	claim.RecordOnly = true
	if id := Compare(&s, Options{})[0].Changes[0]; id.Declared != nil {
		t.Errorf("nothing is declared beside the record: %+v", id)
	}
}

// TestSecretStatements checks that a secret on any side of a dispute is not reported.
func TestSecretStatements(t *testing.T) {
	t.Parallel()
	secret := model.NewSealer([]byte("key")).Seal("hunter2")
	held := func(v model.Value) model.Value { return model.MapOf(model.Field{Name: "memory", Value: v}) }
	a, b := model.StringOf("a"), model.StringOf("b")
	for reason, sides := range map[string]struct{ live, tool, inventory model.Value }{
		"what is live is one":     {secret, a, b},
		"what is declared is one": {a, a, secret},
	} {
		claims := []*model.Claim{
			{Declaration: "tool", Value: held(sides.tool), Lens: newRenamedLens(map[string]string{"memory": "memory"}, ""), RecordOnly: true},
			{Declaration: "inventory", Value: held(sides.inventory), Lens: newRenamedLens(map[string]string{"memory": "memory"}, "")},
		}
		s := model.Subject{Live: &model.Resource{Value: held(sides.live)}, Claims: claims}
		outcomes := Compare(&s, Options{})
		if len(outcomes) != 1 || outcomes[0].Verdict != model.Disputed || !outcomes[0].Changes[0].Secret {
			t.Errorf("%s: %+v", reason, outcomes)
		}
	}
}

// TestStatementInTheLiveForm checks that a claim in the live resource's own form is compared
// with others, and that a declaration with two equal claims is named once.
func TestStatementInTheLiveForm(t *testing.T) {
	t.Parallel()
	inventory := newRenamedLens(map[string]string{"memory": "memory"}, "")
	claim := func(name, says string, lens model.Lens) *model.Claim {
		return &model.Claim{Declaration: name, Value: value(t, says), Lens: lens, RecordOnly: true}
	}
	s := model.Subject{Key: model.Key{Source: "pve"}, Live: &model.Resource{Value: value(t, `{"memory":16}`)},
		Claims: []*model.Claim{claim("git", `{"memory":4}`, nil), claim("inventory", `{"memory":4}`, inventory)}}
	if diff := gocmp.Diff([]string{"changed memory 4 16"}, sketch(Compare(&s, Options{}))); diff != "" {
		t.Error(diff)
	}
	s.Claims = []*model.Claim{claim("git", `{"memory":16}`, nil), claim("git", `{"memory":16}`, nil), claim("inventory", `{"memory":4}`, inventory)}
	if outcomes := Compare(&s, Options{}); len(outcomes) != 1 || outcomes[0].Reason != "inventory differs, git and pve agree" {
		t.Errorf("outcomes %+v", outcomes)
	}
}

// TestDeletionsAreNotRecorded checks the reason of a missing resource of a kind whose system
// keeps no record of deletions.
func TestDeletionsAreNotRecorded(t *testing.T) {
	t.Parallel()
	s := model.Subject{Kind: &model.Kind{WriterUnknown: "look into the access log"}, Claims: []*model.Claim{{Value: value(t, `{"a":1}`)}}}
	if outcomes := Compare(&s, Options{}); len(outcomes) != 1 || outcomes[0].Actor.Reason != "look into the access log" {
		t.Errorf("outcomes %+v", outcomes)
	}
}
