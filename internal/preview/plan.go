package preview

import (
	"cmp"
	"time"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
)

// A Plan is the content of a Terraform plan.
type Plan struct {
	// Declaration has a claim for each object, with the trees of the plan. Its Live contains the objects
	// that the plan read. Its secrets are sealed.
	Declaration model.Declaration
	// Objects maps the IDs of claims to the objects of the plan.
	Objects map[string]Object
	// Gaps are the objects that were not planned.
	Gaps []Gap
	// Partial reports whether the plan may lack objects of the state.
	Partial bool
}

// An Object is an object of a plan.
type Object struct {
	// Address is the address of the object. Type and Name are parts of the address.
	Address, Type, Name string
	// ID is the value of the attribute id of the object, or "".
	ID string
	// Live is the live resource of the object according to a mapping table, or zero if no table determines
	// it.
	Live model.Ref
	// Action is the action of an apply: "no-op", "update", "create", "replace", "delete" or "forget". It is
	// "" if the object was not planned.
	Action string
	// Reason is the reason why the plan destroys the object, or "" if it does not.
	Reason string
	// Imports reports whether the apply imports the object into the state.
	Imports bool
}

// FromPlan returns the manual changes that an apply of a plan would erase. These are the changes that the
// plan itself shows, those that the plan repeats from an apply without a commit and that a stored finding
// shows, and the objects that it destroys. Authors and ages come from the stored findings. If no scan can
// have detected an apply without a commit, the preview has a Gap. FromPlan returns an error if the plan
// certainly does not belong to o.Declaration.
func FromPlan(plan Plan, k Known, o Options) (Preview, error) {
	if k.Missing == "" && !o.PlanOnly {
		if err := k.root(o.Declaration); err != nil {
			return Preview{}, err
		}
	}
	a := newAuthors(&plan, &k, o)
	s := newScanned(&plan, &k, o)
	check := s.check
	if len(k.Objects[o.Declaration]) == 0 {
		check = a.check
	}
	if err := check(); err != nil {
		return Preview{}, err
	}
	p := Preview{Scanned: k.finished(), Gaps: plan.Gaps}
	judged := judge(&plan)
	d := plan.Declaration
	found := classify.Findings(classify.Input{Judged: judged, Snapshots: []model.Snapshot{*d.Live}, Declarations: []model.Declaration{d},
		Sources: []string{d.Live.Source}, Now: o.Now})
	for i := range found.Current {
		f := &found.Current[i]
		object := plan.Objects[f.Key.ID]
		f.ID, f.Source, f.Declaration, f.Basis, f.WorseBasis, f.Flips = "", o.source(), o.Declaration, "", "", nil
		f.FirstSeen, f.LastSeen = time.Time{}, time.Time{}
		p.Items = append(p.Items, a.items(&object, f)...)
		if object.Action == "update" && f.Verdict == model.Pending && len(f.Changes) > 0 {
			s.judge(&object)
		}
	}
	p.Gaps = append(p.Gaps, s.gaps...)
	p.settle(o)
	return p, nil
}

// source returns the source of findings that only the plan shows.
func (o *Options) source() string {
	if o.Declaration == "" {
		return ""
	}
	return model.LiveSource(o.Declaration)
}

// judge compares the objects that the plan does not leave alone. Of an object that is
// destroyed, every change since the last apply counts.
func judge(plan *Plan) []model.Judged {
	var judged []model.Judged
	subjects := match.Match(*plan.Declaration.Live, []model.Declaration{plan.Declaration})
	for i := range subjects {
		s := &subjects[i]
		object, known := plan.Objects[s.Key.ID]
		if !known || len(s.Claims) == 0 {
			continue
		}
		switch object.Action {
		case "update", "create":
			judged = append(judged, diff.Judge(s, diff.Options{}))
		case "replace", "delete":
			judged = append(judged, model.Judged{Subject: s, Outcomes: []model.Outcome{destroyed(s, object.Reason)}})
		}
	}
	return judged
}

// destroyed returns the outcome for an object that the plan destroys.
func destroyed(s *model.Subject, reason string) model.Outcome {
	c := s.Claims[0]
	out := model.Outcome{Verdict: model.Pending, Claim: c, Reason: reason, Actor: model.UnknownActor("")}
	if s.Live == nil || c.Recorded == nil {
		return out
	}
	var schema *model.Schema
	if s.Kind != nil {
		schema = s.Kind.Schema
	}
	if out.Changes = diff.Fields(schema, *c.Recorded, s.Live.Value); len(out.Changes) > 0 {
		out.Verdict = model.Changed
	}
	return out
}

