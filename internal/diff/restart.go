package diff

import "github.com/driftd/driftd/internal/model"

// inEffect returns the live value that is in effect until the next restart.
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

// mergeRunning merges the differences of the accepted value with those of the value in effect. A
// field that differs in only one of them waits for a restart, because an edit or an apply is not in
// effect yet.
func mergeRunning(accepted, effective []difference) []difference {
	inEffect := make(map[string]*difference, len(effective))
	for i := range effective {
		inEffect[effective[i].change.Path] = &effective[i]
	}
	joined := make([]difference, 0, len(accepted))
	for _, f := range accepted {
		running := inEffect[f.change.Path]
		delete(inEffect, f.change.Path)
		switch {
		case running == nil:
			f.change.Running = appliedSide(f.change)
			if f.verdict == model.Changed || f.verdict == model.Undeclared {
				f.verdict = model.PendingRestart
			}
		case !model.SameValue(running.change.Live, f.change.Live):
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
		f.change.Running, f.change.Live = f.change.Live, appliedSide(f.change)
		joined = append(joined, f)
	}
	return joined
}

// appliedSide returns the recorded value of a change, or else the declared one.
func appliedSide(c model.Change) *model.Value {
	if c.Recorded != nil {
		return c.Recorded
	}
	return c.Declared
}
