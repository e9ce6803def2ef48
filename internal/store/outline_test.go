package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// drawOutlined draws a finding with all that its outline has.
func drawOutlined(t *rapid.T, id string) model.Finding {
	word := func(name string) string {
		return rapid.SampledFrom([]string{"", "a", "ä…", "b\xffc", "x\x00y", fmt.Sprintf("%0200d", 7)}).Draw(t, name)
	}
	at := func(name string) time.Time {
		return rapid.SampledFrom([]time.Time{{}, minute(0), minute(1).Add(7), time.Date(9999, 12, 31, 23, 59, 59, 999, time.FixedZone("", -3600)).Add(-2 * time.Hour),
			time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC)}).Draw(t, name)
	}
	f := finding(id, 0)
	f.Severity = rapid.SampledFrom(append(model.Severities(), "")).Draw(t, "severity")
	f.Verdict = rapid.SampledFrom(model.Verdicts()).Draw(t, "verdict")
	f.Check = word("check")
	f.Exposure = rapid.SampledFrom([]model.Exposure{"", model.ExposesAccess}).Draw(t, "exposure")
	f.Kind, f.Key.ID, f.Place, f.Name = word("kind"), word("key"), word("place"), word("name")
	f.Declaration, f.Address, f.Owner, f.Hidden, f.MergedInto = word("declaration"), word("address"), word("owner"), word("hidden"), word("merged")
	f.Actor = model.Actor{Name: word("actor"), At: at("changed"), Via: word("via"), Confidence: model.Likely, Evidence: "e", Reason: "r"}
	f.FirstSeen, f.Resolved, f.LastSeen = at("first"), at("resolved"), minute(2)
	f.Unproven, f.Flapping = rapid.Bool().Draw(t, "unproven"), rapid.Bool().Draw(t, "flapping")
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		f.Changes = append(f.Changes, model.Change{Path: "p", Unproven: rapid.Bool().Draw(t, "change"), Actor: &model.Actor{Name: word("changer")}})
	}
	if rapid.Bool().Draw(t, "decided") {
		f.Decision = &model.Decision{ID: "d", Kind: rapid.SampledFrom(model.DecisionKinds()).Draw(t, "decision"), Until: at("until"), By: "alice", At: minute(0)}
	}
	return f
}

// TestOutlinesAgreeWithFindings verifies that the outlines in heads are those of the findings as they are
// read, in the same order.
func TestOutlinesAgreeWithFindings(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	rapid.Check(t, func(rt *rapid.T) {
		var list []model.Finding
		for i := range 3 {
			list = append(list, drawOutlined(rt, fmt.Sprint(i)))
		}
		save(t, s, scan(2, list))
		for _, f := range []Filter{{}, {Resolved: true}, {Verdicts: []model.Verdict{model.Changed, model.Missing}, Resolved: true}} {
			found, err := s.Findings(f)
			if err != nil {
				rt.Fatal(err)
			}
			wantOutlines(t, s, f, found)
		}
		if t.Failed() {
			rt.Fatal("they differ")
		}
	})
}

func TestDamagedOutlinesAreErrors(t *testing.T) {
	t.Parallel()
	f := finding("a", 0, func(f *model.Finding) { f.Changes = []model.Change{{Actor: &model.Actor{Name: "carol"}}} })
	whole := encodeOutline(&f)
	for n := range len(whole) {
		if n == len(whole)-len("\x05carol") {
			continue // the other actors may be missing
		}
		h := head{outline: whole[:n]}
		if err := h.decode("a", 0, new(model.Outline)); !errors.Is(err, errCorrupt) {
			t.Errorf("the first %d bytes: got %v", n, err)
		}
	}
	for name, outline := range map[string]string{"unknown bit": "\x80" + whole[1:], "endless number": "\x00" + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "length beyond the end": whole + "\x7f"} {
		h := head{outline: outline}
		if err := h.decode("a", 0, new(model.Outline)); !errors.Is(err, errCorrupt) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
