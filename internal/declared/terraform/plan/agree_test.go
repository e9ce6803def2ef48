package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestAgree checks that a planned value that the provider takes for the recorded one is no change of the
// declaration, and that a plan without a refresh is made only if that matters.
func TestAgree(t *testing.T) {
	t.Parallel()
	recorded := object{"id": "s-1", "notes": "6", "size": 2}
	edited := object{"id": "s-1", "notes": "-1", "size": 2}
	written := object{"id": "s-1", "notes": "tcp", "size": 2}
	applied := object{"id": "s-1", "notes": "6", "size": 3}
	for _, test := range []struct {
		reason                           string
		live, planned, before, unrefresh object
		declared                         string
		plans                            int
	}{
		{"the provider takes both for the same", edited, written, recorded, recorded, "6", 1},
		{"the configuration was changed, too", edited, written, recorded, written, "tcp", 1},
		{"another attribute was changed", edited, written, recorded, applied, "6", 1},
		{"the state was written in the meantime", edited, written, edited, edited, "tcp", 1},
		{"nothing was changed by hand", recorded, written, recorded, recorded, "tcp", 0},
		{"the configuration was not changed", edited, recorded, recorded, recorded, "6", 0},
	} {
		s := newStage(t, nil)
		plan := object{"format_version": "1.2", "terraform_version": "1.11.4", "resource_changes": []any{change("lab_server.web", "update", test.live, test.planned, nil)}}
		if !cmp.Equal(test.live, recorded) {
			plan["resource_drift"] = []any{change("lab_server.web", "update", recorded, test.live, nil)}
		}
		s.set("plan.json", encode(t, plan))
		s.set("unrefreshed.json", changesOf(t, change("lab_server.web", "update", test.before, test.unrefresh, nil)))
		out, err := s.run()
		if err != nil || len(out.Instances) != 1 || s.unrefreshed() != test.plans {
			t.Errorf("%s: %v, %d plans without a refresh of %+v", test.reason, err, s.unrefreshed(), out.Instances)
			continue
		}
		if got := out.Instances[0].Declared.At("notes"); !got.Equal(model.StringOf(test.declared)) {
			t.Errorf("%s: declared %v, want %s", test.reason, got, test.declared)
		}
	}
}

// TestAgreeOnReplacement checks that the spelling of the configuration is no change of it if another
// attribute was changed by hand in a way that requires a replacement.
func TestAgreeOnReplacement(t *testing.T) {
	t.Parallel()
	recorded, edited := object{"id": "s-1", "notes": "6", "size": 2}, object{"id": "s-1", "notes": "6", "size": 3}
	written := object{"id": "s-1", "notes": "tcp", "size": 2}
	for _, test := range []struct {
		reason    string
		unrefresh object
		declared  string
	}{
		{"the provider takes both for the same", recorded, "6"},
		{"the configuration was changed, too", written, "tcp"},
	} {
		s := newStage(t, nil)
		s.set("plan.json", encode(t, object{"format_version": "1.2", "terraform_version": "1.11.4",
			"resource_changes": []any{change("lab_server.web", "delete create", edited, written, object{"replace_paths": []any{[]any{"size"}}})},
			"resource_drift":   []any{change("lab_server.web", "update", recorded, edited, nil)}}))
		s.set("unrefreshed.json", changesOf(t, change("lab_server.web", "update", recorded, test.unrefresh, nil)))
		out, err := s.run()
		if err != nil || len(out.Instances) != 1 || s.unrefreshed() != 1 {
			t.Errorf("%s: %v, %d plans without a refresh of %+v", test.reason, err, s.unrefreshed(), out.Instances)
			continue
		}
		if got := out.Instances[0].Declared; got.At("notes").Str() != test.declared || got.At("size").Text() != "2" {
			t.Errorf("%s: declared %v", test.reason, got)
		}
	}
}

