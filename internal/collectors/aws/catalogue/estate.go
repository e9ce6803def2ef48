package catalogue

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// A Page is what one list returned in one region.
type Page struct {
	Resources []model.Resource
	// pending are the resources that are defaults of AWS if another one is.
	pending []pending
	// defaults are the defaults of AWS.
	defaults []model.Ref
}

// pending is the index of a resource that is usual if In is a default of AWS.
type pending struct {
	resource int
	in       model.Ref
	reason   string
}

// RowsOf returns the rows of an answer. of is the row that the list was read for, or null. It
// fails if the answer has no such list.
func (l *List) RowsOf(answer, of model.Value) ([]model.Value, error) {
	if !of.IsNull() {
		answer = answer.With(parentRow, of)
	}
	rows, known := rowsAt(answer, l.Rows)
	if !known && !l.Optional {
		return nil, fmt.Errorf("the answer to %s has no list %s", l.Call.Action, l.Rows)
	}
	return rows, nil
}

// An Env is what templates and resources have in common.
type Env struct {
	Source string
	// Texts are region, account and partition.
	Texts map[string]string
	Place string
}

// Add adds the resources of a row.
func (p *Page) Add(k *Kind, row model.Value, env *Env, texts table.Texts) error {
	rows, _ := rowsAt(documentAt(row, k.Document), k.Rows)
	for _, each := range rows {
		if !model.HoldsAll(k.Where, each) {
			continue
		}
		if err := p.add(k, each, env, texts); err != nil {
			return err
		}
	}
	return nil
}

func (p *Page) add(k *Kind, row model.Value, env *Env, texts table.Texts) error {
	id := expand(k.ID, row, env.Texts)
	if id == "" {
		return errors.New("an entry of " + k.Name + " has no id")
	}
	all := readTags(at(row, k.Tags))
	r := model.Resource{
		Key: model.Key{Source: env.Source, Kind: k.FullName(), ID: id}, Place: env.Place,
		Name:    cmp.Or(expand(k.Label, row, env.Texts), all.At("Name").Str(), id),
		Value:   k.value(row, all, texts),
		Created: created(at(row, k.Created)), WriterUnknown: WriterUnknown,
	}
	if parent := expand(k.Parent.ID, row, env.Texts); parent != "" {
		r.Parent = model.Ref{Kind: k.Parent.fullKind(), ID: parent}
	}
	if maker := expand(k.Maker.ID, row, env.Texts); maker != "" && model.HoldsAll(k.MakerWhere, row) {
		r.Makers = []model.Ref{{Kind: k.Maker.fullKind(), ID: maker}}
	}
	for _, identity := range k.Identities {
		if text := expand(identity[1], row, env.Texts); text != "" {
			r.Identities = append(r.Identities, model.Identity{By: identity[0], Value: text})
		}
	}
	p.judge(k, &r, row, env)
	r.SystemOwned = cmp.Or(r.SystemOwned, ownerByTags(all))
	p.Resources = append(p.Resources, r)
	return nil
}

// value returns the fields of a row, and its tags.
func (k *Kind) value(row, all model.Value, texts table.Texts) model.Value {
	raw := make([]model.Field, 0, len(k.Fields))
	for i := range k.Fields {
		if v := at(row, k.Fields[i].Raw); !v.IsNull() {
			raw = append(raw, model.Field{Name: k.Fields[i].Raw, Value: v})
		}
	}
	fields := k.Fields.Read(&table.Context{Plain: table.AsSent, Texts: texts}, model.MapOf(raw...), make([]model.Field, 0, len(raw)+1))
	if own := withoutReserved(all); !own.IsEmpty() {
		fields = append(fields, model.Field{Name: "tags", Value: own})
	}
	return model.MapOf(fields...)
}

// judge sets why AWS created the resource, as far as the row proves it.
func (p *Page) judge(k *Kind, r *model.Resource, row model.Value, env *Env) {
	for i := range k.Usual {
		u := &k.Usual[i]
		if !u.holds(row) {
			continue
		}
		if u.In.Kind != "" {
			in := model.Ref{Kind: u.In.fullKind(), ID: expand(u.In.ID, row, env.Texts)}
			p.pending = append(p.pending, pending{len(p.Resources), in, u.Reason})
			continue
		}
		r.SystemOwned = u.Reason
		if u.Default {
			p.defaults = append(p.defaults, model.Ref{Kind: r.Kind, ID: r.ID})
		}
		return
	}
}

