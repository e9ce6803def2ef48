package daemon

import (
	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
	"github.com/driftd/driftd/internal/store"
)

// Reseal returns the store.Seal of a room: its rules, and functions that seal the values of earlier
// scans again.
func Reseal(room *secret.Room) store.Seal {
	return store.Seal{Rules: room.Rules(), Value: room.Again, Finding: func(f *model.Finding) {
		before := classify.Basis(f)
		room.Finding(f)
		if now := classify.Basis(f); f.Basis == before {
			f.Basis = now
		}
	}}
}
