package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Key identifies one resource: Source is the configured name of the live system, Kind is
// "<type>/<the system's name of the kind>", and ID is unique within both.
type Key struct {
	Source string `json:"source"`
	Kind   string `json:"kind"`
	ID     string `json:"resource"`
}

// String returns "source/type/kind/id".
func (k Key) String() string { return k.Source + "/" + k.Kind + "/" + k.ID }

// Compare orders keys by source, kind and id.
func (k Key) Compare(l Key) int {
	if k.Source != l.Source {
		return strings.Compare(k.Source, l.Source)
	}
	if k.Kind != l.Kind {
		return strings.Compare(k.Kind, l.Kind)
	}
	return strings.Compare(k.ID, l.ID)
}

// A Resource is one live object.
type Resource struct {
	Key
	// Place is the part of the source in which the object is, such as a namespace, or "".
	// Coverage and governance are by place.
	Place string
	// Name is the display name.
	Name string
	// Value is the object as it was read, without fields that change by themselves
	// (status, counters). Sensitive values are digests.
	Value Value
	// Identities are further identities, such as a UUID, MAC addresses and the name.
	Identities []Identity
	// LastApplied is the object's own record of what was last applied to it; nil if it
	// has none.
	LastApplied *Value
	// Owners are the writers of fields, if the system records them.
	Owners []Owner
	// OwnersRemoved reports whether the source keeps such a record of every resource and
	// this one has none: it was removed.
	OwnersRemoved bool
	// OwnersFrom is the system's name of that record ("managedFields").
	OwnersFrom string
	// WriterUnknown is why the writer of the resource may not be known; "" if there is no
	// particular reason.
	WriterUnknown string
	// Created is when the object was created, Updated when any part of it was last
	// written; zero if unknown.
	Created, Updated time.Time
	// Generation counts the changes of the object's specification, beginning with 1; 0
	// if the system does not count them.
	Generation int64
	// SystemOwned is why no declaration is expected to declare the object, as far as the
	// resources of its own source prove it ("owned by ReplicaSet web-5d8"); "" otherwise.
	SystemOwned string
	// Watched is why a new object is expected to be declared also outside of every
	// governed scope ("grants rights in the whole cluster"); "" if it is not.
	Watched string
	// Altered reports whether the object differs from what the system creates, so that
	// it was edited. If it is Watched, it need not be new then.
	Altered bool
	// Origin is the object's own statement of its origin.
	Origin Origin
	// Makers are the live resources that create such objects. If one of them is declared
	// or system-owned, no declaration is expected to declare the object.
	Makers []Ref
	// Delegated lists the fields that other objects determine. Unclaimed objects
	// determine nothing: see Subject.Delegated.
	Delegated []Delegation
	// Admission lists the objects that may change an object of this kind when it is
	// written, such as mutating webhooks, sorted.
	Admission []Ref
	// Running lists the top-level fields of Value that take effect after a restart, with
	// the values in effect until then; null if the field is not set until then. Sorted
	// by name.
	Running []Field
	// Parent is the resource that contains this one; an unmanaged parent is reported
	// instead of it. Zero if there is none.
	Parent Ref
	// UnreadFields are fields that the object may have and that could not be read.
	// Value has none of them.
	UnreadFields []UnreadField
	// Violations are the checks that the resource fails, sorted by Check.
	Violations []Violation
	// Undecided are the checks that cannot be judged now, because a tool is at work on the resource. An
	// earlier finding of them stays.
	Undecided []string
	// ReadySince is since when the tool of the resource reports that it is ready; nil if it does not.
	ReadySince *time.Time
	// Installs are the objects that a deployment tool installed according to its record in this
	// resource, such as the inventory of a Flux Kustomization. A client that can write the
	// resource can add objects.
	Installs []Ref
	// Inventory is set if Installs must have every object that a declaration has through this resource.
	Inventory *Inventory
	// Fetched is what the controller of the resource fetched last; nil if it fetches no commits.
	Fetched *Fetched
	// Record is the record of a deployment tool in the object; nil if it contains none.
	Record *Installation
}

// An UnreadField is a field of an object that was read without it.
type UnreadField struct {
	// Name is the name of a top-level field of Resource.Value; "" stands for every
	// field that Value lacks.
	Name string
	// Reason is why it could not be read, with the next step.
	Reason string
}

// UnreadField returns why a field that Value lacks could not be read; "" if the
// object does not have it. path is that of the field or a part of it.
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

