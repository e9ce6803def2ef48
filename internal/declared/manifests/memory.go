package manifests

import (
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// A memory holds what was found of old commits, so that a later call of History
// pays only for what is new. It is used by one call at a time.
type memory struct {
	// turn is held by the call that uses the memory.
	turn chan struct{}
	// subjects are the resources that were asked for so far; index finds them.
	subjects []*subject
	index    map[subjectKey]int
	// blobs and trees hold what was found in files and in trees, by their ID, and
	// renderings what was found in kustomizations, by folder, the last used last.
	blobs, trees map[string]*outcome
	renderings   map[string][]*rendering
	// size is roughly how much is held, in bytes.
	size int64
}

// Bounds of a memory. When one is reached, all is forgotten.
const (
	maxMemory   = 64 << 20
	maxSubjects = 5000
)

func newMemory() *memory {
	m := &memory{turn: make(chan struct{}, 1)}
	m.forget()
	return m
}

func (m *memory) forget() {
	m.subjects, m.index = nil, map[subjectKey]int{}
	m.blobs, m.trees = map[string]*outcome{}, map[string]*outcome{}
	m.renderings = map[string][]*rendering{}
	m.size = 0
}

func (m *memory) limitSize() {
	if m.size > maxMemory || len(m.subjects) > maxSubjects {
		m.forget()
	}
}

// What identifies a resource of the declaration.
type subjectKey struct{ kind, id string }

// A subject is a resource whose past is asked for.
type subject struct {
	subjectKey

	name    string
	options kube.ClaimOptions
	// values are the different ones that were ever found.
	values []model.Value
}

// The states of a subject that are no place in its values.
const (
	absent    = -1
	encrypted = -2
)

// subject returns the place of a claim's resource.
func (m *memory) subject(c *model.Claim, options kube.ClaimOptions) int {
	key := subjectKey{c.Kind, c.ID}
	if n, known := m.index[key]; known {
		return n
	}
	m.index[key] = len(m.subjects)
	m.subjects = append(m.subjects, &subject{subjectKey: key, name: c.Name, options: options})
	return len(m.subjects) - 1
}

// claimOptions returns how Load turned a manifest into a claim. Whether the kind
// lies in namespaces is seen from the claim: the definition that Load found need
// not be there at an old commit.
func (l *loader) claimOptions(c *model.Claim) kube.ClaimOptions {
	o := kube.ClaimOptions{Declaration: l.env.Name, DefaultNamespace: l.config.DefaultNamespace, Sealer: l.env.Sealer}
	if c.AltID == "" {
		o.Kinds = map[string]*model.Kind{c.Kind: {Name: c.Kind, Namespaced: c.ID != c.Name}}
	}
	return o
}

// state returns the state of a subject that an object declares; ok is false for
// another object.
func (m *memory) state(n int, object model.Value) (state int, ok bool) {
	s := m.subjects[n]
	if kube.KindName(object.At("apiVersion").Str(), object.At("kind").Str()) != s.kind || object.At("metadata", "name").Str() != s.name {
		return 0, false
	}
	claim, err := kube.NewClaim(object, s.options)
	if err != nil || claim.Kind != s.kind || claim.ID != s.id {
		return 0, false
	}
	if claim.Unchecked != "" {
		return encrypted, true
	}
	for i, value := range s.values {
		if value.Equal(claim.Value) {
			return i, true
		}
	}
	s.values = append(s.values, claim.Value)
	m.size += int64(len(claim.Value.AppendJSON(nil))) * 4
	return len(s.values) - 1, true
}

// An outcome is what was found of the subjects in a file, a tree or a
// kustomization.
type outcome struct {
	// upTo is how many of the subjects were looked for.
	upTo int
	// states are those of subjects that were found; unread is why a subject may be
	// there although it was not found.
	states map[int][]int
	unread map[int]string
	// all is why any subject may be there.
	all string
}

// of returns the states of a subject: absent where it is certain that it is not
// there. Where that is not known, there is a reason.
func (o *outcome) of(n int) (states []int, reason string) {
	if states := o.states[n]; len(states) > 0 {
		return states, ""
	}
	if reason := o.unread[n]; reason != "" {
		return nil, reason
	}
	if o.all != "" {
		return nil, o.all
	}
	return []int{absent}, ""
}

func (o *outcome) add(n, state int) {
	for _, s := range o.states[n] {
		if s == state {
			return
		}
	}
	if o.states == nil {
		o.states = map[int][]int{}
	}
	o.states[n] = append(o.states[n], state)
}

func (o *outcome) miss(n int, reason string) {
	if o.unread == nil {
		o.unread = map[int]string{}
	}
	if o.unread[n] == "" {
		o.unread[n] = reason
	}
}

// merge adds what was found in a part.
func (o *outcome) merge(part *outcome) {
	for n, states := range part.states {
		for _, s := range states {
			o.add(n, s)
		}
	}
	for n, reason := range part.unread {
		o.miss(n, reason)
	}
	if o.all == "" {
		o.all = part.all
	}
}

// maxReason bounds a reason, in bytes.
const maxReason = 300

func short(reason string) string {
	if len(reason) > maxReason {
		return reason[:maxReason] + "…"
	}
	return reason
}
