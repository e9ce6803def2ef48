package openstack

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/putback"
	"github.com/driftd/driftd/internal/reconcile"
)

const (
	tags     = "tags"
	metadata = "metadata"
	security = "port_security_enabled"
	groups   = "security_groups"
)

// written returns the fields of a kind that driftd writes.
func written(kind string) []string {
	switch kind {
	case normalize.SecurityGroup, normalize.Subnet, normalize.Router:
		return []string{"name", "description", tags}
	case normalize.Network:
		return []string{"name", "description", tags, security}
	case normalize.Port:
		return []string{"name", "description", tags, security, groups}
	case normalize.FloatingIP:
		return []string{"description", tags}
	case normalize.Server:
		return []string{metadata, tags}
	case normalize.Volume:
		return []string{metadata}
	case normalize.Image:
		return []string{tags}
	}
	return nil
}

// A target is a field of an object that is to have a value.
type target struct {
	putback.Field

	// field is the first step of the path, and key the second; "" for the whole field.
	field, key string
}

// targetsOf returns the fields of a finding.
func (a *Actuator) targetsOf(ctx context.Context, session *openstackapi.Session, s *reconcile.Subject, o *object) ([]target, error) {
	live := o.kind.WithJoined(o.Value, s.Live)
	after := o.row
	var all []target
	for i := range s.Finding.Changes {
		c := &s.Finding.Changes[i]
		t, err := splitPath(o.kind.Name, putback.PathOf(c))
		if err != nil {
			return nil, err
		}
		if t.Field, err = putback.Find(s, live, c); err != nil {
			return nil, err
		}
		if err := t.complete(ctx, session, o); err != nil {
			return nil, err
		}
		if model.SameValue(t.Old, t.Wanted) {
			return nil, refuse(guardStillSo, "%s has the declared value: look again", t.Path)
		}
		after = t.set(after)
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, refuse(guardKind, "the finding names no field")
	}
	return all, a.prove(s, o, all, after)
}

// prove refuses unless the fields have their declared values in a row.
func (a *Actuator) prove(s *reconcile.Subject, o *object, all []target, row model.Value) error {
	after, err := normalize.New().Object(o.kind, row)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].field == security && all[i].Change.Declared == nil {
			continue // it gets what a new one has
		}
		if !all[i].Holds(s, a.kinds[o.kind.Name].Schema, after.Value) {
			return refuse(guardKind, "%s: the object would not have the declared value", all[i].Path)
		}
	}
	return nil
}

func splitPath(kind, path string) (t target, err error) {
	steps, ok := fieldpath.Parse(path)
	fields := written(kind)
	switch {
	case len(fields) == 0:
		return t, refuse(guardKind, "driftd writes no fields of the kind %s", kind)
	case !ok || steps[0].Kind != fieldpath.Field || !slices.Contains(fields, steps[0].Name):
		return t, refuse(guardKind, "%s: of the kind %s driftd writes %s", path, kind, strings.Join(fields, ", "))
	case len(steps) == 1:
		return target{field: steps[0].Name}, nil
	case len(steps) == 2 && steps[0].Name == metadata && steps[1].Kind == fieldpath.Field:
		return target{field: metadata, key: steps[1].Name}, nil
	}
	return t, refuse(guardKind, "%s: the path cannot be translated", path)
}

// complete sets what the field is to have if the declaration does not have it.
func (t *target) complete(ctx context.Context, session *openstackapi.Session, o *object) error {
	if t.Wanted != nil && !t.Wanted.IsNull() {
		return nil
	}
	none := model.StringOf("")
	switch {
	case t.field == tags:
		none = model.ListOf()
	case t.field == metadata:
		return nil
	case t.field == security && o.kind.Name == normalize.Network:
		none = model.BoolOf(true) // as of a new network
	case t.field == security:
		// As of a new port.
		network, err := read(ctx, session, model.Key{Kind: normalize.Network, ID: o.Value.At("network_id").Str()})
		if err != nil {
			return explainRead(session, err)
		}
		none = network.Value.At(security)
	case t.field == groups:
		return refuse(guardKind, "%s: the declaration does not have it", t.Path)
	}
	t.Wanted = &none
	return nil
}

