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
	// Identities are what else the resource is known by: a uuid, each of its MAC
	// addresses, its name.
	Identities []Identity
	// LastApplied is what the object itself says was last applied to it, as a
	// whole; nil where it says nothing.
	LastApplied *Value
	// Owners is who set which field, where the system keeps such a record.
	Owners []Owner
	// Emptied reports that the source keeps such a record of every resource, and
	// that this one has none: its writers were removed from it.
	OwnersRemoved bool
	// OwnersFrom is what the system calls that record ("managedFields").
	OwnersFrom string
	// Unsigned says why the system may be unable to tell who wrote the
	// resource; "" where that needs no words of its own.
	WriterUnknown string
	// Created is when the object came to be, Updated when anything of it was last
	// written; zero where unknown.
	Created, Updated time.Time
	// Generation counts the changes of the object's specification, 1 after it
	// was created; 0 where the system does not count.
	Generation int64
	// Automatic says why nobody is expected to declare the object, where the
	// resources of its own source prove it ("owned by ReplicaSet web-5d8"); ""
	// otherwise.
	SystemOwned string
	// Watched says why the object is expected to be declared also outside of
	// every governed scope, where it is new ("grants rights in the whole
	// cluster"); "" where it is not.
	Watched string
	// Altered reports that a system makes the object otherwise, so that somebody
	// changed it: what is Watched need not be new then.
	Altered bool
	// Origin is what the object itself says of where it comes from.
	Origin Origin
	// Makers are the live resources that make objects such as this one. Where one
	// of them is declared, or automatic itself, nobody is expected to declare the
	// object.
	Makers []Ref
	// Delegated lists the fields that other objects decide. An object that no
	// declaration claims decides nothing: see Subject.Delegated.
	Delegated []Delegation
	// Admission lists the objects that may change an object of this kind when it
	// is written: mutating webhooks and policies, sorted.
	Admission []Ref
	// Running lists the top-level fields of Value that the system accepted and
	// that wait for a restart, with what is in effect until then; null stands
	// for a field that is not set until then. Sorted by name.
	Running []Field
	// Parent is the resource that this one belongs to, and that speaks for it
	// while nobody manages the parent; zero where there is none.
	Parent Ref
	// UnreadFields are fields that the object may have and that could not be read.
	// Value has none of them.
	UnreadFields []UnreadField
}

// An UnreadField is a field of an object that was read without it.
type UnreadField struct {
	// Name is the name of a top-level field of Resource.Value; "" stands for every
	// field that Value lacks.
	Name string
	// Reason says why, and what to do.
	Reason string
}

// UnreadField returns why a field that Value lacks could not be read; "" if the
// object does not have it. path leads to the field or to a part of it.
func (r *Resource) UnreadField(path string) string {
	name := path
	if end := strings.IndexAny(path, ".["); end >= 0 {
		name = path[:end]
	}
	if _, read := r.Value.Get(name); read || name == "" {
		return ""
	}
	for _, f := range r.UnreadFields {
		if f.Name == name || f.Name == "" {
			return f.Reason
		}
	}
	return ""
}

// An Origin is what a live object says of where it comes from. It is the claim
// of whoever wrote the object, and proves nothing by itself.
type Origin struct {
	// UID is the system's own unique ID of the object; "" where it gives none.
	UID string
	// Owners are the objects that it names as its owners.
	Owners []OwnerReference
	// Ending reports whether the system is removing the object, and will be done
	// within minutes.
	Ending bool
}

// An OwnerReference names an object as the owner of another one.
type OwnerReference struct {
	Kind, Name, UID string
	// Controller reports whether the owner is the one that manages the object.
	Controller bool
}

// A Ref names a resource within a source.
type Ref struct{ Kind, ID string }

// An Identity is something that a resource is known by beside its id. By is
// what it is ("uuid", "mac", "slug"); resources of one kind with an equal one are
// taken for the same thing.
type Identity struct{ By, Value string }

