package preview

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// unmanaged returns the stored finding on the live resource that the plan imports; nil if there is
// none, or if several sources have such a resource.
func (a *authors) unmanaged(object *Object) *model.Finding {
	if !object.Imports {
		return nil
	}
	list := a.unclaimed[object.Live]
	if len(list) == 0 || slices.ContainsFunc(list, func(f *model.Finding) bool { return f.Source != list[0].Source }) {
		return nil
	}
	// A rule for a resource that no declaration manages does not apply to its fields.
	stored := *list[0]
	stored.Declaration, stored.Hidden, stored.Rated = a.o.Declaration, "", nil
	return &stored
}

// unclaimedIn returns the findings on resources that no declaration manages, by their live
// resource.
func unclaimedIn(open []*model.Finding) map[model.Ref][]*model.Finding {
	unclaimed := map[model.Ref][]*model.Finding{}
	for _, f := range open {
		if ref := (model.Ref{Kind: f.Kind, ID: f.Key.ID}); f.Verdict == model.Unmanaged && ref.ID != "" {
			unclaimed[ref] = append(unclaimed[ref], f)
		}
	}
	return unclaimed
}

// takeCreator completes the finding on an imported object that an apply destroys from the stored
// one: the whole object was made by hand.
func (a *authors) takeCreator(object *Object, f *model.Finding) {
	if stored := a.unmanaged(object); stored != nil {
		takeOver(f, stored)
		f.Verdict, f.Actor = worst(f.Verdict, stored.Verdict), stored.Actor
	}
}
