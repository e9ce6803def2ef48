package terraform

import (
	"sync"

	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/model"
)

// planned stores the instances of the last plan whose declared and recorded values
// differ. History compares them with earlier commits.
type planned struct {
	mu        sync.Mutex
	revision  string
	instances map[string]*plan.Instance
}

// keep replaces the stored instances. The revision is unknown until setRevision is called.
func (k *planned) keep(instances []plan.Instance) {
	kept := map[string]*plan.Instance{}
	for i := range instances {
		if found := &instances[i]; found.Deposed == "" && differs(found) {
			// The live tree is not needed, and may be large.
			kept[found.Address] = &plan.Instance{Address: found.Address, Type: found.Type, Provider: found.Provider,
				Declared: found.Declared, Recorded: found.Recorded, Whole: found.Whole, Form: found.Form}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revision, k.instances = "", kept
}

// setRevision sets the commit of the plan.
func (k *planned) setRevision(revision string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revision = revision
}

// at returns the instances of the plan of a commit; ok is false if the last plan was
// of another commit.
func (k *planned) at(revision string) (instances map[string]*plan.Instance, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.instances, revision != "" && k.revision == revision
}

// differs reports whether the declared and recorded values of an instance differ.
func differs(i *plan.Instance) bool {
	return !model.SameValue(i.Declared, i.Recorded) || !model.SameValue(i.Whole.Declared, i.Whole.Recorded)
}
