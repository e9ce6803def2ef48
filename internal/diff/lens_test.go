package diff

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// guestLens shows a live guest in the form of a fictional provider.
type guestLens struct{ schema *model.Schema }

func newGuestLens() *guestLens {
	one, plain := model.IntOf(1), &model.Schema{}
	nic := &model.Schema{Fields: map[string]*model.Schema{"mac": plain, "bridge": plain, "tag": plain}}
	disk := &model.Schema{Fields: map[string]*model.Schema{"slot": plain, "size": plain, "file": {Extra: model.Extra{Generated: true}}}}
	rule := &model.Schema{Fields: map[string]*model.Schema{"action": plain, "port": plain}}
	return &guestLens{&model.Schema{Fields: map[string]*model.Schema{
		"cpu":      {List: model.Sequence, Each: &model.Schema{Fields: map[string]*model.Schema{"cores": {Default: &one}}}},
		"tags":     {List: model.Bag, Each: plain},
		"nic":      {List: model.Sequence, Each: nic},
		"disk":     {List: model.Sequence, Keys: []string{"slot"}, Each: disk},
		"rule":     {List: model.Sequence, Each: rule},
		"node":     {Location: true},
		"pool":     {Extra: model.Extra{Optional: true}},
		"password": {Masked: true},
		"args":     {Extra: model.Extra{Stray: true}},
	}}}
}

func (l *guestLens) Schema() *model.Schema { return l.schema }

func (l *guestLens) View(live model.Value) model.Value {
	cores := live.At("cores")
	v := live.Without("cores")
	if cores.IsNull() {
		return v
	}
	return v.With("cpu", model.ListOf(model.MapOf(model.Field{Name: "cores", Value: cores})))
}

func (l *guestLens) LivePath(_ model.Value, path string) string {
	return strings.Replace(path, "cpu[0].cores", "cores", 1)
}

func (*guestLens) LiveValue(model.Value, string, model.Value) (model.Value, bool) {
	return model.Value{}, false
}

func (*guestLens) IsShared(string) bool        { return false }
func (*guestLens) Misfit(*model.Schema) string { return "" }

// sketch formats outcomes as lines.
func sketch(outcomes []model.Outcome) []string {
	text := func(v *model.Value) string {
		if v == nil {
			return "-"
		}
		return string(v.AppendJSON(nil))
	}
	var lines []string
	for _, o := range outcomes {
		for _, c := range o.Changes {
			line := []string{string(o.Verdict), c.Path, text(c.Recorded), text(c.Live)}
			if c.Running != nil {
				line = append(line, "running "+text(c.Running))
			}
			lines = append(lines, strings.Join(line, " "))
		}
		if len(o.Changes) == 0 {
			lines = append(lines, string(o.Verdict))
		}
	}
	return lines
}

