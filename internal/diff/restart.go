package diff

import "github.com/driftd/driftd/internal/model"

// inEffect returns the live value as it is until the restart that some of it
// waits for.
func inEffect(live *model.Resource) model.Value {
	v := live.Value
	for _, f := range live.Running {
		if f.Value.IsNull() {
			v = v.Without(f.Name)
		} else {
			v = v.With(f.Name, f.Value)
		}
	}
	return v
}

// waiting joins what differs in what the source holds with what differs in what
// is in effect. A field that differs in one of them only waits for a restart:
// either the change was made and is not in effect yet, or what was applied is
// not.
func waiting(held, effective []found) []found {
	inEffect := make(map[string]*found, len(effective))
	for i := range effective {
		inEffect[effective[i].change.Path] = &effective[i]
	}
	joined := make([]found, 0, len(held))
	for _, f := range held {
		running := inEffect[f.change.Path]
		delete(inEffect, f.change.Path)
		switch {
		case running == nil:
			f.change.Running = agreed(f.change)
			if f.verdict == model.Changed || f.verdict == model.Undeclared {
				f.verdict = model.PendingRestart
			}
		case !equalSides(running.change.Live, f.change.Live):
			f.change.Running = running.change.Live
		}
		joined = append(joined, f)
	}
	for i := range effective {
		f := effective[i]
		if inEffect[f.change.Path] == nil {
			continue
		}
		f.verdict, f.reason = model.PendingRestart, "applied, waiting for a restart"
		f.change.Running, f.change.Live = f.change.Live, agreed(f.change)
		joined = append(joined, f)
	}
	return joined
}

// agreed returns the value that a side which differs in nothing has.
func agreed(c model.Change) *model.Value {
	if c.Recorded != nil {
		return c.Recorded
	}
	return c.Declared
}

func equalSides(a, b *model.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
