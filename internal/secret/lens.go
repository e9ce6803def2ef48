package secret

import (
	"github.com/driftd/driftd/internal/model"
)

// lens returns the claim's lens so that it shows live resources sealed as the claim is.
// Claims without secrets that shared a lens share it still.
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

// A lens seals what another one shows: the names of its attributes are other ones than
// those of the live fields.
type lens struct {
	model.Lens

	room *Room
}

// View implements model.Lens.
func (l lens) View(live model.Value) model.Value { return l.room.Again("", l.Lens.View(live)) }

// Shares reports what the lens within reports.
func (l lens) Shares(path string) bool {
	inner, ok := l.Lens.(interface{ Shares(string) bool })
	return ok && inner.Shares(path)
}

// Declares returns what the lens within returns.
func (l lens) Declares(live model.Value, path string, v model.Value) (means model.Value, known bool) {
	inner, ok := l.Lens.(interface {
		Declares(model.Value, string, model.Value) (model.Value, bool)
	})
	if !ok {
		return model.Value{}, false
	}
	return inner.Declares(live, path, v)
}

// A claimLens also seals what the claim has sealed.
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
