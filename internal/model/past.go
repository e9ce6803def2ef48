package model

import (
	"strings"
	"time"
)

// A Commit is one commit in the repository of a declaration.
type Commit struct {
	// Hash is the full hash; "" for a value that is known only from earlier scans.
	Hash string `json:"hash,omitempty"`
	// When is the committer time, which the committer can choose, or an earlier committer time of a
	// commit that contains this one.
	When time.Time `json:"when,omitzero"`
	// Seen is the time at which driftd first read the value on the ref; zero if unknown.
	Seen time.Time `json:"seen,omitzero"`
	// Author is the name of the author or, if that is empty, the e-mail address. Message is the
	// first line of the message. Both are printable and bounded. They are "" if unknown, and for a
	// merge commit, whose author did not write the merged changes.
	Author  string `json:"author,omitempty"`
	Message string `json:"message,omitempty"`
	// Oldest reports whether the first parent of the commit was not read, so that its values may
	// have been declared before.
	Oldest bool `json:"-"`
}

// A Version is the declared value of one resource from one commit until another commit replaced it.
type Version struct {
	// Value has the form of Claim.Value; nil if the resource was not declared.
	Value *Value `json:"value,omitempty"`
	// Unknown lists the paths, in the form of Change.Path, below which Value is unknown, such as an
	// expression that only Terraform can evaluate. The path "" means all of Value.
	Unknown []string `json:"unknown,omitempty"`
	// From is the first commit with the value. Until is the commit that replaced the value; zero if
	// the value is still declared at the head.
	From  Commit `json:"from"`
	Until Commit `json:"until,omitzero"`
	// Branch is the branch or pull request ("feature/x", "pull request 12") of a commit that is not
	// on the declared ref; "" for the declared ref.
	Branch string `json:"branch,omitempty"`
}

// A Past is the list of earlier declared values of one resource.
type Past struct {
	// Versions are sorted from the newest to the oldest.
	Versions []Version
	// Gap is the reason why Versions may be incomplete: the history is truncated, or an old commit
	// cannot be read. It is "" if every commit of the ref and of all other branches was read.
	Gap string
}

// A History contains the earlier declared values of several resources.
type History struct {
	// Head is the commit to which the declared ref currently refers.
	Head string
	// Pasts contains one element for each claim in the call, in the same order.
	Pasts []Past
}

// An Observation is a value that a scan read. It applies until the next newer observation.
type Observation struct {
	// At is the time at which a scan first read the value.
	At time.Time
	// Value is nil if the resource was absent, or not declared.
	Value *Value
}

// A Ruling is the decision between Pending and Bypassed for a field whose live and recorded values
// are equal and differ from the declared value.
type Ruling struct {
	Verdict  Verdict
	Unproven bool
	// Reason is "" in Evidence.
	Reason string
	// Live is the live value at the time of the decision; nil if the field was absent.
	Live *Value
}

// Evidence is what is known about a claim in addition to its declared, recorded and live values. It
// distinguishes a declaration that is ahead of its last apply (pending) from an apply that no
// commit declares (bypassed).
type Evidence struct {
	Past
	// Declared and Live list the values of the claim and of the resource that earlier scans read,
	// newest first.
	Declared, Live []Observation
	// LastRead is the time of the last earlier scan that read the resource; zero if unknown.
	LastRead time.Time
	// Now is the time of the comparison.
	Now time.Time
	// Rulings maps values of Change.Path to the rulings of the last scan. The path "" is the whole
	// resource.
	Rulings map[string]Ruling
	// DeployWindow is how long after a commit an apply of the version that it replaced still counts
	// as an ordinary deployment.
	DeployWindow time.Duration
	// Behind reports whether the declaration may have changed since it was read, because its ref
	// could not be read again.
	Behind bool
	// ApplyBeforeMerge reports whether an apply of an unmerged branch is an ordinary deployment of
	// this declaration.
	ApplyBeforeMerge bool
}

// declaredPrefix begins the names that DeclaredSource returns. The name of a configured
// source has no colon.
const declaredPrefix = "declared:"

// DeclaredSource returns the source name under which the store saves the declared values of a
// declaration.
func DeclaredSource(declaration string) string { return declaredPrefix + declaration }

// LiveReadSource returns the source name under which the store saves the values of Claim.LiveRead
// of a declaration.
func LiveReadSource(declaration string) string { return DeclaredSource(declaration) + ":live" }

// IsDeclared reports whether source is a result of DeclaredSource or LiveReadSource.
func IsDeclared(source string) bool { return strings.HasPrefix(source, declaredPrefix) }
