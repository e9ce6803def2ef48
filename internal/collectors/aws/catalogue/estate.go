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
	entries []entry
	// pending are the entries that are defaults of AWS if another one is.
	pending []pending
	// defaults are the defaults of AWS.
	defaults []model.Ref
	made     []made
	unnamed  []model.Unread
}

// made is a resource that AWS created together with another one, its maker.
type made struct{ ref, maker model.Ref }

// An entry is a resource as far as a list has it. It is a third as large as a model.Resource, and there
// are entries of all pages before there is the first one of these.
type entry struct {
	kind       *Kind
	env        *Env
	id, name   string
	value      model.Value
	identities []model.Identity
	created    time.Time
	// parent and maker are the IDs of the resources of kind.Parent and kind.Maker, or "".
	parent, maker string
	systemOwned   string
	// forgeable is Usual.Forgeable of the reason in systemOwned.
	forgeable bool
	// expired reports whether it is a credential that is older than Env.MaxKeyAge, undated whether its age is not known.
	expired, undated bool
}

// pending is the index of an entry that is usual if In is a default of AWS.
type pending struct {
	entry int
	in    model.Ref
	usual *Usual
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
	// MaxKeyAge is the age at which a credential has to be replaced; 0 for none. Now is the time of the scan.
	MaxKeyAge time.Duration
	Now       time.Time
}

// withoutID is why no finding is about a resource without an ID that no declaration has.
const withoutID = "it has no ID yet"

