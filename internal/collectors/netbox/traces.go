package netbox

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors/netbox/shape"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reach"
)

// takeChange reads a row of the changelog: who did what, and which fields of
// driftd's values that touches.
func takeChange(kinds map[string]*shape.Kind, models shape.Models, row model.Value) (change, error) {
	id, err := number(row.At("id"))
	if err != nil {
		return change{}, err
	}
	at := decode.Time(row.At("time").Str(), time.RFC3339)
	if at.IsZero() {
		return change{}, fmt.Errorf("its time is none: %q", reach.Printable(row.At("time").Str()))
	}
	c := change{id: id, at: at}
	deed, known := deedOf(row)
	if !known {
		return c, nil
	}
	e := shape.Entry{
		Model: strings.ToLower(row.At("changed_object_type").Str()), ID: row.At("changed_object_id").Text(), Deed: deed,
		Before: row.At("prechange_data"), After: row.At("postchange_data"),
	}
	who := actorOf(row, c)
	if k := kinds[e.Model]; k != nil && e.ID != "" {
		if t, told := trace(k, e, who); told {
			c.traces = append(c.traces, t)
		}
	}
	for _, t := range shape.Echoes(e, models) {
		t.Actor = who
		if t.ID != "" {
			// The entry names another object than this one.
			t.Actor.Confidence = confidence(who, model.Likely)
		}
		c.traces = append(c.traces, entry{Trace: t})
	}
	return c, nil
}

func deedOf(row model.Value) (model.Deed, bool) {
	action := row.At("action")
	if action.Kind() == model.Map {
		action = action.At("value")
	}
	switch action.Text() {
	case "create":
		return model.Created, true
	case "update":
		return model.Edited, true
	case "delete":
		return model.Deleted, true
	}
	return 0, false
}

// actorOf names who made an entry. What NetBox does by itself names nobody.
func actorOf(row model.Value, c change) model.Actor {
	a := model.Actor{
		Name: reach.Printable(cmp.Or(row.At("user_name").Str(), row.At("user", "username").Str())), At: c.at, Via: "NetBox changelog",
		Evidence: "object-change " + strconv.FormatInt(c.id, 10), Confidence: model.Exact,
		Request: reach.Printable(row.At("request_id").Str()), Message: reach.Printable(row.At("message").Str()),
	}
	if a.Name == "" {
		a.Name, a.Confidence, a.Reason = "unknown", model.Unknown, "the entry of the changelog names no user"
	}
	return a
}

// confidence is that of an actor who is known, and none of another.
func confidence(a model.Actor, known model.Confidence) model.Confidence {
	if a.Confidence == model.Unknown {
		return model.Unknown
	}
	return known
}

// trace tells what an entry says of its own object. An edit that touched nothing
// that driftd reads is none; one without its sides may have touched anything.
func trace(k *shape.Kind, e shape.Entry, who model.Actor) (entry, bool) {
	t := entry{Trace: model.Trace{Ref: model.Ref{Kind: k.Name, ID: e.ID}, Deed: e.Deed, Actor: who}}
	if e.Deed != model.Edited {
		return t, true
	}
	if e.Before.IsEmpty() || e.After.IsEmpty() {
		t.Actor.Confidence = confidence(who, model.Likely)
		return t, true
	}
	t.Fields, t.written = shape.Changed(k, e.Before, e.After), shape.WrittenBy(k, e.Before, e.After)
	return t, len(t.Fields) > 0
}

// lasting returns what entries tell, which are sorted by object and time. Where
// a field holds another value than the last entry on it left, somebody changed
// it past the changelog: who wrote those entries did not make the value that is
// there.
func lasting(entries []entry, resources []model.Resource) []model.Trace {
	type field struct {
		model.Ref
		path string
	}
	var traces []model.Trace
	lasts := map[field]bool{}
	for _, e := range slices.Backward(entries) {
		var stale []string
		live := find(resources, e.Ref)
		for i := range e.written {
			w := &e.written[i]
			f := field{e.Ref, w.Path}
			if _, decided := lasts[f]; !decided {
				lasts[f] = live == nil || w.Left(live.Value)
			}
			if !lasts[f] {
				stale = append(stale, w.Path)
			}
		}
		if len(stale) > 0 {
			e.Fields = slices.DeleteFunc(slices.Clone(e.Fields), func(path string) bool { return slices.Contains(stale, path) })
		}
		if len(stale) == 0 || len(e.Fields) > 0 {
			traces = append(traces, e.Trace)
		}
	}
	slices.Reverse(traces)
	return traces
}

// find returns the resource among those that are sorted by key; nil where there
// is none.
func find(resources []model.Resource, ref model.Ref) *model.Resource {
	i, found := slices.BinarySearchFunc(resources, ref, func(r model.Resource, ref model.Ref) int {
		return cmp.Or(cmp.Compare(r.Kind, ref.Kind), cmp.Compare(r.ID, ref.ID))
	})
	if !found {
		return nil
	}
	return &resources[i]
}
