package secret

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Snapshot seals the result of a collector. It does not modify values that the collector may share.
func (r *Room) Snapshot(s model.Snapshot) model.Snapshot {
	if r == nil {
		return s
	}
	s.Resources = r.resources(s.Resources)
	s.Coverage = slices.Clone(s.Coverage)
	for i := range s.Coverage {
		s.Coverage[i].Reason = r.Text(s.Coverage[i].Reason)
	}
	s.Unread = slices.Clone(s.Unread)
	for i := range s.Unread {
		s.Unread[i].Reason = r.Text(s.Unread[i].Reason)
	}
	s.Stale = slices.Clone(s.Stale)
	for i := range s.Stale {
		s.Stale[i].Reason = r.Text(s.Stale[i].Reason)
	}
	s.AuditEvents, s.LogUnread = r.auditEvents(s.AuditEvents), r.Text(s.LogUnread)
	return s
}

// resources seals resources. It returns list itself if it does not change any: a copy of a large account takes much
// memory.
func (r *Room) resources(list []model.Resource) []model.Resource {
	isCopy := false
	var sealed model.Resource
	for i := range list {
		if sealed = list[i]; !r.resource(&sealed) {
			continue
		}
		if !isCopy {
			list, isCopy = slices.Clone(list), true
		}
		list[i] = sealed
	}
	return list
}

// resource seals a resource and reports whether it may have changed it.
func (r *Room) resource(x *model.Resource) bool {
	value, writer := r.Value(x.Kind, x.Value), r.Text(x.WriterUnknown)
	changed := value != x.Value || writer != x.WriterUnknown || x.LastApplied != nil || x.Record != nil ||
		len(x.Running)+len(x.UnreadFields)+len(x.Violations) > 0
	if !changed {
		return false
	}
	x.Value, x.WriterUnknown, x.LastApplied = value, writer, r.pointer(x.Kind, x.LastApplied, false)
	if len(x.Running) > 0 {
		x.Running = slices.Clone(r.Value(x.Kind, model.MapOf(slices.Clone(x.Running)...)).Fields())
	}
	if len(x.UnreadFields) > 0 {
		x.UnreadFields = slices.Clone(x.UnreadFields)
		for i := range x.UnreadFields {
			x.UnreadFields[i].Reason = r.Text(x.UnreadFields[i].Reason)
		}
	}
	x.Record, x.Violations = r.record(x.Record), r.violations(x.Kind, x.Violations)
	return true
}

// violations seals the values, texts and actors of failed checks.
func (r *Room) violations(kind string, list []model.Violation) []model.Violation {
	list = slices.Clone(list)
	for i := range list {
		r.violation(kind, &list[i])
	}
	return list
}

func (r *Room) violation(kind string, v *model.Violation) {
	if v.Value != nil {
		sealed := r.at(kind, v.Path, *v.Value)
		v.Value = &sealed
	}
	v.Reason, v.Actor = r.Text(v.Reason), r.actor(v.Actor)
}

// record seals the values of an installation. Its settings are the value of a resource, too.
func (r *Room) record(record *model.Installation) *model.Installation {
	if record == nil {
		return nil
	}
	sealed := *record
	sealed.Settings, sealed.Unread = model.Value{}, r.Text(record.Unread)
	sealed.Objects = slices.Clone(record.Objects)
	for i := range sealed.Objects {
		o := &sealed.Objects[i]
		o.Value, o.Attempted = r.Value(o.Kind, o.Value), r.Value(o.Kind, o.Attempted)
	}
	return &sealed
}

// auditEvents seals the values, texts and actors of audit events.
func (r *Room) auditEvents(events []model.AuditEvent) []model.AuditEvent {
	events = slices.Clone(events)
	for i := range events {
		e := &events[i]
		e.LastValue = r.Value(e.Kind, e.LastValue)
		if len(e.Texts) > 0 {
			e.Texts = slices.Clone(e.Texts)
			for k := range e.Texts {
				e.Texts[k] = r.value("", model.StringOf(e.Texts[k]), false).Text()
			}
		}
		r.quotes(e)
		e.Actor = r.actor(e.Actor)
	}
	return events
}

// hidden replaces the values in evidence that are secret.
const hidden = "<hidden>"

// quotes hides the quoted values of an event that are secret.
func (r *Room) quotes(e *model.AuditEvent) {
	quotes := slices.SortedFunc(slices.Values(e.Quotes), func(a, b model.Quote) int { return cmp.Compare(a.From, b.From) })
	text, at := e.Actor.Evidence, 0
	var evidence strings.Builder
	for _, q := range quotes {
		field := model.MapOf(model.Field{Name: q.Path, Value: q.Value})
		if r.Value(e.Kind, field).Equal(field) {
			continue
		}
		to := min(q.To, len(text))
		if from := min(q.From, to); from >= at {
			evidence.WriteString(text[at:from] + hidden)
		}
		at = max(at, to)
	}
	e.Actor.Evidence, e.Quotes = evidence.String()+text[at:], nil
}