// items returns the items of a finding of the plan.
func (a *authors) items(object *Object, f *model.Finding) []Item {
	switch {
	case object.Action == "delete":
		return []Item{a.destroyed(object, f, Destroy)}
	case object.Action == "replace":
		return []Item{a.destroyed(object, f, Replace)}
	case f.Verdict == model.Missing:
		f.Reason = cmp.Or(f.Reason, "the provider does not find it; some providers report an edited object so")
		a.whole(object, f)
		return []Item{{Effect: Create, Finding: *f}}
	case f.Verdict == model.Changed || f.Verdict == model.Conflict:
		a.fields(object, f)
		return []Item{{Effect: Overwrite, Finding: *f}}
	case f.Verdict == model.Pending && len(f.Changes) > 0:
		return a.bypassed(object, f)
	}
	return nil
}

// destroyed returns the item of an object that is destroyed, with all manual changes that are
// known on it.
func (a *authors) destroyed(object *Object, f *model.Finding, effect Effect) Item {
	if len(f.Changes) > 0 {
		a.fields(object, f)
	} else {
		f.Actor = model.UnknownActor("no manual change is known")
	}
	a.takeCreator(object, f)
	for _, stored := range a.of(object) {
		hand, made := handMade(stored)
		if !made || hand.Verdict == model.Missing {
			continue
		}
		if len(hand.Changes) == 0 { // An apply of no commit created it.
			takeOver(f, stored)
			f.Verdict, f.Actor, f.Unproven = worst(f.Verdict, hand.Verdict), hand.Actor, hand.Unproven
		}
		before := len(f.Changes)
		for i := range hand.Changes {
			if c := hand.Changes[i]; !has(f.Changes, c.Path) {
				c.Actor = actorOf(stored, &c)
				f.Changes = append(f.Changes, c)
			}
		}
		if len(f.Changes) > before {
			takeOver(f, stored)
			f.Verdict = worst(f.Verdict, stored.Verdict)
		}
	}
	if len(f.Changes) > 0 {
		lift(f)
	}
	if f.Rated == nil && f.Severity.Rank() > model.High.Rank() {
		f.Severity = model.High
	}
	// An ignore rule hides differences, and not the end of an object.
	f.Replaces, f.Hidden = effect == Replace, ""
	return Item{Effect: effect, Finding: *f}
}

// worst returns bypassed if one of the verdicts is, and otherwise the first one that is not
// pending.
func worst(verdict, other model.Verdict) model.Verdict {
	if other == model.Bypassed || verdict == model.Pending {
		return other
	}
	return verdict
}

// bypassed returns the items of a finding whose changes the plan takes for a change of the
// configuration. They are erased if a stored finding shows that they were made by hand: they
// were applied and are in no commit, or they were written into the state since.
func (a *authors) bypassed(object *Object, f *model.Finding) []Item {
	byVerdict := map[string]*model.Finding{}
	var order []string
	for _, c := range f.Changes {
		stored, change, _ := a.change(object, &c)
		if stored == nil {
			continue
		}
		verdict := stored.VerdictText()
		item := byVerdict[verdict]
		if item == nil {
			copied := *f
			item = &copied
			item.Changes, item.Verdict, item.Reason, item.Unproven = nil, stored.Verdict, stored.Reason, false
			byVerdict[verdict], order = item, append(order, verdict)
		}
		c.Actor, c.Unproven = actorOf(stored, change), change.Unproven
		item.Changes = append(item.Changes, c)
		takeOver(item, stored)
	}
	items := make([]Item, len(order))
	for i, verdict := range order {
		lift(byVerdict[verdict])
		items[i] = Item{Effect: Overwrite, Finding: *byVerdict[verdict]}
	}
	return items
}

// has reports whether there is a change at a path.
func has(changes []model.Change, path string) bool {
	for i := range changes {
		if overlap(changes[i].Path, path) {
			return true
		}
	}
	return false
}

// overlap reports whether a path is equal to another one, or above or below it. Keys of list
// elements do not count, because a plan without schemas has positions instead.
func overlap(a, b string) bool {
	return model.Overlap(model.WithoutKeys(a), model.WithoutKeys(b))
}
