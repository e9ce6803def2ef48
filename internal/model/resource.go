package model

import (
	"cmp"
	"strings"
	"time"
)

// A Key names one resource: Source is the configured name of the live system,
// Kind is "<type>/<the system's own name>", ID is unique within both.
type Key struct {
	Source string `json:"source"`
	Kind   string `json:"kind"`
	ID     string `json:"resource"`
}

// String returns "source/type/kind/id".
func (k Key) String() string { return k.Source + "/" + k.Kind + "/" + k.ID }

// Compare orders keys by source, kind and id.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.Source, l.Source), cmp.Compare(k.Kind, l.Kind), cmp.Compare(k.ID, l.ID))
}

// A Resource is one live object.
type Resource struct {
	Key
	// Place is where within the source the object lies and what coverage and
	// governance count by: a Kubernetes namespace, or "".
	Place string
	// Name is what people call it.
	Name string
	// Value is what was read, without what changes by itself (status,
	// counters); sensitive values are digests.
	Value Value
	// LastApplied is what the object itself says was last applied to it, as a
	// whole; nil where it says nothing.
	LastApplied *Value
	// Owners is who set which field, where the system keeps such a record.
	Owners []Owner
	// OwnersFrom is what the system calls that record ("managedFields").
	OwnersFrom string
	// Created is when the object came to be; zero where unknown.
	Created time.Time
	// Generation counts the changes of the object's specification, 1 after it
	// was created; 0 where the system does not count.
	Generation int64
	// Automatic says why nobody is expected to declare the object ("owned by
	// ReplicaSet web-5d8"); "" when somebody is.
	Automatic string
	// Delegated lists fields that another object decides, by path, with the
	// name of that object ("HorizontalPodAutoscaler web").
	Delegated []Delegation
}

// LastWriter names who wrote the resource last, after its Owners.
func (r *Resource) LastWriter() Actor {
	var last *Owner
	for i := range r.Owners {
		o := &r.Owners[i]
		if o.Subresource == "status" {
			continue
		}
		// Times have seconds: of two the hand came after the apply.
		if last == nil || o.At.After(last.At) || o.At.Equal(last.At) && o.Edits {
			last = o
		}
	}
	if last == nil {
		return UnknownActor("the source keeps no record of writers")
	}
	return Actor{Name: last.Name, At: last.At, Via: r.OwnersFrom, Confidence: Likely}
}

// A Delegation is a field whose value another object decides.
type Delegation struct{ Path, To string }

// An Owner is one entry of a live system's own record of who set what.
type Owner struct {
	// Name is the writer as the system names it (a Kubernetes field manager).
	Name string
	// Applies tells a writer that applies declarations, and owns what it
	// declared, from one that edits.
	Applies bool
	// Delivers tells a tool that is known to apply declarations.
	Delivers bool
	// Edits tells a tool for editing by hand, which never applies declarations.
	Edits bool
	// Records tells that the writer left Resource.LastApplied.
	Records bool
	// Subresource is the door that it wrote through ("scale"), or "".
	Subresource string
	// At is the time of its last write; zero where the system does not say.
	At time.Time
	// Fields is what it set and nobody has set since.
	Fields FieldSet
}

// A Kind says how the resources of one kind are read and compared.
type Kind struct {
	// Name is the kind as in Key.Kind.
	Name string
	// Namespaced tells that its objects lie in places.
	Namespaced bool
	// Version is the version of the system's interface that it was read in.
	Version string
	// Alike are other versions in which it has the same fields.
	Alike []string
	// Schema says how values are compared; nil means as they stand.
	Schema *Schema
	// Severities rate drift of this kind; the first that fits counts.
	Severities []SeverityRule
}

// A SeverityRule rates the drift that it fits.
type SeverityRule struct {
	// Verdicts that it fits; empty fits all.
	Verdicts []Verdict
	// Path is a prefix of the changed field's path with list keys left out
	// (spec.template.spec.containers.image); "" fits every field.
	Path     string
	Severity Severity
	// Reason is printed with the finding.
	Reason string
}

