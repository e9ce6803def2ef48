package netbox

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// parseChange converts a row of the changelog to audit events, with the changed fields in the form
// of the resources' values.
func parseChange(kinds map[string]*normalize.Kind, models normalize.Models, row model.Value) (change, error) {
	id, err := number(row.At("id"))
	if err != nil {
		return change{}, err
	}
	at := decode.Time(row.At("time").Str(), time.RFC3339)
	if at.IsZero() {
		return change{}, fmt.Errorf("invalid time %q", printable.Text(row.At("time").Str()))
	}
	c := change{id: id, at: at}
	action, known := actionOf(row)
	if !known {
		return c, nil
	}
	e := normalize.Entry{
		Model: strings.ToLower(row.At("changed_object_type").Str()), ID: row.At("changed_object_id").Text(), Action: action,
		Before: row.At("prechange_data"), After: row.At("postchange_data"),
	}
	who := actorOf(row, c)
	if k := kinds[e.Model]; k != nil && e.ID != "" {
		if t, ok := event(k, e, models, who); ok {
			c.events = append(c.events, t)
		}
	}
	for _, t := range normalize.SideEffects(e, models) {
		t.Actor = who
		if t.ID != "" {
			// The row names another object than this one.
			t.Actor.Confidence = likely(who)
		}
		c.events = append(c.events, entry{AuditEvent: t})
	}
	return c, nil
}

func actionOf(row model.Value) (model.Action, bool) {
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

// actorOf returns the actor of a row. Changes by NetBox itself have no user.
func actorOf(row model.Value, c change) model.Actor {
	a := model.Actor{
		Name: printable.Text(cmp.Or(row.At("user_name").Str(), row.At("user", "username").Str())), At: c.at, Via: "NetBox changelog",
		Evidence: "object-change " + strconv.FormatInt(c.id, 10), Confidence: model.Exact,
		Request: printable.Text(row.At("request_id").Str()), Message: printable.Text(row.At("message").Str()),
	}
	if a.Name == "" {
		a.Name, a.Confidence, a.Reason = "unknown", model.Unknown, "the entry of the changelog names no user"
	}
	return a
}

// likely returns model.Likely, or model.Unknown if the actor is unknown.
func likely(a model.Actor) model.Confidence {
	if a.Confidence == model.Unknown {
		return model.Unknown
	}
	return model.Likely
}

// event returns the audit event of an entry for its own object. For an edit that changed no field
// that driftd reads, ok is false. An edit without both sides may have changed any field.
func event(k *normalize.Kind, e normalize.Entry, models normalize.Models, who model.Actor) (entry, bool) {
	t := entry{AuditEvent: model.AuditEvent{Ref: model.Ref{Kind: k.Name, ID: e.ID}, Action: e.Action, Actor: who}}
	if e.Action == model.Deleted {
		t.LastValue = normalize.LastValue(k, e, models)
		return t, true
	}
	t.written = normalize.WrittenBy(k, e)
	if e.Action == model.Created {
		return t, true
	}
	if e.Before.IsEmpty() || e.After.IsEmpty() {
		t.Actor.Confidence = likely(who)
		return t, true
	}
	t.Fields = normalize.Changed(k, e.Before, e.After)
	return t, len(t.Fields) > 0
}
