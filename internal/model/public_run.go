package model

import "slices"

// Public returns a copy of the run in its published form: times are in UTC, and lists are not nil.
// It omits marks, exemptions and samples of objects, which the API returns separately.
func (r Run) Public() Run {
	r.Exempt = nil
	r.Started, r.Finished = r.Started.UTC(), r.Finished.UTC()
	r.Sources = append([]SourceRun{}, r.Sources...)
	for i := range r.Sources {
		s := &r.Sources[i]
		s.Taken, s.Marks = s.Taken.UTC(), nil
		if s.Kinds == nil {
			s.Kinds = map[string]int{}
		}
	}
	r.Declarations = append([]DeclarationRun{}, r.Declarations...)
	for i := range r.Declarations {
		d := &r.Declarations[i]
		d.Problems, d.Objects = append([]Problem{}, d.Problems...), nil
	}
	r.Coverage = append([]Coverage{}, r.Coverage...)
	r.NotJudged, r.NotGoverned = publicNotJudged(r.NotJudged), slices.Clone(r.NotGoverned)
	r.Rules = slices.Clone(r.Rules)
	for i := range r.Rules {
		r.Rules[i].Expires = r.Rules[i].Expires.UTC()
	}
	r.Scores = slices.Clone(r.Scores)
	r.SeverityRules = slices.Clone(r.SeverityRules)
	if r.Repeated != nil {
		repeated := *r.Repeated
		repeated.FirstStarted = repeated.FirstStarted.UTC()
		r.Repeated = &repeated
	}
	return r
}

// publicNotJudged returns a copy in which no list is null.
func publicNotJudged(all []NotJudged) []NotJudged {
	all = slices.Clone(all)
	for i := range all {
		all[i].Resources = append([]NotJudgedResource{}, all[i].Resources...)
	}
	return all
}

// Public returns a copy of the actor in its published form, with the time in UTC.
func (a Actor) Public() Actor {
	a.At = a.At.UTC()
	return a
}

// publicCopy returns a copy of Public; nil of nil.
func (a *Actor) publicCopy() *Actor {
	if a == nil {
		return nil
	}
	who := a.Public()
	return &who
}

// utc returns the decision with its times in UTC.
func (d *Decision) utc() *Decision {
	if d == nil {
		return nil
	}
	c := *d
	c.At, c.Until = c.At.UTC(), c.Until.UTC()
	return &c
}

// Public returns a copy of the status in its published form, with times in UTC.
func (s ReceiverStatus) Public() ReceiverStatus {
	s.Oldest, s.Delivered = s.Oldest.UTC(), s.Delivered.UTC()
	return s
}

// Public returns a copy of the scan in its published form, with times in UTC.
func (s Scan) Public() Scan {
	s.Started, s.Finished = s.Started.UTC(), s.Finished.UTC()
	return s
}