func (r *Room) actor(a model.Actor) model.Actor {
	a.Name, a.Evidence, a.Reason, a.Message = r.Text(a.Name), r.Text(a.Evidence), r.Text(a.Reason), r.Text(a.Message)
	return a
}

// Declaration seals the result of a loader.
func (r *Room) Declaration(d model.Declaration) model.Declaration { return r.declaration(d, false) }

// Derived seals a declaration that was derived from a sealed snapshot.
func (r *Room) Derived(d model.Declaration) model.Declaration { return r.declaration(d, true) }

func (r *Room) declaration(d model.Declaration, again bool) model.Declaration {
	if r == nil {
		return d
	}
	d.Claims = slices.Clone(d.Claims)
	for i := range d.Claims {
		r.claim(&d.Claims[i], again)
	}
	d.Problems = slices.Clone(d.Problems)
	for i := range d.Problems {
		d.Problems[i].Reason = r.Text(d.Problems[i].Reason)
	}
	d.Notes = slices.Clone(d.Notes)
	for i := range d.Notes {
		d.Notes[i].Text = r.Text(d.Notes[i].Text)
	}
	if d.Live != nil {
		live := r.Snapshot(*d.Live)
		d.Live = &live
	}
	d.Violations = slices.Clone(d.Violations)
	for i := range d.Violations {
		r.violation("", &d.Violations[i].Violation)
	}
	d.Decisions = slices.Clone(d.Decisions)
	for i := range d.Decisions {
		r.decision(&d.Decisions[i])
	}
	d.Removals = slices.Clone(d.Removals)
	for i := range d.Removals {
		d.Removals[i].Actor = r.actor(d.Removals[i].Actor)
	}
	d.LogUnread = r.Text(d.LogUnread)
	return d
}

func (r *Room) claim(c *model.Claim, again bool) {
	c.Value = r.value(c.Kind, c.Value, again)
	c.Written, c.Recorded = r.pointer(c.Kind, c.Written, again), r.pointer(c.Kind, c.Recorded, again)
	c.Otherwise = slices.Clone(c.Otherwise)
	for i := range c.Otherwise {
		c.Otherwise[i] = r.value(c.Kind, c.Otherwise[i], again)
	}
	if c.LiveRead != nil {
		read := *c.LiveRead
		read.Value = r.value(c.Kind, read.Value, again)
		c.LiveRead = &read
	}
	c.Lens, c.Violations = r.lens(c), r.violations(c.Kind, c.Violations)
	if !again {
		c.AuditEvents = r.auditEvents(c.AuditEvents)
	}
	for _, text := range []*string{&c.Unchecked, &c.Pending, &c.Doubt, &c.WriterUnknown, &c.LogUnread} {
		*text = r.Text(*text)
	}
}

// decision seals the values of a decision in a file, which are compared with the sealed values
// of findings.
func (r *Room) decision(d *model.Decision) {
	d.Reason = r.Text(d.Reason)
	d.Changes = slices.Clone(d.Changes)
	for i := range d.Changes {
		c := &d.Changes[i]
		for _, v := range []**model.Value{&c.Declared, &c.Recorded, &c.Live} {
			*v = r.pointer(d.Subject.Kind, *v, true)
		}
	}
}

// Canonical seals the claims that a source has rewritten. Claims that are equal before and after are
// already sealed.
func (r *Room) Canonical(before, after []model.Claim) []model.Claim {
	if r == nil {
		return after
	}
	sealed := slices.Clone(after)
	for i := range sealed {
		if i < len(before) && sealed[i].Written != before[i].Written {
			sealed[i].Value = r.Value(sealed[i].Kind, sealed[i].Value)
		}
	}
	return sealed
}

// Pasts seals the earlier versions of claims.
func (r *Room) Pasts(claims []*model.Claim, pasts []model.Past) []model.Past {
	if r == nil {
		return pasts
	}
	pasts = slices.Clone(pasts)
	for i := range pasts {
		p := &pasts[i]
		p.Gap, p.Versions = r.Text(p.Gap), slices.Clone(p.Versions)
		kind := ""
		if i < len(claims) {
			kind = claims[i].Kind
		}
		for k := range p.Versions {
			v := &p.Versions[k]
			v.Value = r.pointer(kind, v.Value, false)
			for _, text := range []*string{&v.From.Author, &v.From.Message, &v.Until.Author, &v.Until.Message} {
				*text = r.Text(*text)
			}
		}
	}
	return pasts
}

// Observations seals values of resources of a kind that earlier scans stored.
func (r *Room) Observations(kind string, list []model.Observation) []model.Observation {
	if r == nil {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Value = r.pointer(kind, list[i].Value, true)
	}
	return list
}

// Error returns an error that wraps err, with each secret part of its text replaced by a mark.
func (r *Room) Error(err error) error {
	if r == nil || err == nil {
		return err
	}
	if text := r.Text(err.Error()); text != err.Error() {
		return &sealedError{text, err}
	}
	return err
}

type sealedError struct {
	text string
	err  error
}

func (e *sealedError) Error() string { return e.text }
func (e *sealedError) Unwrap() error { return e.err }
