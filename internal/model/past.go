package model

import (
	"strings"
	"time"
)

// A Commit is one commit of a declaration's repository.
type Commit struct {
	// Hash is the full hash; "" for a value that only earlier scans read.
	Hash string `json:"hash,omitempty"`
	// When is the committer's time, which the committer chooses, or an older one of a
	// commit that contains it.
	When time.Time `json:"when,omitzero"`
	// Seen is when driftd first read the value on the ref; zero if unknown.
	Seen time.Time `json:"seen,omitzero"`
	// Author is the author's name, or else e-mail, and Message the first line of the
	// message, both printable and bounded; "" if unknown, and for a merge commit, whose
	// author did not write what it merges.
	Author  string `json:"author,omitempty"`
	Message string `json:"message,omitempty"`
	// Oldest reports whether its first parent was not read: what it declares may have
	// been declared before.
	Oldest bool `json:"-"`
}

// A Version is what a declaration declared for one resource from one commit until another
// commit replaced it.
type Version struct {
	// Value is in the form of Claim.Value; nil if the resource was not declared.
	Value *Value `json:"value,omitempty"`
	// Unknown are paths in the form of Change.Path below which Value is unknown, such as
	// an expression that only Terraform can evaluate. "" stands for the whole Value.
	Unknown []string `json:"unknown,omitempty"`
	// From is the first commit with the value. Until is the commit that replaced
	// it; its zero value means that the value is declared at the head.
	From  Commit `json:"from"`
	Until Commit `json:"until,omitzero"`
	// Branch is the branch or pull request of a commit that is not on the declared ref
	// ("feature/x", "pull request 12"); "" for the declared ref.
	Branch string `json:"branch,omitempty"`
}

// A Past is what a declaration declared for one resource before.
type Past struct {
	// Versions are sorted from the newest to the oldest.
	Versions []Version
	// Gap is why Versions may be incomplete: the history is truncated, or an old commit
	// cannot be read. It is "" if every commit of the ref, and of every other branch,
	// was read.
	Gap string
}

// A History is what a declaration declared for several resources before.
type History struct {
	// Head is the commit that the declared ref names now.
	Head string
	// Pasts are parallel to the claims in the call.
	Pasts []Past
}

// An Observation is a value that a scan read. It holds until the next newer observation.
type Observation struct {
	// At is when a scan first read it.
	At time.Time
	// Value is nil if the resource was absent, or not declared.
	Value *Value
}

// A Ruling is the decision between pending and bypassed for a field whose live and
// recorded values agree and differ from the declared one.
type Ruling struct {
	Verdict  Verdict
	Unproven bool
	// Reason is "" in Evidence.
	Reason string
	// Live is the live value at the decision; nil if the field was absent.
	Live *Value
}

// Evidence is what is known about a claim in addition to its three sides. It
// distinguishes a declaration that is ahead of its last apply (pending) from an apply
// that no commit declares (bypassed).
type Evidence struct {
	Past
	// Declared and Live are what earlier scans read of the claim and of the
	// resource, newest first.
	Declared, Live []Observation
	// LastRead is when the last scan before this one read the resource; zero if unknown.
	LastRead time.Time
	// Now is when the scan compares.
	Now time.Time
	// Rulings are those of the last scan, by Change.Path; "" is the whole resource.
	Rulings map[string]Ruling
	// DeployWindow is how long after a commit the apply of the version that it replaced
	// is still an ordinary deploy.
	DeployWindow time.Duration
	// Behind reports that the declaration may have changed since it was read: its ref
	// could not be read again.
	Behind bool
	// ApplyBeforeMerge reports whether applying an unmerged branch is an ordinary deploy
	// of this declaration.
	ApplyBeforeMerge bool
}

// declaredPrefix begins the names that DeclaredSource returns. The name of a configured
// source has no colon.
const declaredPrefix = "declared:"

// DeclaredSource returns the source under which the store keeps the declared values of a
// declaration.
func DeclaredSource(declaration string) string { return declaredPrefix + declaration }

// LiveReadSource returns the source under which the store keeps the values of Claim.LiveRead of a
// declaration.
func LiveReadSource(declaration string) string { return DeclaredSource(declaration) + ":live" }

// IsDeclared reports whether DeclaredSource or LiveReadSource returned the source.
func IsDeclared(source string) bool { return strings.HasPrefix(source, declaredPrefix) }