// An Origin is a live object's own statement of its origin. Any writer of the object can
// set it, so it proves nothing by itself.
type Origin struct {
	// UID is the system's unique ID of the object; "" if it has none.
	UID string
	// Owners are the objects that it references as its owners.
	Owners []OwnerReference
	// Ending reports whether the system is deleting the object, which takes minutes at
	// most.
	Ending bool
	// AppliedBy is the object of a deployment tool that applied it, according to its labels; zero if they name none.
	AppliedBy Ref
	// Unenforced is why a deployment tool leaves the object although no declaration has it, according to its annotations; "" if
	// they do not mention that.
	Unenforced string
}

// An OwnerReference is a reference from an object to its owner.
type OwnerReference struct {
	Kind, Name, UID string
	// Controller reports whether the owner is the one that manages the object.
	Controller bool
}

// A Ref identifies a resource within a source.
type Ref struct{ Kind, ID string }

// An Identity is an identity of a resource other than its ID. By is its kind ("uuid",
// "mac", "slug"). Resources of one kind with an equal identity are the same.
type Identity struct{ By, Value string }

// An AuditEvent is one entry of a log of changes.
type AuditEvent struct {
	// Ref is the changed resource. It is zero if the entry may concern any resource, such
	// as the renaming of a tag; without an ID it may be any one of the kind.
	Ref
	Action Action
	// Fields are the paths in Resource.Value that the entry contains. If it is empty, any
	// field may have changed.
	Fields []string
	// Excluded are paths for which the entry is no evidence, with all below them: the
	// resource has another value there than the one that the entry set.
	Excluded []string
	// LastValue is the value of a deleted resource, in the form of Resource.Value; Null if
	// the log does not contain it.
	LastValue Value
	// Texts are the texts that were added or removed there, or one and its replacement.
	// If it is empty, it may have been any.
	Texts []string
	// Writer is the name in Resource.Owners of the tool that was used; "" if the log does
	// not contain it.
	Writer string
	// Account is the authenticated user behind Actor, which may be an impersonated one; ""
	// if the log does not contain it.
	Account string
	// Actor is who made the change, when, and by which evidence.
	Actor Actor
}

// An Action is the change that an AuditEvent records.
type Action uint8

// The actions.
const (
	Edited Action = iota
	Created
	Deleted
)

// Unread is a resource that exists and could not be read.
type Unread struct {
	Ref
	// Place, Name and Parent are as of a Resource, as far as they are known.
	Place, Name string
	Parent      Ref
	// SystemOwned is why no declaration is expected to declare it, at least until it is
	// read; "" otherwise.
	SystemOwned string
	// Identities are those that are known. A claim that is matched by another one may
	// still be on it.
	Identities []Identity
	// Reason is why it could not be read, with the next step.
	Reason string
}