// holds reports whether a row is of this kind, except for In.
func (u *Usual) holds(row model.Value) bool {
	text := at(row, u.Path).Text()
	return model.HoldsAll(u.Where, row) &&
		(len(u.Begins) == 0 || slices.ContainsFunc(u.Begins, func(start string) bool { return strings.HasPrefix(text, start) })) &&
		(u.Same[0] == "" || at(row, u.Same[0]).Text() == at(row, u.Same[1]).Text())
}

// Join returns the resources of all pages, sorted. Resources with one key, from several lists,
// become one. gap returns why a kind was not read in a place. A resource is unread
// if it depends on such a kind whether AWS created it.
func Join(pages []Page, gap func(kind, place string) string) ([]model.Resource, []model.Unread) {
	defaults, total := map[model.Ref]bool{}, 0
	for i := range pages {
		total += len(pages[i].Resources)
		for _, ref := range pages[i].defaults {
			defaults[ref] = true
		}
	}
	j := joiner{gap: gap, defaults: defaults, carriers: map[string]*model.Resource{}, tagged: taggedKinds(), all: make([]model.Resource, 0, total)}
	for i := range pages {
		j.take(&pages[i])
		pages[i] = Page{}
	}
	slices.SortStableFunc(j.all, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	all := j.merge()
	markParents(all)
	return all, j.unread
}

type joiner struct {
	gap      func(kind, place string) string
	defaults map[model.Ref]bool
	// carriers are the rows of the tagging API by ARN, and tagged the kinds that need them.
	carriers map[string]*model.Resource
	tagged   map[string]bool
	all      []model.Resource
	unread   []model.Unread
}

// take moves the resources of a page.
func (j *joiner) take(p *Page) {
	unknown := map[int]string{}
	for _, u := range p.pending {
		r := &p.Resources[u.resource]
		switch reason := j.gap(u.in.Kind, r.Place); {
		case r.SystemOwned != "":
		case reason != "":
			unknown[u.resource] = u.in.Kind + " was not read, so that it is not known whether AWS created this: " + reason
		case j.defaults[u.in]:
			r.SystemOwned = u.reason
		}
	}
	for i := range p.Resources {
		r := &p.Resources[i]
		reason := unknown[i]
		if j.tagged[r.Kind] && reason == "" {
			reason = j.gap(prefix+tagCarrier, r.Place)
		}
		switch {
		case r.Kind == prefix+tagCarrier:
			carrier := *r
			j.carriers[r.ID] = &carrier
		case reason != "" && r.SystemOwned == "":
			j.unread = append(j.unread, model.Unread{Ref: model.Ref{Kind: r.Kind, ID: r.ID}, Place: r.Place, Name: r.Name, Parent: r.Parent, Identities: r.Identities, Reason: reason})
		default:
			j.all = append(j.all, *r)
		}
	}
}

// merge returns the resources, in which those with one key are one and have the tags of their
// carriers.
func (j *joiner) merge() []model.Resource {
	merged := j.all[:0]
	for _, r := range j.all {
		if carrier := j.carriers[r.ID]; carrier != nil && j.tagged[r.Kind] {
			join(&r, carrier)
		}
		if last := len(merged) - 1; last >= 0 && merged[last].Key == r.Key {
			join(&merged[last], &r)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// containsField is the field with what a resource contains that is rated critical. A parent that no
// declaration manages is reported instead of its children.
const containsField = "contains"

// maxContained bounds the texts of containsField.
const maxContained = 10

// markParents sets containsField. The resources are sorted.
func markParents(all []model.Resource) {
	kinds, contained := Schemas(), map[int][]model.Value{}
	for i := range all {
		r := &all[i]
		if r.Parent == (model.Ref{}) || r.SystemOwned != "" || !isCritical(kinds[r.Kind], r) {
			continue
		}
		// A VPC contains the group of a rule. No chain of kinds is longer.
		for parent, depth := r.Parent, 0; parent != (model.Ref{}) && depth < 4; depth++ {
			at, ok := slices.BinarySearchFunc(all, model.Key{Source: r.Source, Kind: parent.Kind, ID: parent.ID}, func(r model.Resource, k model.Key) int { return r.Key.Compare(k) })
			if !ok {
				break
			}
			if len(contained[at]) < maxContained {
				contained[at] = append(contained[at], model.StringOf(strings.TrimPrefix(r.Kind, prefix)+" "+r.Name))
			}
			parent = all[at].Parent
		}
	}
	for at, texts := range contained {
		all[at].Value = all[at].Value.With(containsField, model.ListOf(texts...))
	}
}

// isCritical reports whether a resource is rated critical if no declaration manages it.
func isCritical(k *model.Kind, r *model.Resource) bool {
	if k == nil {
		return false
	}
	for i := range k.Severities {
		if rule := &k.Severities[i]; rule.Path == "" && rule.About(model.Unmanaged, r.ID) && model.HoldsAll(rule.Where, r.Value) {
			return rule.Severity == model.Critical
		}
	}
	return false
}

// join adds to a resource what another answer has of it.
func join(r, other *model.Resource) {
	for _, f := range other.Value.Fields() {
		r.Value = r.Value.With(f.Name, f.Value)
	}
	if r.Name == r.ID {
		r.Name = other.Name
	}
	r.SystemOwned = cmp.Or(r.SystemOwned, other.SystemOwned)
	if r.Created.IsZero() {
		r.Created = other.Created
	}
}

// taggedKinds returns the kinds whose tags are those of the tagging API.
func taggedKinds() map[string]bool {
	all := map[string]bool{}
	for _, l := range Lists() {
		for _, k := range l.AllKinds() {
			if k.Tagged {
				all[k.FullName()] = true
			}
		}
	}
	return all
}

// Unread returns the resource that a list could not read for a row.
func (l *List) Unread(row model.Value, env *Env, reason string) (model.Unread, bool) {
	id := expand(l.Subject.ID, row, env.Texts)
	return model.Unread{Ref: model.Ref{Kind: l.Subject.fullKind(), ID: id}, Place: env.Place, Name: id, Reason: reason}, id != ""
}

// Inputs returns the parameters of the calls for rows of another list.
func (l *List) Inputs(rows []model.Value, env *Env) []map[string]any {
	if l.Batch.Size > 0 {
		var all []map[string]any
		for chunk := range slices.Chunk(rows, l.Batch.Size) {
			texts := make([]string, len(chunk))
			for i, row := range chunk {
				texts[i] = expand(l.Batch.Text, row, env.Texts)
			}
			input := maps.Clone(l.Call.Input)
			input[l.Batch.Param] = texts
			all = append(all, input)
		}
		return all
	}
	all := make([]map[string]any, len(rows))
	for i, row := range rows {
		all[i] = map[string]any{}
		for name, v := range l.Call.Input {
			if text, ok := v.(string); ok {
				v = expand(text, row, env.Texts)
			}
			all[i][name] = v
		}
	}
	return all
}

// created parses a time: RFC 3339, or seconds since 1970.
func created(v model.Value) time.Time {
	if v.IsEmpty() {
		return time.Time{}
	}
	if seconds, err := strconv.ParseFloat(v.Text(), 64); err == nil && seconds > 0 && seconds < 1<<46 {
		if seconds < 1<<36 {
			seconds *= 1000
		}
		return time.UnixMilli(int64(seconds)).UTC()
	}
	return decode.Time(v.Text(), time.RFC3339, "2006-01-02T15:04:05.000-0700")
}

// readTags returns tags as a map. Services return a map, or a list of keys and values.
func readTags(v model.Value) model.Value {
	if v.Kind() == model.Map {
		return v
	}
	fields := make([]model.Field, 0, len(v.Items()))
	for _, item := range v.Items() {
		name := cmp.Or(item.At("Key").Str(), item.At("key").Str(), item.At("TagKey").Str())
		value := item.At("Value")
		for _, other := range []string{"value", "TagValue"} {
			if value.IsNull() {
				value = item.At(other)
			}
		}
		if name != "" {
			fields = append(fields, model.Field{Name: name, Value: model.StringOf(value.Text())})
		}
	}
	return model.MapOf(fields...)
}

// reserved is what the names of tags begin with that no user can set.
const reserved = "aws:"

func withoutReserved(all model.Value) model.Value {
	return model.MapOf(slices.DeleteFunc(slices.Clone(all.Fields()), func(f model.Field) bool { return strings.HasPrefix(f.Name, reserved) })...)
}

// ownerByTags returns what created a resource according to tags that no user can set.
func ownerByTags(all model.Value) string {
	for _, by := range []struct{ tag, reason string }{
		{"aws:cloudformation:stack-name", "declared by the CloudFormation stack "},
		{"aws:autoscaling:groupName", "created by the Auto Scaling group "},
		{"aws:eks:cluster-name", "created by the EKS cluster "},
	} {
		if name := all.At(by.tag).Str(); name != "" {
			return by.reason + name
		}
	}
	return ""
}
