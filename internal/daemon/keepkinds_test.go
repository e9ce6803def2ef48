package daemon

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// fakeState is a record of applied state with the things 0 to count-1. Each reading is of another serial.
type fakeState struct {
	count  int
	serial int64
	// address is that of the record, and named whether the configuration names the kinds: none.
	address string
	named   bool
}

func (f *fakeState) Load(context.Context) (model.Declaration, error) {
	f.serial++
	d := model.Declaration{Name: "git", Governs: []string{"live"}, KeepsKinds: !f.named,
		States: []model.StateRead{{Address: f.address, Lineage: "l", Serial: f.serial}}}
	for i := range f.count {
		d.Claims = append(d.Claims, model.Claim{Declaration: "git", Address: fmt.Sprintf("lab_thing.a%d", i), Kind: thing, ID: fmt.Sprintf("p/%02d", i)})
	}
	if f.count > 0 && !f.named {
		d.Scopes = []model.Scope{{Kind: thing}}
	}
	return d, nil
}

// TestEmptiedState checks that resources whose claims left a record of applied state, or whose record is not read any
// more, are unmanaged, and not unless the configuration names the kinds.
func TestEmptiedState(t *testing.T) {
	t.Parallel()
	state := &fakeState{count: 2, address: "a"}
	var estate Estate
	b := newBench(t, 2, func(e *Estate) {
		e.Declarations = []Declaration{{Name: "git", Type: "test", Governs: []string{"live"}, Every: time.Minute, Loader: state}}
		estate = *e
	})
	wantVerdicts(t, b.cycle(t), "")
	state.count = 1
	wantVerdicts(t, b.cycle(t), "1 unmanaged")
	state.count = 0
	wantVerdicts(t, b.cycle(t), "2 unmanaged")
	wantVerdicts(t, b.cycle(t), "2 unmanaged")
	b.engine = b.restart(estate)
	wantVerdicts(t, b.cycle(t), "2 unmanaged")
	state.address = "b"
	wantVerdicts(t, b.cycle(t), "2 unmanaged")
	state.named = true
	wantVerdicts(t, b.cycle(t), "")
}