// A Trace is one entry of a log of who did what.
type AuditEvent struct {
	// Ref is zero where the entry may tell of any resource: somebody renamed a
	// tag that many bear; without an ID it may be any of that kind.
	Ref
	// Deed is what was done.
	Action Action
	// Fields are the paths in Resource.Value that the entry names; empty when it
	// names none, and then it may have been any.
	Fields []string
	// Except are paths of which the entry is no evidence, with all below them,
	// whatever Fields says: the resource holds another value there than the entry left.
	Excluded []string
	// Was holds what the log kept of a deleted resource, in the words of
	// Resource.Value; Null where it kept nothing.
	LastValue Value
	// Of are the texts that came or went there, or one and what it became; empty
	// when it may have been any.
	Texts []string
	// Writer is what Resource.Owners calls the tool that did it; "" where the log
	// does not tell.
	Writer string
	// Account is the authenticated user behind Actor, whoever was impersonated;
	// "" where the log does not record it.
	Account string
	// Actor says who, when, and by which evidence.
	Actor Actor
}

// A Deed is what a Trace tells of.
type Action uint8

// The deeds.
const (
	Edited Action = iota
	Created
	Deleted
)

// Unread is a resource that is known to exist and could not be read.
type Unread struct {
	Ref
	// Place, Name and Parent are as of a Resource, as far as they are known.
	Place, Name string
	Parent      Ref
	// Automatic says why nobody is expected to declare it, or not before it was
	// read; "" otherwise.
	SystemOwned string
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
		// Times have seconds: of two the hand came after the apply.
		if last == nil || o.At.After(last.At) || o.At.Equal(last.At) && o.Edits {
			last = o
		}
	}
	if last == nil {
		return UnknownActor("the object does not say who wrote it; a finding names whom the logs name")
	}
	if who, ok := last.LoggedUser(); ok {
		return who
	}
	return Actor{Name: last.Name, At: last.At, Via: r.OwnersFrom, Confidence: Likely}
}

// A Delegation is a field whose value another object decides.
type Delegation struct {
	// Path is the field; To names the object ("HorizontalPodAutoscaler web").
	Path, To string
	// By is the object. It must be declared itself for the delegation to count;
	// zero where the delegation is a part of a claim.
	By Ref
	// Adds reports that the object only adds fields: a declared value is compared
	// all the same.
	Adds bool
}

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
	// Records reports that the writer left Resource.LastApplied.
	Records bool
	// Inherits reports that the entry stands for all writers before the record of
	// owners began.
	Inherits bool
	// Through is the interface to a part of the resource that it wrote through ("scale");
	// "" for the interface to the whole.
	Through string
	// At is the time of its last write; zero where the system does not say.
	At time.Time
	// Fields is what it set and nobody has set since.
	Fields FieldSet
	// User is who used the writer for its last write, where another log of the
	// system tells (an audit log); "" where none does.
	User string
	// Evidence is the entry of that log that names User.
	Evidence string
	// Accounts are all authenticated users who used the writer, as far as that log
	// reaches back, sorted; never the users that they impersonated. Empty where no
	// log records any.
	Accounts []string
	// Before are others who used the writer earlier, sorted: any of Fields may be
	// theirs.
	Before []string
}

// AuditLog is what an Actor comes through that an Owner's User names.
const AuditLog = "audit log"

