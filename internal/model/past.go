package model

import (
	"strings"
	"time"
)

// A Commit is one commit of a declaration's repository.
type Commit struct {
	// Hash is the full hash; "" for a value that driftd itself remembers.
	Hash string `json:"hash,omitempty"`
	// When is the committer's time. It is a client's claim.
	When time.Time `json:"when,omitzero"`
	// Seen is when driftd first read the value on the ref; zero where that is
	// not known.
	Seen time.Time `json:"seen,omitzero"`
}

// A Version is what a declaration declared of one resource, from one commit on
// until another one replaced it.
type Version struct {
	// Value is in the form of Claim.Value; nil where the resource was not
	// declared.
	Value *Value `json:"value,omitempty"`
	// Unknown are paths in the form of Change.Path below which Value is not
	// known: an expression that only Terraform can evaluate. "" stands for all.
	Unknown []string `json:"unknown,omitempty"`
	// From is the first commit with the value. Until is the commit that replaced
	// it; its zero value means that the value is declared at the head.
	From  Commit `json:"from"`
	Until Commit `json:"until,omitzero"`
	// Branch is the branch or pull request that alone holds the commit
	// ("feature/x", "pull request 12"); "" for the declared ref.
	Branch string `json:"branch,omitempty"`
}

// A Past is what a declaration declared of one resource before.
type Past struct {
	// Versions are sorted from the newest to the oldest.
	Versions []Version
	// Gap is why Versions may lack one: history is cut, or an old commit cannot
	// be read. It is "" where every commit of the ref, and of every other branch,
	// was read.
	Gap string
}

// A History is what a declaration declared of several resources before.
type History struct {
	// Head is the commit that the declared ref names now.
	Head string
	// Pasts are parallel to the claims that were asked for.
	Pasts []Past
}

// An Observation is a value that a scan read, in force until the next newer
// observation.
type Observation struct {
	// At is when a scan first read it.
	At time.Time
	// Value is nil where the resource was absent, or not declared.
	Value *Value
}

// A Ruling is what the last scan decided on a field that is live and recorded,
// and declared otherwise.
type Ruling struct {
	Verdict  Verdict
	Unproven bool
	// Reason is "" in Evidence.
	Reason string
	// Live is the value that it decided on; nil where the field was absent.
	Live *Value
}

// Evidence is what is known about a claim besides its three sides. It tells a
// declaration that is ahead of its last apply (pending) from an apply that no
// commit holds (bypassed).
type Evidence struct {
	Past
	// Declared and Live are what earlier scans read of the claim and of the
	// resource, newest first.
	Declared, Live []Observation
	// Rulings of the last scan, by Change.Path.
	Rulings map[string]Ruling
	// DeployWindow is how long after a commit the apply of an older version still
	// counts as an ordinary deploy.
	DeployWindow time.Duration
	// ApplyBeforeMerge reports whether applying a branch that is not merged yet
	// is this declaration's ordinary way.
	ApplyBeforeMerge bool
}

// declaredPrefix begins the source under which the store keeps what a
// declaration declared. The name of a configured source has no colon.
const declaredPrefix = "declared:"

// DeclaredSource returns the source under which the store keeps what a
// declaration declared.
func DeclaredSource(declaration string) string { return declaredPrefix + declaration }

// IsDeclared reports whether a source is one of DeclaredSource's.
func IsDeclared(source string) bool { return strings.HasPrefix(source, declaredPrefix) }
