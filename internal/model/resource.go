package model

import (
	"cmp"
	"slices"
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
	// Identities are what else the resource is known by: a uuid, each of its MAC
	// addresses, its name.
	Identities []Identity
	// LastApplied is what the object itself says was last applied to it, as a
	// whole; nil where it says nothing.
	LastApplied *Value
	// Owners is who set which field, where the system keeps such a record.
	Owners []Owner
	// OwnersFrom is what the system calls that record ("managedFields").
	OwnersFrom string
	// Unsigned says why the system may be unable to tell who wrote the
	// resource; "" where that needs no words of its own.
	Unsigned string
	// Created is when the object came to be, Updated when anything of it was last
	// written; zero where unknown.
	Created, Updated time.Time
	// Generation counts the changes of the object's specification, 1 after it
	// was created; 0 where the system does not count.
	Generation int64
	// Automatic says why nobody is expected to declare the object ("owned by
	// ReplicaSet web-5d8"); "" when somebody is.
	Automatic string
	// Delegated lists fields that another object decides, by path, with the
	// name of that object ("HorizontalPodAutoscaler web").
	Delegated []Delegation
	// Running lists the top-level fields of Value that the system accepted and
	// that wait for a restart, with what is in effect until then; null stands
	// for a field that is not set until then. Sorted by name.
	Running []Field
	// Parent is the resource that this one belongs to, and that speaks for it
	// while nobody manages the parent; zero where there is none.
	Parent Ref
}

// A Ref names a resource within a source.
type Ref struct{ Kind, ID string }

// An Identity is something that a resource is known by beside its id. By is
// what it is ("uuid", "mac", "slug"); resources of one kind with an equal one are
// taken for the same thing.
type Identity struct{ By, Value string }

// A Trace is one entry of a log of who did what.
type Trace struct {
	// Ref is zero where the entry may tell of any resource: somebody renamed a
	// tag that many bear; without an ID it may be any of that kind.
	Ref
	// Deed is what was done.
	Deed Deed
	// Fields are the paths in Resource.Value that the entry names; empty when it
	// names none, and then it may have been any.
	Fields []string
	// Of are the texts that came or went there, or one and what it became; empty
	// when it may have been any.
	Of []string
	// Writer is what Resource.Owners calls the tool that did it; "" where the log
	// does not tell.
	Writer string
	// Actor says who, when, and by which evidence.
	Actor Actor
}

// A Deed is what a Trace tells of.
type Deed uint8

// The deeds.
const (
	Edited Deed = iota
	Created
	Deleted
)

// Unread is a resource that is known to exist and could not be read.
type Unread struct {
	Ref
	// Identities are what is known of it all the same; a claim that goes by
	// another one may yet mean it.
	Identities []Identity
	// Reason says why, and what to do.
	Reason string
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
		return UnknownActor("the object does not say who wrote it; a finding names whom the logs name")
	}
	if who, ok := last.Signed(); ok {
		return who
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
	// User is who used the writer for its last write, where another log of the
	// system tells (an audit log); "" where none does.
	User string
	// Evidence is the entry of that log that names User.
	Evidence string
	// Before are others who used the writer earlier, sorted: any of Fields may be
	// theirs.
	Before []string
}

// AuditLog is what an Actor comes through that an Owner's User names.
const AuditLog = "audit log"

// Signed names the owner's user; ok tells whether it is known. The record of
// owners names the fields, and the log the user; where several used the same
// writer, neither tells whose field is whose.
func (o *Owner) Signed() (who Actor, ok bool) {
	who = Actor{Name: o.User, At: o.At, Via: AuditLog, Evidence: o.Evidence, Confidence: Exact}
	if len(o.Before) > 0 {
		who.Confidence = Likely
		who.Evidence += ", used before by " + strings.Join(o.Before, " and ")
	}
	return who, o.User != ""
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
	// Unsigned says why the system may be unable to tell who removed one, or, where
	// a record of owners cannot, a field of one; "" where that needs no words of
	// its own.
	Unsigned string
	// Labels is the path of the values that people sort resources by: a map of
	// texts, a list, or one text of tags with ";" between them; "" when there
	// are none.
	Labels string
	// Severities rate drift of this kind: of each change the first that fits
	// counts, of all changes the worst.
	Severities []SeverityRule
}

// A SeverityRule rates the drift that it fits.
type SeverityRule struct {
	// Verdicts that it fits; empty fits all.
	Verdicts []Verdict
	// Path is a prefix of the changed field's path with list keys left out
	// (spec.template.spec.containers.image); "" fits every field.
	Path string
	// Where are what the live resource must hold, all of them; empty fits any.
	Where    []Condition
	Severity Severity
	// Reason is printed with the finding.
	Reason string
}

// A Condition is what a field of a live resource must hold.
type Condition struct {
	// Path leads to the field, with dots between names. Of a list one element
	// that fits is enough.
	Path string
	// In are the texts of the scalars that fit; "" stands for a field that is not
	// there, or says nothing.
	In []string
}

// Holds tells whether the value holds what the condition asks for.
func (c Condition) Holds(v Value) bool { return c.holds(v, c.Path) }

