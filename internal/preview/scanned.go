package preview

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A scanned compares the objects of a plan with those of the stored scan. Only a scan shows that a
// value was applied and is in no commit: for the plan, its removal is a change of the configuration.
type scanned struct {
	plan *Plan
	k    *Known
	o    Options
	// roots are the scanned declarations whose objects the plan has; those that cannot be compared
	// are included if they are named.
	roots []string
	// unchecked are the reasons of the unchecked findings, by address.
	unchecked map[string]string
	gaps      []Gap
}

func newScanned(plan *Plan, k *Known, o Options) *scanned {
	s := &scanned{plan: plan, k: k, o: o, unchecked: map[string]string{}}
	for name := range k.Objects {
		if same, other, _ := s.compare(name); same > 0 && same >= other && (o.Declaration == "" || name == o.Declaration) {
			s.roots = append(s.roots, name)
		}
	}
	slices.Sort(s.roots)
	for _, f := range k.open() {
		if f.Verdict == model.Unchecked && slices.Contains(s.roots, f.Declaration) {
			s.unchecked[f.Address] = f.Reason
		}
	}
	return s
}

// compare counts the objects of the plan that a declaration has, and those at whose address it has
// another one, with the first of them.
func (s *scanned) compare(declaration string) (same, other int, example string) {
	for _, object := range s.plan.Objects {
		switch s.find(declaration, &object) {
		case model.Same:
			same++
		case model.Other:
			if other++; example == "" || object.Address < example {
				example = object.Address
			}
		case model.Absent, model.Beyond:
		}
	}
	return same, other, example
}

func (s *scanned) find(declaration string, object *Object) model.Sampled {
	id := cmp.Or(object.ID, object.Name)
	if object.Action == "create" { // The ID of the object that is gone is not in the plan.
		id = ""
	}
	return s.k.Objects[declaration].Find(object.Address, id, object.Live.ID)
}

// check returns an error if the objects of o.Declaration show that the plan is of another state. A
// plan of the same state has all of them, unless it was made with -target.
func (s *scanned) check() error {
	name := s.o.Declaration
	if name == "" || len(s.k.Objects[name]) == 0 || s.o.PlanOnly {
		return nil
	}
	same, other, example := s.compare(name)
	hint := fmt.Sprintf("make the plan in the root of %s, run driftd scan if its last scan (%s) is too old, or name another declaration",
		name, s.k.finished().Format(time.RFC3339))
	switch {
	case other > same:
		return fmt.Errorf("the plan is of another state than declaration %s: its %s is another object than that of the last scan; %s", name, example, hint)
	case same == 0 && !s.plan.Partial:
		return fmt.Errorf("the plan is of another state than declaration %s: it has none of its resources; %s", name, hint)
	}
	return nil
}

// judge adds a gap if the stored scan cannot have shown that the plan's change of an object undoes an
// apply of no commit.
func (s *scanned) judge(object *Object) {
	if s.o.PlanOnly {
		return
	}
	if len(s.roots) == 0 {
		if gap := (Gap{Declaration: s.o.Declaration, Reason: unknownApplies + s.unscanned()}); !slices.Contains(s.gaps, gap) {
			s.gaps = append(s.gaps, gap)
		}
		return
	}
	var reasons []Gap
	for _, name := range s.roots {
		why := s.unjudged(name, object)
		if why == "" {
			return
		}
		reasons = append(reasons, Gap{Declaration: name, Address: object.Address, Reason: unknownApplies + why})
	}
	s.gaps = append(s.gaps, reasons[0])
}

// unknownApplies begins the reason of a gap about changes that only a scan shows.
const unknownApplies = "bypassed changes (applied from elsewhere) are not known: "

// unscanned returns why no scanned declaration has the objects of the plan.
func (s *scanned) unscanned() string {
	const next = "run driftd scan, or accept it with --plan-only"
	run := s.k.Run
	if s.k.Missing != "" || run == nil {
		return "no scan of this root is stored; " + next
	}
	if d := run.Declaration(s.o.Declaration); d != nil {
		if d.Err != "" {
			return "the last scan could not read declaration " + d.Name + ": " + d.Err
		}
		if len(s.k.Objects[d.Name]) == 0 && d.Claims > 0 {
			return "the last scan did not record the objects of declaration " + d.Name + "; run driftd scan"
		}
	}
	return "no scan of a root with its resources is stored; " + next
}

// unjudged returns why the last scan of a declaration cannot have shown that an object was changed by
// an apply of no commit; "" if it can.
func (s *scanned) unjudged(declaration string, object *Object) string {
	run := s.k.Run
	d := run.Declaration(declaration)
	found := s.find(declaration, object)
	switch live := model.LiveSource(declaration); {
	case d == nil:
		return "no scan of this root is stored"
	case d.Err != "":
		return "the last scan could not read it: " + d.Err
	case !d.IsPlanned():
		return "it has engine: state, which does not read the configuration; set engine: plan"
	case found == model.Absent || found == model.Other:
		return "its last scan at " + s.k.finished().Format(time.RFC3339) + " did not see this resource; run driftd scan"
	case s.unchecked[object.Address] != "":
		return "its last scan could not check this resource: " + s.unchecked[object.Address]
	default:
		for _, c := range run.Coverage {
			if c.Source == live && c.Failed() {
				return c.Reason
			}
		}
	}
	return ""
}