// Add adds the resources of a row.
func (p *Page) Add(k *Kind, row model.Value, env *Env, texts table.Texts) error {
	rows, _ := rowsAt(documentAt(row, k.Document), k.Rows)
	for _, each := range rows {
		if u := &k.Unnamed; len(u.Where) > 0 && model.HoldsAll(u.Where, each) {
			prefix := expand(u.Prefix, each, env.Texts)
			if prefix == "" {
				return errors.New("an entry of " + k.Name + " has no id")
			}
			p.unnamed = append(p.unnamed, model.Unread{
				Ref: model.Ref{Kind: k.FullName(), ID: prefix}, Place: env.Place, Name: expand(k.Label, each, env.Texts),
				SystemOwned: withoutID, Reason: u.Reason, All: true,
			})
			continue
		}
		if !model.HoldsAll(k.Where, each) || k.Needs != "" && at(each, k.Needs).Text() == "" {
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
	e := entry{
		kind: k, env: env, id: id, name: cmp.Or(expand(k.Label, row, env.Texts), all.At("Name").Str(), id),
		value: k.value(row, all, texts), created: created(at(row, k.Created)), parent: expand(k.Parent.ID, row, env.Texts),
	}
	if model.HoldsAll(k.MakerWhere, row) {
		e.maker = expand(k.Maker.ID, row, env.Texts)
	}
	e.identities = k.identities(row, env)
	if env.MaxKeyAge > 0 && len(k.Rotated) > 0 && model.HoldsAll(k.Rotated, row) {
		e.expired, e.undated = env.isExpired(e.created), e.created.IsZero()
	}
	p.judge(&e, row)
	e.systemOwned = cmp.Or(e.systemOwned, ownerByTags(all))
	p.entries = append(p.entries, e)
	for i := range k.Makes {
		if m := &k.Makes[i]; !m.Usual || e.systemOwned != "" {
			p.addMade(m, &e, row)
		}
	}
	return nil
}

// addMade records the resources that AWS created together with an entry.
func (p *Page) addMade(m *Made, maker *entry, row model.Value) {
	rows, _ := rowsAt(row, m.Rows)
	for _, each := range rows {
		if id := expand(m.ID, each, maker.env.Texts); id != "" {
			p.made = append(p.made, made{model.Ref{Kind: m.fullKind(), ID: id}, model.Ref{Kind: maker.kind.FullName(), ID: maker.id}})
		}
	}
}

// identities returns the identities of the resource of a row. Those without a text are left out.
func (k *Kind) identities(row model.Value, env *Env) (all []model.Identity) {
	for _, identity := range k.Identities {
		if text := expand(identity[1], row, env.Texts); text != "" {
			all = append(all, model.Identity{By: identity[0], Value: text})
		}
	}
	return all
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
func (p *Page) judge(e *entry, row model.Value) {
	for i := range e.kind.Usual {
		u := &e.kind.Usual[i]
		if !u.holds(row) || u.Is != nil && !u.Is(row, e.env) {
			continue
		}
		if u.In.Kind != "" {
			in := model.Ref{Kind: u.In.fullKind(), ID: expand(u.In.ID, row, e.env.Texts)}
			p.pending = append(p.pending, pending{len(p.entries), in, u})
			continue
		}
		e.systemOwned, e.forgeable = u.Reason, u.Forgeable
		if u.Default {
			p.defaults = append(p.defaults, model.Ref{Kind: e.kind.FullName(), ID: e.id})
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

// Join returns the resources of all pages, and others. further are the lists of pages that are not among Lists. Resources with one key, from several lists, become
// one. gap returns why a kind was not read in a place. A resource is unread if it depends on
// such a kind whether AWS created it.
func Join(pages []Page, others []model.Resource, gap func(kind, place string) string, further ...*List) ([]model.Resource, []model.Unread) {
	j := joiner{gap: gap, defaults: map[model.Ref]bool{}, makers: map[model.Ref][]model.Ref{}, carriers: map[string]*entry{}, tagged: taggedKinds(further),
		names: map[string]string{}, unnamed: map[model.Ref]bool{}}
	for i := range pages {
		for _, ref := range pages[i].defaults {
			j.defaults[ref] = true
		}
		for _, m := range pages[i].made {
			j.makers[m.ref] = append(j.makers[m.ref], m.maker)
		}
	}
	for i := range pages {
		j.take(&pages[i])
	}
	slices.SortStableFunc(j.all, (*entry).compare)
	j.merge()
	j.kinds = Schemas(further...)
	markParents(j.all, j.kinds)
	all := make([]model.Resource, 0, len(j.all)+len(others))
	for _, e := range j.all {
		all = append(all, j.resource(e))
	}
	return append(all, others...), j.unread
}

type joiner struct {
	gap      func(kind, place string) string
	defaults map[model.Ref]bool
	// makers are the resources that others were created together with.
	makers map[model.Ref][]model.Ref
	// carriers are the rows of the tagging API by ARN, and tagged the kinds that need them.
	carriers map[string]*entry
	tagged   map[string]bool
	all      []*entry
	unread   []model.Unread
	// unnamed are the resources that are unread because rows have no ID.
	unnamed map[model.Ref]bool
	// kinds are how the kinds are rated, by full name.
	kinds map[string]*model.Kind
	// names are the full names of kinds by their names, so that resources share them.
	names map[string]string
}

// compare orders entries by kind and ID.
func (e *entry) compare(other *entry) int {
	return cmp.Or(strings.Compare(e.kind.Name, other.kind.Name), strings.Compare(e.id, other.id))
}

// take takes the entries of a page.
func (j *joiner) take(p *Page) {
	j.takeUnnamed(p.unnamed)
	unknown := map[int]string{}
	for _, u := range p.pending {
		e := &p.entries[u.entry]
		switch reason := j.gap(u.in.Kind, e.env.Place); {
		case e.systemOwned != "":
		case reason != "":
			unknown[u.entry] = u.in.Kind + " was not read, so that it is not known whether AWS created this: " + reason
		case j.defaults[u.in]:
			e.systemOwned, e.forgeable = u.usual.Reason, u.usual.Forgeable
		}
	}
	for i := range p.entries {
		e := &p.entries[i]
		reason := unknown[i]
		if (j.tagged[e.kind.Name] || e.kind.Part && j.tagged[e.kind.Parent.Kind]) && reason == "" {
			reason = j.gap(Tags, e.env.Place)
		}
		switch {
		case e.kind.IsCarrier():
			j.carriers[e.id] = e
		case reason != "" && e.systemOwned == "":
			r := j.resource(e)
			u := model.Unread{Ref: model.Ref{Kind: r.Kind, ID: r.ID}, Place: r.Place, Name: r.Name, Parent: r.Parent, Identities: r.Identities, Reason: reason}
			if e.kind.Part {
				u.SystemOwned = withParent
			}
			j.unread = append(j.unread, u)
		default:
			j.all = append(j.all, e)
		}
	}
}

// takeUnnamed takes the unread resources of rows without an ID, each once.
func (j *joiner) takeUnnamed(unnamed []model.Unread) {
	for i := range unnamed {
		if u := &unnamed[i]; !j.unnamed[u.Ref] {
			j.unnamed[u.Ref], j.unread = true, append(j.unread, *u)
		}
	}
}

// merge makes those with one key one, and adds the tags of carriers.
func (j *joiner) merge() {
	merged := j.all[:0]
	for _, e := range j.all {
		if carrier := j.carriers[e.arn()]; carrier != nil && j.tagged[e.kind.Name] {
			e.join(carrier)
		}
		if last := len(merged) - 1; last >= 0 && merged[last].compare(e) == 0 {
			merged[last].join(e)
			continue
		}
		merged = append(merged, e)
	}
	j.all = merged
}

// arn returns the ARN of a kind whose tags are those of the tagging API: the identity, or else the ID.
func (e *entry) arn() string {
	for _, identity := range e.identities {
		if identity.By == "arn" {
			return identity.Value
		}
	}
	return e.id
}

// fullName returns the full name of a kind.
func (j *joiner) fullName(name string) string {
	full, ok := j.names[name]
	if !ok {
		full = prefix + name
		j.names[name] = full
	}
	return full
}

// resource returns an entry as a resource.
func (j *joiner) resource(e *entry) model.Resource {
	r := model.Resource{
		Key: model.Key{Source: e.env.Source, Kind: j.fullName(e.kind.Name), ID: e.id}, Place: e.env.Place, Name: e.name, Value: e.value,
		Identities: e.identities, Created: e.created, WriterUnknown: WriterUnknown, SystemOwned: e.systemOwned, DeclaredInParent: e.forgeable,
	}
	if e.expired {
		r.Violations = []model.Violation{e.env.expired(e.created)}
	}
	if e.undated {
		r.Undecided = []string{checkKeyAge}
	}
	if e.parent != "" {
		r.Parent = model.Ref{Kind: j.fullName(e.kind.Parent.Kind), ID: e.parent}
		r.DeclaredWithParent = e.kind.Part && !e.isCritical(j.kinds[r.Kind])
	}
	r.Makers = j.makers[model.Ref{Kind: r.Kind, ID: r.ID}]
	if e.maker != "" {
		r.Makers = append(r.Makers, model.Ref{Kind: j.fullName(e.kind.Maker.Kind), ID: e.maker})
	}
	return r
}

// containsField is the field with what a resource contains that is rated critical. A parent that no
// declaration manages is reported instead of its children.
const containsField = "contains"

// maxContained bounds the texts of containsField.
const maxContained = 10

// markParents sets containsField. The entries are sorted.
func markParents(all []*entry, kinds map[string]*model.Kind) {
	contained := map[*entry][]model.Value{}
	for _, e := range all {
		if e.parent == "" || e.systemOwned != "" || !e.isCritical(kinds[e.kind.FullName()]) {
			continue
		}
		// A VPC contains the group of a rule. No chain of kinds is longer.
		for kind, id, depth := e.kind.Parent.Kind, e.parent, 0; id != "" && depth < 4; depth++ {
			at, ok := slices.BinarySearchFunc(all, id, func(e *entry, id string) int {
				return cmp.Or(strings.Compare(e.kind.Name, kind), strings.Compare(e.id, id))
			})
			if !ok {
				break
			}
			parent := all[at]
			if len(contained[parent]) < maxContained {
				contained[parent] = append(contained[parent], model.StringOf(e.kind.Name+" "+e.name))
			}
			kind, id = parent.kind.Parent.Kind, parent.parent
		}
	}
	for parent, texts := range contained {
		parent.value = parent.value.With(containsField, model.ListOf(texts...))
	}
}

// isCritical reports whether a resource of a kind is rated critical if no declaration manages it.
func (e *entry) isCritical(k *model.Kind) bool {
	if k == nil {
		return false
	}
	for i := range k.Severities {
		if rule := &k.Severities[i]; rule.Path == "" && rule.About(model.Unmanaged, e.id) && model.HoldsAll(rule.Where, e.value) {
			return rule.Severity == model.Critical
		}
	}
	return false
}

// join adds to a resource what another answer has of it.
func (e *entry) join(other *entry) {
	for _, f := range other.value.Fields() {
		e.value = e.value.With(f.Name, f.Value)
	}
	if e.name == e.id {
		e.name = other.name
	}
	if e.systemOwned == "" {
		e.systemOwned, e.forgeable = other.systemOwned, other.forgeable
	}
	if e.created.IsZero() {
		e.created = other.created
	}
}

// taggedKinds returns the kinds whose tags are those of the tagging API.
func taggedKinds(further []*List) map[string]bool {
	all := map[string]bool{}
	for _, l := range slices.Concat(Lists(), further) {
		for _, k := range l.AllKinds() {
			if k.Tagged {
				all[k.Name] = true
			}
		}
	}
	return all
}

// withParent is why no finding is about a part that was not read: the finding on its parent is about both.
const withParent = "it was not read with what it belongs to"

// Unread returns the resources that a list could not read for a row, because of an error with a code, and the parts that they may
// have. There are none if the error concerns all rows.
func (l *List) Unread(row model.Value, env *Env, code, reason string) []model.Unread {
	name := expand(l.Subject.ID, row, env.Texts)
	id, all := strings.CutSuffix(name, "*")
	if id == "" || len(l.Sound) > 0 && model.HoldsAll(l.Sound, row) && !slices.Contains(strings.Fields(l.Unsound), code) {
		return nil
	}
	subject := model.Ref{Kind: l.Subject.fullKind(), ID: id}
	var unread []model.Unread
	for _, k := range l.Kinds {
		switch {
		case k.Name == l.Subject.Kind:
			unread = append(unread, model.Unread{Ref: subject, Place: env.Place, Name: name, Reason: reason, All: all})
		case k.Part && k.Parent.Kind == l.Subject.Kind:
			unread = append(unread, model.Unread{Ref: model.Ref{Kind: k.FullName(), ID: id}, Place: env.Place, Name: id, Parent: subject,
				SystemOwned: withParent, Identities: k.identities(row, env), Reason: reason})
		}
	}
	return unread
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