// A Snapshot is one look at one source. Nobody changes it after it was made.
type Snapshot struct {
	Source string
	// Taken is when the look began.
	Taken time.Time
	// Resources are sorted by key.
	Resources []Resource
	// Coverage says what was fully read. Absence counts only inside it.
	Coverage []Coverage
	// Kinds by name.
	Kinds map[string]*Kind
	// Version is the source's own version, for the run record.
	Version string
}

// Coverage says of one scope whether it was fully read.
type Coverage struct {
	Source string `json:"source"`
	// Kind is a kind's name, "type/*.group" for every kind of a group that has
	// no entry of its own, or "" for every kind that has no other entry.
	Kind string `json:"kind"`
	// Place is one place of the source, "" all of it.
	Place    string `json:"scope"`
	Complete bool   `json:"complete"`
	// Skipped tells that it was left out on purpose: absence proves nothing
	// there, but nothing failed either.
	Skipped bool `json:"skipped,omitempty"`
	// Reason says why it is not complete and what to do.
	Reason string `json:"reason"`
}

// Failed tells whether the scope should have been read and was not.
func (c Coverage) Failed() bool { return !c.Complete && !c.Skipped }

// Covers tells whether the snapshot fully read the scope in which a resource
// of this kind and place would lie, and if not, why.
func (s *Snapshot) Covers(kind, place string) (bool, string) {
	wildcard := ""
	if typ, name, ok := strings.Cut(kind, "/"); ok {
		_, group, _ := strings.Cut(name, ".")
		wildcard = typ + "/*." + group
	}
	for _, want := range []Coverage{{Kind: kind, Place: place}, {Kind: kind}, {Kind: wildcard}, {}} {
		for i := range s.Coverage {
			if c := &s.Coverage[i]; c.Kind == want.Kind && c.Place == want.Place {
				return c.Complete, c.Reason
			}
		}
	}
	return false, "not read"
}

// A Claim is what one declaration says of one resource.
type Claim struct {
	Declaration string
	// Address is where it is written: "deploy/web.yaml:12", a Terraform address.
	Address string
	Kind    string
	ID      string
	// AltID is the id that counts when the live system says that the kind has
	// no places; "" when the declaration knows.
	AltID string
	Place string
	Name  string
	// Version is the version of the interface that it is written in.
	Version string
	// Value is the resource as declared; only what it says is compared.
	Value Value
	// Written is Value before a source was asked what it makes of it; nil when
	// none was.
	Written *Value
	// Recorded is the resource as the declaration's own record says that it
	// was last applied; nil without such a record.
	Recorded *Value
	// Delegated lists fields that another declared object decides.
	Delegated []Delegation
	// Since is when the declaration last changed; zero where unknown.
	Since time.Time
	// Unchecked says why the claim cannot be compared; "" when it can.
	Unchecked string
}

// A Declaration is one look at one place where intent is written.
type Declaration struct {
	Name string
	// Governs are the names of the sources that it speaks of.
	Governs []string
	// Revision is the commit that was read, or "", and Revised its time.
	Revision string
	Revised  time.Time
	// Claims are sorted by kind, id and address.
	Claims []Claim
	// Scopes are where everything live is expected to be declared.
	Scopes []Scope
	// Problems are parts that could not be read; what they declare is not
	// known, so nothing in Scopes is called unmanaged while there are any.
	Problems []Problem
	// Kinds that the declaration itself defines (custom resources).
	Kinds map[string]*Kind
}

// A Scope is a kind in a place; an empty half stands for all.
type Scope struct{ Kind, Place string }

// Holds tells whether a resource of this kind and place lies in the scope.
func (s Scope) Holds(kind, place string) bool {
	return (s.Kind == "" || s.Kind == kind) && (s.Place == "" || s.Place == place)
}

// A Problem is a part of a declaration that could not be read.
type Problem struct {
	Address string `json:"address"`
	Reason  string `json:"reason"`
}

// A Subject is one real thing: the live resource and every claim on it.
type Subject struct {
	Key
	Place string
	Name  string
	// Live is nil when the resource was not seen.
	Live *Resource
	// Kind is nil when the source does not know the kind.
	Kind *Kind
	// Claims are sorted by declaration and address.
	Claims []*Claim
	// Unread says why absence proves nothing; "" when it does.
	Unread string
	// Governed tells that a declaration is expected to speak of it.
	Governed bool
}
