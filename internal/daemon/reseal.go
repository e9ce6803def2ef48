package daemon

import (
	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
	"github.com/driftd/driftd/internal/store"
)

// Reseal returns the functions by which a store seals the values of earlier scans again,
// according to the rules of a room.
func Reseal(room *secret.Room) store.Seal {
	return store.Seal{Rules: room.Rules(), Value: room.Again, Finding: func(f *model.Finding) {
		before := classify.Basis(f)
		room.Finding(f)
		if now := classify.Basis(f); f.Basis == before {
			f.Basis = now
		}
	}}
}
