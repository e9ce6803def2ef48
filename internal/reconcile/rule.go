package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Mode is what a rule allows.
type Mode string

// The modes: nothing; only suggestions; actions that a person approves; actions without a person.
const (
	Off     Mode = "off"
	Suggest Mode = "suggest"
	Approve Mode = "approve"
	Auto    Mode = "auto"
)

// Modes lists the modes, each of which allows more than the one before it.
func Modes() []Mode { return []Mode{Off, Suggest, Approve, Auto} }

// A Rule selects the findings that may be put back, and sets the limits. The zero limits allow
// nothing: see DefaultLimits.
type Rule struct {
	Name  string         `json:"name"`
	Mode  Mode           `json:"mode"`
	Match model.Selector `json:"match"`
	// Paths are patterns for fields, with or without the keys in brackets. If there are any, each
	// changed field must match one.
	Paths []string `json:"paths,omitempty"`
	// Changes is what an action changes; "" stands for Live.
	Changes Side `json:"changes,omitempty"`
	Limits  `json:"limits"`
}

// A Side is what an action changes.
type Side string

// The sides: the live resource is put back to what is declared; what is live is written into the declaration.
const (
	Live     Side = "live"
	Declared Side = "declaration"
)

// Sides lists the sides.
func Sides() []Side { return []Side{Live, Declared} }

// records reports whether the rule writes what is live into the declaration; a nil one does not.
func (r *Rule) records() bool { return r != nil && r.Changes == Declared }

// Limits are the numbers of a rule's guards.
type Limits struct {
	// MinAge is how old a drift must be: a running apply is no drift. One that is older than
	// MaxAge is not put back automatically: something may depend on it.
	MinAge time.Duration `json:"min_age"`
	MaxAge time.Duration `json:"max_age"`
	// Approvals is the number of persons who must approve.
	Approvals int `json:"approvals"`
	// Expiry is how long a proposal waits for approvals.
	Expiry time.Duration `json:"expiry"`
	// PerScan is the number of actions that one scan may start automatically, PerHour the number
	// for each source in an hour, and Share the part of a declaration's resources of a kind, from
	// 0 to 1; one is always allowed.
	PerScan int     `json:"per_scan"`
	PerHour int     `json:"per_hour"`
	Share   float64 `json:"share"`
	// Soak is how long the rule waits after its first action.
	Soak time.Duration `json:"soak"`
	// Create allows to create resources that are missing, and Delete to delete those that are unmanaged.
	Create bool `json:"create,omitempty"`
	Delete bool `json:"delete,omitempty"`
}

// DefaultLimits returns the limits of a rule that sets none.
func DefaultLimits() Limits {
	return Limits{MinAge: 5 * time.Minute, MaxAge: 24 * time.Hour, Approvals: 1, Expiry: time.Hour,
		PerScan: 1, PerHour: 10, Share: 0.05, Soak: 10 * time.Minute}
}

// Digest returns a digest of the rule's text.
func (r *Rule) Digest() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("reconcile: encode rule: %v", err)) // it consists of texts and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Find returns the first rule that matches a finding; nil if none does.
func Find(rules []Rule, f *model.Finding) *Rule {
	for i := range rules {
		if rules[i].fits(f) {
			return &rules[i]
		}
	}
	return nil
}

// Of returns the rules that may match findings of a source.
func Of(rules []Rule, source string) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool {
		return len(r.Match.Sources) > 0 && !model.GlobAny(r.Match.Sources, source)
	})
}

// Acts reports whether the rule allows actions; a nil one does not.
func (r *Rule) Acts() bool { return r != nil && (r.Mode == Approve || r.Mode == Auto) }

// Ends reports whether no later rule applies to findings of a kind at a place: the rule matches all of them.
func (r *Rule) Ends(kind, place string) bool {
	m := r.Match
	some := len(m.Resources) + len(m.Declarations) + len(m.Owners) + len(m.Verdicts) + len(m.Severities) + len(m.Labels) + len(r.Paths)
	return some == 0 && m.MayFit(kind, place)
}

func (r *Rule) fits(f *model.Finding) bool {
	if !r.Match.Fits(f) {
		return false
	}
	for i := range f.Changes {
		if !r.covers(&f.Changes[i]) {
			return false
		}
	}
	return true
}

// covers reports whether one of the rule's patterns matches a change. The keys of an element that
// only the live side has are not compared: the author of the element chose them.
func (r *Rule) covers(c *model.Change) bool {
	return len(r.Paths) == 0 || model.GlobAny(r.Paths, model.WithoutKeys(c.Path)) ||
		c.Declared != nil && model.GlobAny(r.Paths, c.Path)
}

// names reports whether the rule names a kind itself, and not only by a pattern.
func (r *Rule) names(kind string) bool {
	return r != nil && (slices.Contains(r.Match.Kinds, kind) || slices.Contains(r.Match.Kinds, path.Base(kind)))
}