// LastWriter returns the last writer of the resource according to its Owners.
func (r *Resource) LastWriter() Actor {
	var last *Owner
	for i := range r.Owners {
		o := &r.Owners[i]
		// Times have seconds: of two in the same second, the edit followed the apply.
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

// A Delegation is a field whose value another object determines.
type Delegation struct {
	// Path is the field; To is the object as text ("HorizontalPodAutoscaler web").
	Path, To string
	// By is the object. The delegation applies only if the object is declared itself. By
	// is zero if the delegation is a part of a claim.
	By Ref
	// Adds reports whether the object only adds fields: a declared value is compared.
	Adds bool
	// Among reports whether the field must have one of the values that the claim has for it, in Value and in
	// Otherwise.
	Among bool
}

// An Owner is one entry of a live system's record of the writers of fields. In Kubernetes:
//
//	kubectl apply --server-side    Applies, Delivers
//	kubectl apply                  Delivers, Records
//	helm                           Delivers
//	kubectl edit, patch, scale     Edits
//	before-first-apply             Inherits
//	a controller                   none of them
//
// A writer chooses its name: the marks by name alone are no proof.
type Owner struct {
	// Name is the system's name of the writer (a field manager).
	Name string
	// Applies reports whether the writer applies declarations, and owns what it declared,
	// instead of editing fields.
	Applies bool
	// Delivers reports whether the writer is a tool that applies declarations.
	Delivers bool
	// Edits reports whether the writer is a tool for editing by hand, which never applies
	// declarations.
	Edits bool
	// Records reports whether the writer left Resource.LastApplied.
	Records bool
	// Inherits reports whether the entry stands for all writers before the system began to
	// record them.
	Inherits bool
	// Through is the interface to a part of the resource that it wrote through ("scale");
	// "" for the interface to the whole.
	Through string
	// At is the time of its last write; zero if unknown.
	At time.Time
	// Fields are those that it set and that no other writer has set since.
	Fields FieldSet
	// User is the user of the writer at its last write according to an audit log; "" if
	// unknown.
	User string
	// Evidence is the entry of that log with User.
	Evidence string
	// Accounts are all authenticated users of the writer in that log, sorted, without the
	// users that they impersonated. Empty if no log records them.
	Accounts []string
	// Before are earlier users of the writer, sorted: any of Fields may be theirs.
	Before []string
}

// AuditLog is Actor.Via of an actor from an audit log.
const AuditLog = "audit log"

// LoggedUser returns the owner's user as an actor; ok is false if it is not known. If
// several used the same writer, neither record shows which one set a field.
func (o *Owner) LoggedUser() (who Actor, ok bool) {
	who = Actor{Name: o.User, At: o.At, Via: AuditLog, Evidence: o.Evidence, Confidence: Exact}
	if len(o.Before) > 0 {
		who.Confidence = Likely
		who.Evidence += ", used before by " + strings.Join(o.Before, " and ")
	}
	return who, o.User != ""
}

// A Kind describes how the resources of one kind are read and compared.
type Kind struct {
	// Name is the kind as in Key.Kind.
	Name string
	// Watched reports whether Resource.Watched may be set on its objects.
	Watched bool
	// Namespaced reports whether its objects have places.
	Namespaced bool
	// Version is the version of the system's API in which it was read.
	Version string
	// CompatibleVersions are other versions in which it has the same fields.
	CompatibleVersions []string
	// Schema describes how values are compared; nil compares them as they are.
	Schema *Schema
	// Defaulted reports whether Schema has every default of the kind: a live value that is
	// no default and has no owner was set at admission, or its owner was removed from the
	// record. It does not apply to an object without any record.
	Defaulted bool
	// WriterUnknown is why the actor that removed an object, or a field if a record of
	// owners does not show it, may not be known; "" if there is no particular reason.
	WriterUnknown string
	// Uncounted are the top-level fields whose changes Resource.Generation does not count.
	Uncounted []string
	// Unowned is why a field that is not a default may have no owner; "" if there is no
	// particular reason.
	Unowned string
	// LoggedElsewhere maps top-level fields that are no part of the object itself, so that
	// its audit events do not show their changes, to the place where these are recorded.
	LoggedElsewhere map[string]string
	// Labels is the path of the labels: a map of texts, a list, or one text of tags with
	// ";" between them; "" if there are none.
	Labels string
	// Severities rate drift of this kind. The first rule that matches a change rates it;
	// the worst change rates the finding.
	Severities []SeverityRule
	// Exposed are the fields that have an exposure; the first that matches applies.
	Exposed []ExposedField
}

// A Snapshot is the result of reading one source once. It is immutable.
type Snapshot struct {
	Source string
	// Taken is when the read began. ReadAt has the time of a single object.
	Taken time.Time
	// Resources are sorted by key.
	Resources []Resource
	// Reread are the objects that were read again after the rest, sorted by kind and ID.
	Reread []Reread
	// Coverage lists the scopes that were fully read. Absence counts only in these.
	Coverage []Coverage
	// Kinds by name.
	Kinds map[string]*Kind
	// Version is the version of the source's software, for the run record.
	Version string
	// Home is the place of claims without one, such as the project of the account that
	// reads a cloud. "" if there is none.
	Home string
	// Unread are the resources that exist and could not be read, sorted by kind and ID:
	// they are neither compared nor missing.
	Unread []Unread
	// AuditEvents are the entries of the source's own logs, sorted by kind, ID and time.
	AuditEvents []AuditEvent
	// LogUnread is why the source's log of changes could not be read, and what to
	// do; "" if it was read, or the source keeps none.
	LogUnread string
	// FirstReads are the first complete reads of the source's scopes, if they are known.
	FirstReads []FirstRead
	// Positions are the versions of the data of the source's parts, if the source numbers
	// them.
	Positions []Position
	// Stale are the scopes that the source may have returned from an old copy of its data.
	// Doubt sets it.
	Stale []Staleness
}

// NotRead returns the snapshot of a source that could not be read, with the reason.
func NotRead(source, reason string) Snapshot {
	return Snapshot{Source: source, Coverage: []Coverage{{Source: source, Reason: reason}}}
}

// Coverage describes whether one scope was fully read.
type Coverage struct {
	Source string `json:"source"`
	// Kind is the name of a kind, "type/*.group" for the kinds of a group without entries
	// of their own, or "" for all kinds without another entry.
	Kind string `json:"kind"`
	// Place is one place of the source, "" all of it.
	Place    string `json:"scope"`
	Complete bool   `json:"complete"`
	// Skipped reports whether it was left out on purpose: absence proves nothing, but
	// nothing failed.
	Skipped bool `json:"skipped,omitempty"`
	// Reason is why it is not complete, with the next step.
	Reason string `json:"reason"`
}

// Failed reports whether the scope should have been read and was not.
func (c Coverage) Failed() bool { return !c.Complete && !c.Skipped }

// Covers reports whether the snapshot fully read the scope of resources of this kind and
// place, and if not, why. The default place is Home.
func (s *Snapshot) Covers(kind, place string) (bool, string) {
	for _, want := range []Coverage{{Kind: kind, Place: cmp.Or(place, s.Home)}, {Kind: kind}, {Kind: wildcardOf(kind)}, {}} {
		for i := range s.Coverage {
			if c := &s.Coverage[i]; c.Kind == want.Kind && c.Place == want.Place {
				return c.Complete, c.Reason
			}
		}
	}
	return false, "not read"
}

// HasKind reports whether the source may have resources of the kind: it is among Kinds, or a scope of
// Coverage includes it. A snapshot without any scope proves nothing.
func (s *Snapshot) HasKind(kind string) bool {
	return s.Kinds[kind] != nil || len(s.Coverage) == 0 || slices.ContainsFunc(s.Coverage, func(c Coverage) bool {
		return c.Kind == kind || c.Kind == wildcardOf(kind) || c.Kind == ""
	})
}

// wildcardOf returns the name that Coverage uses for all kinds of the group of a kind.
func wildcardOf(kind string) string {
	typ, name, ok := strings.Cut(kind, "/")
	if !ok {
		return ""
	}
	_, group, _ := strings.Cut(name, ".")
	return typ + "/*." + group
}

// A Subject is a live resource with every claim on it, or the claims on a resource that is
// not live.
type Subject struct {
	Key
	Place string
	Name  string
	// Live is nil if the resource was not read.
	Live *Resource
	// SystemOwned is why no declaration is expected to declare the live resource; "" if
	// one is.
	SystemOwned string
	// Kind is nil if the source does not have the kind.
	Kind *Kind
	// Claims are sorted by declaration and address.
	Claims []*Claim
	// Unread is why absence proves nothing; "" if it does.
	Unread string
	// Stale is why the live resource may come from an old copy; "" if there is no sign of
	// that.
	Stale string
	// AuditEvents are the entries of the source's logs on the resource, by time,
	// BroadEvents those on any resource.
	AuditEvents, BroadEvents []AuditEvent
	// Template is the live resource that the claims reference as their template; nil if
	// they do not, or it was not read.
	Template *Resource
	// Delegated are the fields that declared objects determine or add.
	Delegated []Delegation
	// Admission are the declared objects that may change the resource when it is written.
	Admission []Ref
	// UndeclaredBy are the declarations that are expected to declare the resource and do
	// not, in groups: one declaration of each group would be sufficient. If two roots govern
	// the source and the inventory must list its guests, an undeclared guest has
	// [[dns web] [netbox]].
	UndeclaredBy [][]string
	// Outside is why it is expected to be declared although it is in no governed scope; ""
	// if it is in one.
	Outside string
	// Partial is which part of a declaration that is not in UndeclaredBy could not be read
	// and may declare the live resource; "" if there is none.
	Partial string
	// Unjudged is why an unclaimed live resource was not judged; nil if it was.
	Unjudged *Unjudged
	// Dropped are the actors that removed the resource from declarations in UndeclaredBy
	// that keep a log of their own, sorted by declaration.
	Dropped []Dropped
	// InstalledBy are the live resources whose record lists the resource, if no claim is on
	// it, sorted.
	InstalledBy []Installer
	// LeftBy is the deployment tool that the labels of such a resource name, if its Inventory lacks the resource; "" otherwise.
	LeftBy string
}

// Dropped is who removed a live resource from a declaration. Actor is unknown, with
// the reason, if the log of the declaration could not be read.
type Dropped struct {
	Declaration string
	Actor       Actor
}