func TestLensComparesInTheFormOfTheClaim(t *testing.T) {
	t.Parallel()
	lens := newGuestLens()
	tests := []struct {
		reason, state, live, template string
		running                       []model.Field
		want                          []string
	}{
		{reason: "defaults, empty and absent blocks are one",
			state: `{"cpu":[],"tags":[],"pool":null,"nic":null}`, live: `{"cores":1,"nic":[]}`},
		{reason: "a value of the record that changed",
			state: `{"cpu":[{"cores":2}]}`, live: `{"cores":4}`, want: []string{"changed cpu[0].cores 2 4"}},
		{reason: "the order of tags does not count, and they are one value",
			state: `{"tags":["a","b"]}`, live: `{"tags":["b","c","a"]}`, want: []string{`changed tags ["a","b"] ["b","c","a"]`}},
		{reason: "an optional field that is not recorded belongs to another declaration",
			state: `{"pool":null}`, live: `{"pool":"shop"}`},
		{reason: "an optional field that is recorded counts",
			state: `{"pool":"shop"}`, live: `{}`, want: []string{`changed pool "shop" -`}},
		{reason: "a field that the form cannot declare was set by a person",
			state: `{}`, live: `{"args":"-debug"}`, want: []string{`undeclared args - "-debug"`}},
		{reason: "another place is a move",
			state: `{"node":"one"}`, live: `{"node":"two"}`, want: []string{`moved node "one" "two"`}},
		{reason: "an element put in front does not shift the others",
			state: `{"rule":[{"action":"DROP"},{"action":"ACCEPT","port":80}]}`,
			live:  `{"rule":[{"action":"ACCEPT","port":22},{"action":"DROP"},{"action":"ACCEPT","port":80}]}`,
			want:  []string{`changed rule[0].action - "ACCEPT"`, "changed rule[0].port - 22"}},
		{reason: "elements between equal ones are the same, changed",
			state: `{"nic":[{"mac":"A","bridge":"x"},{"mac":"B","bridge":"y","tag":0}]}`,
			live:  `{"nic":[{"mac":"A","bridge":"x"},{"mac":"C","bridge":"x"}]}`,
			want:  []string{`changed nic[1].bridge "y" "x"`, `changed nic[1].mac "B" "C"`}},
		{reason: "a removed element is reported where it was",
			state: `{"nic":[{"mac":"A"},{"mac":"B"}]}`, live: `{"nic":[{"mac":"B"}]}`,
			want: []string{`changed nic[0].mac "A" -`}},
		{reason: "named elements are paired by name, and reported by the record's order",
			state: `{"disk":[{"slot":"virtio0","size":4},{"slot":"scsi0","size":8}]}`,
			live:  `{"disk":[{"slot":"scsi0","size":12},{"slot":"virtio0","size":4}]}`,
			want:  []string{"changed disk[1].size 8 12"}},
		{reason: "an element that only live has comes after the record's",
			state: `{"disk":[{"slot":"virtio0","size":4}]}`,
			live:  `{"disk":[{"slot":"scsi0","size":12},{"slot":"virtio0","size":5}]}`,
			want:  []string{"changed disk[0].size 4 5", "changed disk[1].size - 12", `changed disk[1].slot - "scsi0"`}},
		{reason: "a value of the template counts as a default",
			state: `{"disk":[],"cpu":[{"cores":1}]}`, live: `{"cores":4,"disk":[{"slot":"scsi0","size":2,"file":"b"}]}`,
			template: `{"cores":4,"disk":[{"slot":"scsi0","size":2,"file":"a"}]}`},
		{reason: "a value that neither the record nor the template has was changed",
			state: `{"disk":[]}`, live: `{"disk":[{"slot":"scsi0","size":9,"file":"b"}]}`,
			template: `{"disk":[{"slot":"scsi0","size":2,"file":"a"}]}`, want: []string{"changed disk[0].size - 9"}},
		{reason: "a new element is one finding, including the values that the system filled in",
			state: `{"disk":[]}`, live: `{"disk":[{"slot":"scsi0","size":9,"file":"b"}]}`,
			want: []string{`changed disk[0].file - "b"`, "changed disk[0].size - 9", `changed disk[0].slot - "scsi0"`}},
		{reason: "accepted, and not in effect before a restart",
			state: `{"cpu":[{"cores":2}]}`, live: `{"cores":4}`, running: []model.Field{{Name: "cores", Value: model.IntOf(2)}},
			want: []string{"pending-restart cpu[0].cores 2 4 running 2"}},
		{reason: "applied by the tool itself, and not in effect before a restart",
			state: `{"cpu":[{"cores":4}]}`, live: `{"cores":4}`, running: []model.Field{{Name: "cores", Value: model.IntOf(2)}},
			want: []string{"pending-restart cpu[0].cores 4 4 running 2"}},
		{reason: "the value in effect differs from the applied one, too",
			state: `{"cpu":[{"cores":1}]}`, live: `{"cores":4}`, running: []model.Field{{Name: "cores", Value: model.IntOf(2)}},
			want: []string{"changed cpu[0].cores 1 4 running 2"}},
		{reason: "set now, unset until the restart",
			state: `{}`, live: `{"tags":["a"]}`, running: []model.Field{{Name: "tags"}},
			want: []string{`pending-restart tags - ["a"]`}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			claim := &model.Claim{Value: value(t, test.state), Lens: lens, RecordOnly: true, Complete: true}
			s := model.Subject{Live: &model.Resource{Value: value(t, test.live), Running: test.running}, Claims: []*model.Claim{claim}}
			if test.template != "" {
				s.Template = &model.Resource{Value: value(t, test.template)}
			}
			got := sketch(Compare(&s, Options{}))
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRemovedElementIsTracedByItsName(t *testing.T) {
	t.Parallel()
	lens := newGuestLens()
	claim := &model.Claim{Value: value(t, `{"disk":[{"slot":"scsi0","size":2}]}`), Lens: lens, RecordOnly: true, Complete: true}
	s := model.Subject{Live: &model.Resource{Value: value(t, `{"disk":[]}`)}, Claims: []*model.Claim{claim},
		AuditEvents: []model.AuditEvent{{Action: model.Edited, Fields: []string{"disk"}, Actor: model.Actor{Name: "alice", Confidence: model.Exact}}}}
	o := Compare(&s, Options{})
	if len(o) != 1 || o[0].Actor.Name != "alice" || o[0].Changes[0].LivePath != "disk.scsi0.size" {
		t.Errorf("outcome %+v", o)
	}
}

func TestThreeSidesInSequences(t *testing.T) {
	t.Parallel()
	rules := func(list string) string { return `{"rule":` + list + `}` }
	const a, b, c = `{"action":"A"}`, `{"action":"B"}`, `{"action":"C"}`
	tests := []struct {
		reason, declared, recorded, live string
		want                             []string
	}{
		{"all agree", "[" + a + "]", "[" + a + "]", "[" + a + "]", nil},
		{"declared, not applied", "[" + a + "," + b + "]", "[" + a + "]", "[" + a + "]", []string{`pending rule[1].action - -`}},
		{"put in by hand and into git", "[" + a + "," + b + "]", "[" + a + "]", "[" + a + "," + b + "]", []string{`codified rule[1].action - "B"`}},
		{"put in by hand", "[" + a + "]", "[" + a + "]", "[" + b + "," + a + "]", []string{`changed rule[0].action - "B"`}},
		{"no longer declared, still there", "[" + a + "]", "[" + a + "," + b + "]", "[" + a + "," + b + "]", []string{`pending rule[1].action "B" "B"`}},
		{"all differ", "[" + a + "]", "[" + b + "]", "[" + c + "]", []string{`conflict rule[0].action "B" "C"`}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			recorded := value(t, rules(test.recorded))
			claim := &model.Claim{Value: value(t, rules(test.declared)), Recorded: &recorded, Complete: true}
			kind := &model.Kind{Schema: newGuestLens().schema}
			s := model.Subject{Kind: kind, Live: &model.Resource{Value: value(t, rules(test.live))}, Claims: []*model.Claim{claim}}
			if diff := gocmp.Diff(test.want, sketch(Compare(&s, Options{}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestActorsFromAuditEvents(t *testing.T) {
	t.Parallel()
	at := func(name string, minute int) model.Actor {
		return model.Actor{Name: name, At: created.Add(time.Duration(minute) * time.Minute), Confidence: model.Likely}
	}
	events := []model.AuditEvent{
		{Action: model.Created, Actor: at("terraform", 0)},
		{Action: model.Edited, Fields: []string{"cores"}, Actor: at("alice", 1)},
		{Action: model.Edited, Fields: []string{"cores", "password"}, Actor: at("bob", 2)},
		{Action: model.Edited, Actor: at("carol", 3)},
		{Action: model.Edited, Fields: []string{"other"}, Actor: at("dave", 4)},
	}
	claim := &model.Claim{Value: value(t, `{"cpu":[{"cores":2}],"node":"one","password":"**"}`), Lens: newGuestLens(), RecordOnly: true, Complete: true}
	s := model.Subject{Live: &model.Resource{Value: value(t, `{"cores":4,"node":"two"}`), WriterUnknown: "the log is silent"}, Claims: []*model.Claim{claim}, AuditEvents: events}
	got := map[string]string{}
	for _, o := range Compare(&s, Options{}) {
		for _, c := range o.Changes {
			actor := o.Actor
			if c.Actor != nil {
				actor = *c.Actor
			}
			got[c.Path] = actor.Name
		}
	}
	want := map[string]string{
		"cpu[0].cores": "bob",   // the last event that names the field
		"node":         "carol", // an event without fields may be about any
		"password":     "bob",   // masked: only the log has the change
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	s.AuditEvents = events[:1]
	for _, o := range Compare(&s, Options{}) {
		if o.Actor.Confidence != model.Unknown || slices.ContainsFunc(o.Changes, func(c model.Change) bool { return c.Path == "password" }) {
			t.Errorf("only its maker is known to have touched it, got %s by %v", o.Verdict, o.Actor)
		}
	}
	gone := model.Subject{Claims: s.Claims, AuditEvents: []model.AuditEvent{{Action: model.Deleted, Actor: at("eve", 5)}}}
	if o := Compare(&gone, Options{}); len(o) != 1 || o[0].Actor.Name != "eve" {
		t.Errorf("the log names who deleted it, got %v", o)
	}
	unclaimedGuest := model.Subject{Live: s.Live, UndeclaredBy: [][]string{{"d"}}, AuditEvents: events}
	if o := Compare(&unclaimedGuest, Options{}); len(o) != 1 || o[0].Actor.Name != "terraform" {
		t.Errorf("the log names who made it, got %v", o)
	}
}

func TestDisputesOfSeveral(t *testing.T) {
	t.Parallel()
	lens := newGuestLens()
	claims := []*model.Claim{
		{Declaration: "a", Value: value(t, `{"cpu":[{"cores":2}]}`), Lens: lens, RecordOnly: true, Complete: true},
		{Declaration: "b", Value: value(t, `{"cpu":[{"cores":3}]}`), Lens: lens, RecordOnly: true, Complete: true},
		{Declaration: "c", Value: value(t, `{"cpu":[{"cores":9}]}`), Lens: newGuestLens(), RecordOnly: true, Complete: true},
	}
	s := model.Subject{Live: &model.Resource{Value: value(t, `{"cores":3}`)}, Claims: claims}
	outcomes := Compare(&s, Options{})
	slices.SortFunc(outcomes, func(a, b model.Outcome) int { return cmp.Compare(a.Verdict, b.Verdict) })
	want := []string{"disputed cpu[0].cores - 3"}
	if diff := gocmp.Diff(want, sketch(outcomes)); diff != "" {
		t.Fatal(diff)
	}
	if claims := outcomes[0].Changes[0].Claims; len(claims) != 3 {
		t.Errorf("claims in other words belong to the dispute, got %v", claims)
	}
}

func TestMissingAndNoLongerDeclared(t *testing.T) {
	t.Parallel()
	recorded := value(t, `{"a":1}`)
	s := model.Subject{Claims: []*model.Claim{{Recorded: &recorded, Complete: true}}}
	if got := sketch(Compare(&s, Options{})); len(got) != 1 || got[0] != "codified" {
		t.Errorf("only the record still speaks of it, got %v", got)
	}
}

func TestClaimsThatWaitForAnApply(t *testing.T) {
	t.Parallel()
	const waits = "moved block"
	live := &model.Resource{Value: value(t, `{"a":1,"b":1}`)}
	recorded := value(t, `{"a":1,"b":1}`)
	claim := func(declared string) *model.Claim {
		return &model.Claim{Value: value(t, declared), Recorded: &recorded, Complete: true, ClaimApply: model.ClaimApply{Pending: waits}, ClaimHistory: model.ClaimHistory{Evidence: declaredBefore(recorded)}}
	}
	tests := []struct {
		reason string
		s      model.Subject
		want   []string
	}{
		{"as a whole only", model.Subject{Live: live, Claims: []*model.Claim{claim(`{"a":1,"b":1}`)}}, []string{"pending"}},
		{"with a field, it is one finding", model.Subject{Live: live, Claims: []*model.Claim{claim(`{"a":1,"b":2}`)}}, []string{"pending b 1 1"}},
		{"declared no longer", model.Subject{Live: live, Claims: []*model.Claim{claim("")}}, []string{"pending"}},
		{"not made yet", model.Subject{Claims: []*model.Claim{claim(`{"a":1}`)}}, []string{"pending"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			outcomes := Compare(&test.s, Options{})
			if diff := gocmp.Diff(test.want, sketch(outcomes)); diff != "" {
				t.Error(diff)
			}
			for _, o := range outcomes {
				if o.Reason != waits {
					t.Errorf("reason %q, want %q", o.Reason, waits)
				}
			}
		})
	}
}