// TestAgreeOnUnset checks that an edit of an attribute that the configuration sets to null, such as to a variable without
// a value, is not what the configuration has: the provider keeps what it reads.
func TestAgreeOnUnset(t *testing.T) {
	t.Parallel()
	variable := object{"references": []any{"var.mode"}}
	for _, test := range []struct {
		reason             string
		expression         object
		before, after      any
		unrefresh          any
		declared, recorded string
		plans              int
	}{
		{"a variable without a value", variable, "fast", "slow", "fast", "fast", "fast", 1},
		{"a variable with the live value", variable, "fast", "slow", "slow", "slow", "fast", 1},
		{"null", constant(nil), "fast", "slow", "fast", "fast", "fast", 1},
		{"nothing was recorded", variable, nil, "slow", nil, "", "", 1},
		{"the live value", constant("slow"), "fast", "slow", "fast", "slow", "fast", 1},
		{"no edit", variable, "fast", "fast", "fast", "fast", "fast", 0},
	} {
		of := func(mode any) object { return object{"id": "s-1", "name": "web", "mode": mode} }
		s := newStage(t, nil)
		plan := object{"format_version": "1.2", "configuration": config(object{"name": constant("web"), "mode": test.expression}),
			"resource_changes": []any{change("lab_server.web", "no-op", of(test.after), of(test.after), nil)}}
		if test.before != test.after {
			plan["resource_drift"] = []any{change("lab_server.web", "update", of(test.before), of(test.after), nil)}
		}
		s.set("plan.json", encode(t, plan))
		s.set("unrefreshed.json", changesOf(t, change("lab_server.web", "update", of(test.before), of(test.unrefresh), nil)))
		out, err := s.run()
		if err != nil || len(out.Instances) != 1 || s.unrefreshed() != test.plans {
			t.Errorf("%s: %v, %d plans without a refresh of %+v", test.reason, err, s.unrefreshed(), out.Instances)
			continue
		}
		got := out.Instances[0]
		if got.Declared.At("mode").Str() != test.declared || got.Recorded.At("mode").Str() != test.recorded || got.Live.At("mode").Str() != test.after {
			t.Errorf("%s: declared %v, recorded %v, live %v", test.reason, got.Declared, got.Recorded, got.Live)
		}
	}
}

// TestAgreeFails checks that a failed plan without a refresh leaves the values as they are.
func TestAgreeFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	recorded, edited := object{"id": "s-1", "notes": "6"}, object{"id": "s-1", "notes": "-1"}
	s.set("plan.json", encode(t, object{"format_version": "1.2", "resource_changes": []any{change("lab_server.web", "update", edited, object{"id": "s-1", "notes": "tcp"}, nil)},
		"resource_drift": []any{change("lab_server.web", "update", recorded, edited, nil)}}))
	s.set("unrefreshed.json", "{")
	out, err := s.run()
	if err != nil || out.Instances[0].Declared.At("notes").Str() != "tcp" || len(out.Notes) != 1 || !strings.Contains(out.Notes[0].Text, "may be a change by hand only") {
		t.Errorf("%v, notes %+v, %+v", err, out.Notes, out.Instances)
	}
}

// TestAgreeInPart checks that a part of an attribute that the plan keeps as it was changed by hand is not
// one that the next apply changes back.
func TestAgreeInPart(t *testing.T) {
	t.Parallel()
	of := func(protocol, note string) object {
		return object{"id": "s-1", "tags": object{"protocol": protocol, "note": note}}
	}
	s := newStage(t, nil)
	recorded, edited := of("6", "old"), of("-1", "new")
	s.set("plan.json", encode(t, object{"format_version": "1.2", "resource_changes": []any{change("lab_server.web", "update", edited, of("tcp", "new"), nil)},
		"resource_drift": []any{change("lab_server.web", "update", recorded, edited, nil)}}))
	s.set("unrefreshed.json", changesOf(t, change("lab_server.web", "no-op", recorded, recorded, nil)))
	out, err := s.run()
	if err != nil || len(out.Instances) != 1 {
		t.Fatalf("%v, %+v", err, out.Instances)
	}
	if got := out.Instances[0].Declared.At("tags"); got.At("protocol").Str() != "6" || got.At("note").Str() != "new" {
		t.Errorf("declared %v", got)
	}
}
