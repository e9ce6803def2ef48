package model_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func resource(kind, id, size string) model.Resource {
	return model.Resource{Key: model.Key{Source: "s", Kind: kind, ID: id}, Name: size}
}

func event(kind, id, by string) model.AuditEvent {
	return model.AuditEvent{Ref: model.Ref{Kind: kind, ID: id}, Actor: model.Actor{Name: by}}
}

// TestWith checks that a part replaces, adds and removes its objects, and nothing else.
func TestWith(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	later := begin.Add(time.Hour)
	coverage := []model.Coverage{{Source: "s", Complete: true}}
	last := model.Snapshot{Source: "s", Taken: begin, Coverage: coverage, Version: "4.6",
		Resources:   []model.Resource{resource("a", "1", "old"), resource("a", "2", "old"), resource("b", "1", "old")},
		Reread:      []model.Reread{{Ref: model.Ref{Kind: "a", ID: "2"}, At: begin.Add(time.Minute)}},
		AuditEvents: []model.AuditEvent{event("", "", "tags"), event("a", "1", "mara"), event("a", "2", "mara"), event("b", "1", "mara")}}
	again := func(kind, id string) model.Reread { return model.Reread{Ref: model.Ref{Kind: kind, ID: id}, At: later} }
	part := model.Snapshot{Source: "s", Taken: later, Resources: []model.Resource{resource("a", "1", "new"), resource("a", "3", "new")},
		Reread:      []model.Reread{again("a", "1"), again("a", "3"), again("b", "1"), again("b", "2")},
		AuditEvents: []model.AuditEvent{event("", "", "other tags"), event("a", "1", "jonas"), event("a", "3", "jonas"), event("b", "1", "priya")}}
	before := slices.Clone(last.Resources)
	want := model.Snapshot{Source: "s", Taken: begin, Coverage: coverage, Version: "4.6",
		Resources:   []model.Resource{resource("a", "1", "new"), resource("a", "2", "old"), resource("a", "3", "new")},
		Reread:      []model.Reread{again("a", "1"), {Ref: model.Ref{Kind: "a", ID: "2"}, At: begin.Add(time.Minute)}, again("a", "3"), again("b", "1"), again("b", "2")},
		AuditEvents: []model.AuditEvent{event("", "", "other tags"), event("a", "1", "jonas"), event("a", "2", "mara"), event("a", "3", "jonas"), event("b", "1", "priya")}}
	got := last.With(&part)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("With (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, last.Resources); diff != "" {
		t.Errorf("With changed the snapshot (-before +after):\n%s", diff)
	}
	for ref, at := range map[model.Ref]time.Time{{Kind: "a", ID: "1"}: later, {Kind: "a", ID: "2"}: begin.Add(time.Minute), {Kind: "b", ID: "1"}: later, {Kind: "c", ID: "1"}: begin} {
		if read := got.ReadAt(ref); !read.Equal(at) {
			t.Errorf("%v was read at %s, want %s", ref, read, at)
		}
	}
	if diff := cmp.Diff(got, got.With(&model.Snapshot{AuditEvents: got.AuditEvents[:1]})); diff != "" {
		t.Errorf("a part without objects changes the snapshot (-want +got):\n%s", diff)
	}
}