func (c Condition) holds(v Value, path string) bool {
	if v.Kind() == List && !v.IsEmpty() {
		return slices.ContainsFunc(v.Items(), func(item Value) bool { return c.holds(item, path) })
	}
	if path != "" {
		name, rest, _ := strings.Cut(path, ".")
		return c.holds(v.At(name), rest)
	}
	return slices.Contains(c.In, v.Text())
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
	// Home is the place that is meant where a claim names none: the project of
	// the account that reads a cloud. "" where there is none.
	Home string
	// Unread are resources that exist and could not be read, sorted by kind and
	// id: they are neither compared nor missing.
	Unread []Unread
	// Traces are what the source's own logs tell of who did what, sorted by
	// kind, id and time.
	Traces []Trace
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
// of this kind and place would lie, and if not, why. Without a place it is
// Home.
func (s *Snapshot) Covers(kind, place string) (bool, string) {
	wildcard := ""
	if typ, name, ok := strings.Cut(kind, "/"); ok {
		_, group, _ := strings.Cut(name, ".")
		wildcard = typ + "/*." + group
	}
	for _, want := range []Coverage{{Kind: kind, Place: cmp.Or(place, s.Home)}, {Kind: kind}, {Kind: wildcard}, {}} {
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
	// Source is the source that it speaks of; "" means every governed one.
	Source string
	// Address is where it is written: "deploy/web.yaml:12", a Terraform address.
	Address string
	Kind    string
	ID      string
	// Identities are what else tells which resource is meant, the surest first;
	// they count where nothing has the ID. Those of one kind that follow each
	// other count together.
	Identities []Identity
	// ByIdentity tells that ID is only what the claim is called while its
	// identities lead to nothing, and AltKinds which kinds beside Kind it may be
	// of.
	ByIdentity bool
	AltKinds   []string
	// Cohort says what it means where none of the claims with the same one leads
	// to anything: they speak of another source, it seems, and are not compared.
	// "" where a claim counts for itself.
	Cohort string
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
	// Lens shows live resources in the claim's words; nil when it is written in
	// the live kind's own.
	Lens Lens
	// RecordOnly tells that Value is what was last applied, and that what is
	// declared is not known (a Terraform state without its configuration).
	RecordOnly bool
	// Complete tells that Value speaks of every field that Lens or the kind's
	// schema knows: one that it lacks is declared absent.
	Complete bool
	// Template is the resource that the claimed one was made from: where Value
	// holds a default, or nothing, what the template holds is as good.
	Template Ref
	// Covers are other resources that the claim speaks for without comparing
	// them: they are not unmanaged.
	Covers []Ref
	// Since is when the declaration last changed; zero where unknown.
	Since time.Time
	// Traces are what the declaration's own log tells of who wrote the claim, by
	// time; their fields are paths in Value. Who made the claim be made, also by
	// an edit, has Created.
	Traces []Trace
	// Unsigned says why that log may be unable to tell who wrote it; "" where the
	// declaration keeps none.
	Unsigned string
	// MayBeAbsent tells that nothing is wrong where the resource does not exist
	// (yet).
	MayBeAbsent bool
	// Doubt says why a claim that goes by its identities may have more of them
	// than were read: what those do not lead to may exist all the same.
	Doubt string
	// Former is the ID under which the claim knew the resource, where another
	// one stands in its place now.
	Former string
	// Pending says why the resource as a whole waits for an apply, to be made,
	// replaced, renamed or removed; "" when only its fields may.
	Pending string
	// Unchecked says why the claim cannot be compared; "" when it can.
	Unchecked string
}

// A Lens shows live resources in the words of a declaration, such as the
// attributes of a Terraform type. It is pure, and one Lens serves every claim
// that uses the same words.
type Lens interface {
	// Schema compares what View returns with what is declared.
	Schema() *Schema
	// View returns a value of the live kind in the declaration's words.
	View(live Value) Value
	// LivePath returns the path in live that stands behind one of View's
	// ("net1.bridge" behind "network_device[1].bridge"), or "".
	LivePath(live Value, path string) string
}

// A Declaration is one look at one place where intent is written.
type Declaration struct {
	Name string
	// Governs are the names of the sources that it speaks of.
	Governs []string
	// Inventory tells that it describes what is there, whoever made it: what it
	// lacks is worth saying although another declaration has it, and the other
	// way round.
	Inventory bool
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
	// Live is what the declaration's own engine saw of the live side (a
	// Terraform plan reads it through its providers); nil when it reads none.
	// Its Source is the declaration's name.
	Live *Snapshot
	// Decisions are what people decided about findings, where that stands in a
	// file of the declaration.
	Decisions []Decision
	// States are the records that were read, by address.
	States []StateRead
	// Tally says how much of what is declared could be compared at all; nil
	// where that is not counted.
	Tally *Tally
}

// A StateRead is one record of what was applied, as it was read.
type StateRead struct {
	// Address is where it lies: "./terraform.tfstate", "s3://bucket/key".
	Address string `json:"address"`
	Lineage string `json:"lineage"`
	Serial  int64  `json:"serial"`
	// Hash is the SHA-256 of its content, in hex.
	Hash string `json:"hash"`
}

// A Tally counts what a declaration holds: Resources = Compared + Without +
// Unmapped + Unchecked.
type Tally struct {
	Resources int `json:"resources"`
	Compared  int `json:"compared"`
	// Without counts those of types that have no live side (an action, a random
	// number).
	Without int `json:"without_live_side"`
	// Unmapped counts, by type, those that no mapping table speaks of.
	Unmapped  map[string]int `json:"unmapped"`
	Unchecked int            `json:"unchecked"`
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
	// Traces are what the source's logs tell of it, by time; Broad what they tell
	// of any resource.
	Traces, Broad []Trace
	// Template is the live resource that the claims name as their template; nil
	// when they name none, or it was not seen.
	Template *Resource
	// Silent are the declarations that are expected to speak of it and do not,
	// by what kind of declaration they are: one of each group would be enough.
	Silent [][]string
}