// Signed names the owner's user; ok reports whether it is known. The record of
// owners names the fields, and the log the user; where several used the same
// writer, neither tells whose field is whose.
func (o *Owner) LoggedUser() (who Actor, ok bool) {
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
	// Watched reports that Resource.Watched may be set on its objects.
	Watched bool
	// Namespaced reports that its objects lie in places.
	Namespaced bool
	// Version is the version of the system's interface that it was read in.
	Version string
	// Alike are other versions in which it has the same fields.
	CompatibleVersions []string
	// Schema says how values are compared; nil means as they stand.
	Schema *Schema
	// Defaulted reports that Schema has every default of the kind, as of one that a
	// custom resource definition describes: a live value that no writer owns and that
	// is no default was put there at admission, or by somebody who edited the record
	// of writers. It says nothing of an object that has no such record at all.
	Defaulted bool
	// Unsigned says why the system may be unable to tell who removed one, or, where
	// a record of owners cannot, a field of one; "" where that needs no words of
	// its own.
	WriterUnknown string
	// Uncounted are the top-level fields whose changes Resource.Generation does not count.
	Uncounted []string
	// Unowned is why a field that is not a default may have no owner; "" if there is no
	// particular reason.
	Unowned string
	// Elsewhere maps top-level fields that are no part of the object itself, so that
	// no entry on the object tells who changed them, to where that is recorded.
	LoggedElsewhere map[string]string
	// Labels is the path of the values that people sort resources by: a map of
	// texts, a list, or one text of tags with ";" between them; "" when there
	// are none.
	Labels string
	// Severities rate drift of this kind. The first rule that fits a change rates it;
	// the worst change rates the finding.
	Severities []SeverityRule
	// Exposed are the fields that have an exposure; the first that fits counts.
	Exposed []ExposedField
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
	AuditEvents []AuditEvent
	// LogUnread is why the source's log of changes could not be read, and what to
	// do; "" if it was read, or the source keeps none.
	LogUnread string
	// First are the first complete looks at the source's scopes, as far as they
	// are remembered.
	FirstReads []FirstRead
	// Positions are how far the data of the source's parts had come, where the
	// source has a number for that.
	Positions []Position
	// Stale are the scopes that the source may have answered from an old copy of
	// its data. It is set by Doubt.
	Stale []Staleness
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
	// Skipped reports that it was left out on purpose: absence proves nothing
	// there, but nothing failed either.
	Skipped bool `json:"skipped,omitempty"`
	// Reason says why it is not complete and what to do.
	Reason string `json:"reason"`
}

// Failed reports whether the scope should have been read and was not.
func (c Coverage) Failed() bool { return !c.Complete && !c.Skipped }

// Covers reports whether the snapshot fully read the scope in which a resource
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

// A Subject is one real thing: the live resource and every claim on it.
type Subject struct {
	Key
	Place string
	Name  string
	// Live is nil when the resource was not seen.
	Live *Resource
	// Automatic says why nobody is expected to declare the live resource; "" when
	// a declaration is expected.
	SystemOwned string
	// Kind is nil when the source does not know the kind.
	Kind *Kind
	// Claims are sorted by declaration and address.
	Claims []*Claim
	// Unread says why absence proves nothing; "" when it does.
	Unread string
	// Stale is why a resource that was seen may come from an old copy; "" where
	// nothing says so.
	Stale string
	// Traces are what the source's logs tell of it, by time; Broad what they tell
	// of any resource.
	AuditEvents, BroadEvents []AuditEvent
	// Template is the live resource that the claims name as their template; nil
	// when they name none, or it was not seen.
	Template *Resource
	// Delegated are the fields that declared objects decide, or add.
	Delegated []Delegation
	// Admission are the declared objects that may change the resource when it is
	// written.
	Admission []Ref
	// Silent are the declarations that are expected to speak of it and do not,
	// by what kind of declaration they are: one of each group would be enough.
	UndeclaredBy [][]string
	// Outside says why it is expected to be declared although it lies in no
	// governed scope; "" where it lies in one.
	Outside string
	// Partial says which part of a declaration that is not in Silent could not be
	// read and may declare the live resource; "" where there is none.
	Partial string
	// Unjudged says why nothing is said of a live resource that no declaration
	// claims; nil where it was judged.
	Unjudged *Unjudged
	// Dropped names who removed the resource from declarations in Silent that keep a
	// log of their own, sorted by declaration.
	Dropped []Dropped
}

// Dropped is who removed a live resource from a declaration. Actor is unknown, with
// the reason, if the log of the declaration could not be read.
type Dropped struct {
	Declaration string
	Actor       Actor
}
