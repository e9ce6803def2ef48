package secret

import (
	"github.com/driftd/driftd/internal/model"
)

// lens returns a lens that seals live resources in the same way as the claim. Claims without
// secrets that share a lens also share the returned one.
func (r *Room) lens(c *model.Claim) model.Lens {
	if c.Lens == nil {
		return nil
	}
	shared := lens{c.Lens, r}
	if !c.Value.HasSecret() && (c.Recorded == nil || !c.Recorded.HasSecret()) {
		return shared
	}
	declared := []model.Value{c.Value}
	if c.Recorded != nil {
		declared = append(declared, *c.Recorded)
	}
	return &claimLens{shared, declared}
}

// A lens seals the view of another lens, whose attributes may have other names than the live
// fields.
type lens struct {
	model.Lens

	room *Room
}

// View implements model.Lens.
func (l lens) View(live model.Value) model.Value { return l.room.Again("", l.Lens.View(live)) }

// A claimLens also seals the fields that are sealed in the claim.
type claimLens struct {
	lens

	declared []model.Value
}

// View implements model.Lens.
func (l *claimLens) View(live model.Value) model.Value {
	v := l.lens.View(live)
	for _, d := range l.declared {
		v = l.room.Sealer().SealLike(v, d)
	}
	return v
}
