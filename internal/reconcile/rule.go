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

// A Mode determines the actions that a rule allows.
type Mode string

// The modes of a rule: Off allows nothing, Suggest allows only suggestions, Approve allows actions that a
// person approves, and Auto allows actions without approval.
const (
	Off     Mode = "off"
	Suggest Mode = "suggest"
	Approve Mode = "approve"
	Auto    Mode = "auto"
)

// Modes returns all modes. Each allows more than the one before it.
func Modes() []Mode { return []Mode{Off, Suggest, Approve, Auto} }

// A Rule selects the findings that may be put back and sets their limits. The zero limits allow nothing;
// see DefaultLimits.
type Rule struct {
	Name  string         `json:"name"`
	Mode  Mode           `json:"mode"`
	Match model.Selector `json:"match"`
	// Paths are patterns of fields, with or without the keys in brackets. If there are any, each changed
	// field must match one of them.
	Paths []string `json:"paths,omitempty"`
	// Changes is the side that an action changes. "" means Live.
	Changes Side `json:"changes,omitempty"`
	Limits  `json:"limits"`
}

// A Side is the side that an action changes.
type Side string

// The sides: with Live, the live resource gets the declared values; with Declared, the declaration gets the
// live values.
const (
	Live     Side = "live"
	Declared Side = "declaration"
)

// Sides returns all sides.
func Sides() []Side { return []Side{Live, Declared} }

// records reports whether the rule writes what is live into the declaration; a nil one does not.
func (r *Rule) records() bool { return r != nil && r.Changes == Declared }

// Limits are the limits that the guards enforce for a rule.
type Limits struct {
	// MinAge is the minimum age of a drift, so that a running apply does not count. A drift older than
	// MaxAge is not put back automatically, because other systems may depend on it.
	MinAge time.Duration `json:"min_age"`
	MaxAge time.Duration `json:"max_age"`
	// Approvals is the number of persons who must approve.
	Approvals int `json:"approvals"`
	// Expiry is the time after which a proposal expires unless it is approved.
	Expiry time.Duration `json:"expiry"`
	// PerScan is the maximum number of actions that one scan may start automatically. PerHour is the
	// maximum per source and hour. Share is the maximum part of the resources of a kind in a declaration,
	// from 0 to 1; one resource is always allowed.
	PerScan int     `json:"per_scan"`
	PerHour int     `json:"per_hour"`
	Share   float64 `json:"share"`
	// Soak is the time that the rule pauses after its first action.
	Soak time.Duration `json:"soak"`
	// Create allows the rule to create missing resources, and Delete to delete unmanaged ones.
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

// Find returns the first rule that matches a finding, or nil if none does.
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

// Acts reports whether the rule allows actions. It returns false for a nil rule.
func (r *Rule) Acts() bool { return r != nil && (r.Mode == Approve || r.Mode == Auto) }

// Ends reports whether the rule matches all findings of a kind at a place, so that no later rule applies to
// them.
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