// set sets the field in a row.
func (t *target) set(row model.Value) model.Value {
	switch {
	case t.key == "" && t.Wanted == nil:
		return row.Without(t.field)
	case t.key == "":
		return row.With(t.field, *t.Wanted)
	case t.Wanted == nil:
		return row.With(t.field, row.At(t.field).Without(t.key))
	}
	return row.With(t.field, row.At(t.field).With(t.key, model.StringOf(t.Wanted.Text())))
}

// A request is one request of a plan.
type request struct {
	openstackapi.Request

	// words are what it does.
	words string
}

// requestsFor returns the requests that give the fields of an object their values. The first one, if it changes the object itself,
// has the revision of the object, which Neutron compares.
func requestsFor(o *object, targets []target) []request {
	at := o.pathOf(o.ID)
	body := model.MapOf()
	var entries model.Value
	var own []string
	var parts []request
	add := func(method, path, words string, body model.Value) {
		parts = append(parts, request{openstackapi.Request{Method: method, Service: o.kind.Service, Path: path, Microversion: o.kind.Microversion, Body: body}, words})
	}
	for i := range targets {
		switch t := &targets[i]; t.field {
		case tags:
			for _, tag := range missingIn(t.Old, t.Wanted) {
				add(http.MethodPut, at+"/tags/"+url.PathEscape(tag), "add the tag "+tag, model.Value{})
			}
			for _, tag := range missingIn(t.Wanted, t.Old) {
				add(http.MethodDelete, at+"/tags/"+url.PathEscape(tag), "remove the tag "+tag, model.Value{})
			}
		case metadata:
			for _, e := range t.entries(o) {
				if e.Value.IsNull() {
					add(http.MethodDelete, at+"/metadata/"+url.PathEscape(e.Name), "remove the metadata "+e.Name, model.Value{})
					continue
				}
				if entries.IsNull() {
					entries = model.MapOf()
				}
				entries = entries.With(e.Name, model.StringOf(e.Value.Text()))
			}
		default:
			body, own = body.With(t.field, *t.Wanted), append(own, t.field)
		}
	}
	if !entries.IsNull() {
		add(http.MethodPost, at+"/metadata", "set the metadata "+strings.Join(names(entries), ", "), model.MapOf(model.Field{Name: metadata, Value: entries}))
	}
	if len(own) == 0 {
		return parts
	}
	first := request{openstackapi.Request{Method: http.MethodPut, Service: o.kind.Service, Path: at, Header: o.revision(), Body: model.MapOf(model.Field{Name: o.item(), Value: body})},
		"set " + strings.Join(own, ", ")}
	return append([]request{first}, parts...)
}

// entries returns the entries of metadata that change; null for those that are removed.
func (t *target) entries(o *object) (changes []model.Field) {
	if t.key != "" {
		changes = append(changes, model.Field{Name: t.key})
		if t.Wanted != nil {
			changes[0].Value = *t.Wanted
		}
		return changes
	}
	var wanted model.Value
	if t.Wanted != nil {
		wanted = *t.Wanted
	}
	held := o.Value.At(metadata)
	for _, f := range wanted.Fields() {
		if !held.At(f.Name).Equal(f.Value) {
			changes = append(changes, f)
		}
	}
	for _, f := range held.Fields() {
		if _, stays := wanted.Get(f.Name); !stays {
			changes = append(changes, model.Field{Name: f.Name})
		}
	}
	return changes
}

// revision returns the header that makes Neutron compare the revision of the object; nil if it has none.
func (o *object) revision() map[string]string {
	if number := o.row.At("revision_number").Text(); number != "" {
		return map[string]string{"If-Match": "revision_number=" + number}
	}
	return nil
}

// missingIn returns the texts of a list that another one lacks; nil is an empty one.
func missingIn(list, of *model.Value) (texts []string) {
	var held []string
	if list != nil {
		for _, item := range list.Items() {
			held = append(held, item.Text())
		}
	}
	if of == nil {
		return nil
	}
	for _, item := range of.Items() {
		if text := item.Text(); !slices.Contains(held, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

func names(v model.Value) []string {
	fields := v.Fields()
	list := make([]string, len(fields))
	for i := range fields {
		list[i] = fields[i].Name
	}
	return list
}
