package manifests

import (
	"cmp"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// A historyCache caches the results of old commits, so that a later call of History reads only
// new commits. One call at a time uses it.
type historyCache struct {
	// lock is held by the call that uses the cache.
	lock chan struct{}
	// subjects are the resources for which History was called. index contains their positions.
	subjects []*subject
	index    map[subjectKey]int
	// blobs and trees contain the outcomes of files and trees by their git hashes. renderings
	// contains those of kustomizations by folder, the last used one last.
	blobs, trees map[string]*outcome
	renderings   map[string][]*rendering
	// size is the approximate size of the cached data, in bytes.
	size int64
}

// Bounds of a historyCache. When one is exceeded, the cache is emptied.
const (
	maxMemory   = 64 << 20
	maxSubjects = 5000
)

func newHistoryCache() *historyCache {
	m := &historyCache{lock: make(chan struct{}, 1)}
	m.reset()
	return m
}

func (m *historyCache) reset() {
	m.subjects, m.index = nil, map[subjectKey]int{}
	m.blobs, m.trees = map[string]*outcome{}, map[string]*outcome{}
	m.renderings = map[string][]*rendering{}
	m.size = 0
}

func (m *historyCache) limitSize() {
	if m.size > maxMemory || len(m.subjects) > maxSubjects {
		m.reset()
	}
}

// A subjectKey identifies a resource of the declaration.
type subjectKey struct{ kind, id string }

// A subject is a resource whose past is requested.
type subject struct {
	subjectKey

	name    string
	options kube.ClaimOptions
	// values are the distinct values that were found at any commit.
	values []model.Value
}

// The states of a subject that are not positions in its values.
const (
	absent    = -1
	encrypted = -2
)

// subject returns the position of a claim's resource in the subjects, and adds it
// if it is new.
func (m *historyCache) subject(c *model.Claim, options kube.ClaimOptions) int {
	key := subjectKey{c.Kind, c.ID}
	if n, known := m.index[key]; known {
		return n
	}
	m.index[key] = len(m.subjects)
	m.subjects = append(m.subjects, &subject{subjectKey: key, name: c.Name, options: options})
	return len(m.subjects) - 1
}

// claimOptions returns the options with which Load turned a manifest into the claim.
// Whether the kind is namespaced is taken from the claim, because an old commit may
// lack the definition of the kind.
func (l *loader) claimOptions(c *model.Claim) kube.ClaimOptions {
	o := kube.ClaimOptions{
		Declaration: l.env.Name, DefaultNamespace: l.config.DefaultNamespace, RequiredNamespace: l.config.RequiredNamespace, Sealer: l.env.Sealer,
	}
	if c.AltID == "" {
		o.Kinds = map[string]*model.Kind{c.Kind: {Name: c.Kind, Namespaced: c.ID != c.Name}}
	}
	return o
}

// state returns the state that an object declares for a subject; ok is false if the
// object is a different one.
func (m *historyCache) state(n int, o object) (state int, ok bool) {
	s, object, options := m.subjects[n], o.value, m.subjects[n].options
	options.DefaultNamespace = cmp.Or(o.namespace, options.DefaultNamespace)
	if kube.KindName(object.At("apiVersion").Str(), object.At("kind").Str()) != s.kind || object.At("metadata", "name").Str() != s.name {
		return 0, false
	}
	claim, err := kube.NewClaim(object, options)
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

// An outcome is the states of the subjects that were found in a file, a tree or a
// kustomization.
type outcome struct {
	// upTo is the number of subjects that were searched for.
	upTo int
	// states contains the states of the subjects that were found. unread contains why a
	// subject that was not found may be present.
	states map[int][]int
	unread map[int]string
	// all is why any subject may be present, or "".
	all string
}

// of returns the states of a subject: absent if it is certain that the subject does not exist.
// If the states are unknown, it returns the reason.
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

func (o *outcome) addUnread(n int, reason string) {
	if o.unread == nil {
		o.unread = map[int]string{}
	}
	if o.unread[n] == "" {
		o.unread[n] = reason
	}
}

// merge adds the outcome of a part.
func (o *outcome) merge(part *outcome) {
	for n, states := range part.states {
		for _, s := range states {
			o.add(n, s)
		}
	}
	for n, reason := range part.unread {
		o.addUnread(n, reason)
	}
	if o.all == "" {
		o.all = part.all
	}
}

// maxReason bounds a reason, in bytes.
const maxReason = 300

func truncate(reason string) string {
	if len(reason) > maxReason {
		return reason[:maxReason] + "…"
	}
	return reason
}
