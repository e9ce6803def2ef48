package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Key identifies one resource. Source is the configured name of the live system. Kind is the type of the
// source and the system's name of the kind, separated by a slash. ID is unique within the source and kind.
type Key struct {
	Source string `json:"source"`
	Kind   string `json:"kind"`
	ID     string `json:"resource"`
}

// String returns "source/type/kind/id".
func (k Key) String() string { return k.Source + "/" + k.Kind + "/" + k.ID }

// Compare orders keys by source, kind and ID. It returns a negative number if k sorts before l.
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
	// Place is the part of the source that contains the object, such as a namespace, or "". Coverage and
	// governance are defined by place.
	Place string
	// Name is the display name.
	Name string
	// Value is the object as it was read, without fields that change by themselves, such as status and
	// counters. Digests replace sensitive values.
	Value Value
	// Identities lists further identities of the object, such as a UUID, MAC addresses and the name.
	Identities []Identity
	// LastApplied is the object's own record of the value that was last applied to it; nil if it has none.
	LastApplied *Value
	// Owners lists the writers of fields, if the system records them.
	Owners []Owner
	// OwnersRemoved reports whether the record of writers was removed: the source keeps one for every resource,
	// but this resource has none.
	OwnersRemoved bool
	// OwnersFrom is the system's name for the record of writers, such as "managedFields".
	OwnersFrom string
	// WriterUnknown is the reason why the writer of the resource may be unknown; "" if there is no particular
	// reason.
	WriterUnknown string
	// Created is the time at which the object was created, and Updated the time of the last write to any part
	// of it; zero if unknown.
	Created, Updated time.Time
	// Generation is the number of versions of the object's specification, starting at 1; 0 if the system does
	// not count them.
	Generation int64
	// Outgoing is the name of the earlier revision of the object from which its controller may still create
	// objects, because it has not replaced all of them; "" if there is none.
	Outgoing string
	// SystemOwned is the reason why no declaration is expected to declare the object, as far as the resources
	// of the same source prove it, such as "owned by ReplicaSet web-5d8"; "" otherwise.
	SystemOwned string
	// DeclaredInParent reports whether SystemOwned does not apply if Parent is declared, because anybody can
	// create such an object there.
	DeclaredInParent bool
	// Watched is the reason why a new object of this kind is expected to be declared even outside of every
	// governed scope, such as "grants rights in the whole cluster"; "" if it is not.
	Watched string
	// Altered reports whether the object differs from the one that the system creates, so that it must have
	// been edited. A Watched object with Altered is expected to be declared even if it is not new.
	Altered bool
	// Origin is the object's own statement of its origin.
	Origin Origin
	// Makers lists the live resources that create such objects. If one of them is declared or system-owned, no
	// declaration is expected to declare the object.
	Makers []Ref
	// Delegated lists the fields that other objects determine. Only claimed objects count; see
	// Subject.Delegated.
	Delegated []Delegation
	// NotDerived lists the paths of fields that the system derives if they are not declared, and whose values are not
	// what it derives.
	NotDerived []string
	// Admission lists the objects that may change an object of this kind when it is written, such as mutating
	// webhooks. It is sorted.
	Admission []Ref
	// Running lists the top-level fields of Value that take effect only after a restart, with the values in
	// effect until then; null if the field is not set until then. It is sorted by name.
	Running []Field
	// Parent is the resource that contains this one; zero if there is none. If both are unmanaged, only the
	// parent is reported.
	Parent Ref
	// DeclaredWithParent reports whether the declaration of Parent may contain the object in a form that the
	// source does not show. If no declaration is expected to declare Parent, none is expected to declare the object.
	DeclaredWithParent bool
	// UnreadFields lists fields that the object may have but that could not be read. Value does not contain
	// them.
	UnreadFields []UnreadField
	// Violations lists the checks that the resource fails, sorted by Check.
	Violations []Violation
	// Undecided lists the checks that cannot be decided now, because a tool is working on the resource or the source
	// did not return what they need. Earlier findings of these checks stay open.
	Undecided []string
	// ReadySince is the time since which the tool reports the resource as ready; nil if it does not.
	ReadySince *time.Time
	// Installs lists the objects that a deployment tool installed, according to its record in this resource,
	// such as the inventory of a Flux Kustomization. A client with write access to the resource can add
	// objects.
	Installs []Ref
	// Inventory is set if Installs must contain every object that a declaration applies through this resource;
	// nil otherwise.
	Inventory *Inventory
	// Fetched is the commit that the controller of the resource last fetched; nil if the controller fetches no
	// commits.
	Fetched *Fetched
	// Record is the record of a deployment tool that the object contains; nil if it contains none.
	Record *Installation
}

// An UnreadField is a field that is missing from an object because it could not be read.
type UnreadField struct {
	// Name is the name of a top-level field of Resource.Value; "" means every field that Value does not
	// contain.
	Name string
	// Reason is why the field could not be read, with the next step.
	Reason string
}

// UnreadField returns the reason why a field that Value lacks could not be read; "" if the object does not have
// the field. The argument path is the path of the field or of a part of it.
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

// An Origin describes the origin of a live object according to the object itself. Anyone who can write the
// object can set it, so it is no proof on its own.
type Origin struct {
	// UID is the system's unique ID of the object; "" if it has none.
	UID string
	// Owners lists the objects that the object refers to as its owners.
	Owners []OwnerReference
	// Ending reports whether the system is deleting the object, which takes minutes at most.
	Ending bool
	// AppliedBy is the object of the deployment tool that applied this object, according to the labels; zero if
	// they name none.
	AppliedBy Ref
	// Unenforced is the reason, according to the annotations, why a deployment tool does not remove the object
	// although no declaration contains it; "" if there is none.
	Unenforced string
}

// An OwnerReference is a reference from an object to its owner.
type OwnerReference struct {
	Kind, Name, UID string
	// Controller reports whether the owner manages the object.
	Controller bool
}

// A Ref identifies a resource within a source.
type Ref struct{ Kind, ID string }

// An Identity is an identity of a resource other than its ID. By is the kind of identity ("uuid", "mac",
// "slug"). Two resources of one kind with an equal identity are the same resource.
type Identity struct{ By, Value string }

// A Delegation is a field whose value is determined by another object, or left as it is for another reason.
type Delegation struct {
	// Path is the path of the field, and To the other object as text, such as "HorizontalPodAutoscaler web".
	Path, To string
	// Why is the reason why a difference is not drift, as text. It is "" if another object determines the value.
	Why string
	// By identifies the other object. The delegation applies only if that object is declared. By is zero if the
	// delegation is part of a claim.
	By Ref
	// Adds reports whether the object only adds fields, so that declared values are still compared.
	Adds bool
	// Among reports whether the field must have one of the values that Value and Otherwise of the claim contain
	// for it.
	Among bool
	// Hidden reports whether the value may contain a secret, although the field is not secret in itself, so that
	// no output shows it.
	Hidden bool
	// Positive reports whether the other object never sets 0, and does nothing while the value is 0.
	Positive bool
}

// A Kind describes how resources of one kind are read and compared.
type Kind struct {
	// Name is the name of the kind, as in Key.Kind.
	Name string
	// Watched reports whether objects of the kind can have Resource.Watched.
	Watched bool
	// Namespaced reports whether objects of the kind have places.
	Namespaced bool
	// Version is the version of the system's API with which the kind was read.
	Version string
	// CompatibleVersions lists other API versions in which the kind has the same fields.
	CompatibleVersions []string
	// Schema describes how values are compared; if it is nil, they are compared as they are.
	Schema *Schema
	// Defaulted reports whether Schema contains every default of the kind. A live value that is neither a
	// default nor owned was then set at admission, or its owner was removed from the record. This does not
	// apply to objects without any record.
	Defaulted bool
	// WriterUnknown is the reason why the actor that removed an object, or a field without a record of owners,
	// may be unknown; "" if there is no particular reason.
	WriterUnknown string
	// Uncounted lists the top-level fields whose changes Resource.Generation does not count.
	Uncounted []string
	// Unowned is the reason why a field that is not a default may have no owner; "" if there is no particular
	// reason.
	Unowned string
	// LoggedElsewhere maps top-level fields that are not part of the object itself to the place where their
	// changes are logged. The audit events of the object do not contain these changes.
	LoggedElsewhere map[string]string
	// Labels is the path of the labels; "" if there are none. The value is a map of texts, a list, or one text
	// of tags separated by ";".
	Labels string
	// Severities lists the rules that rate drift of this kind. The first rule that matches a change rates it,
	// and the worst change rates the finding.
	Severities []SeverityRule
	// Exposed lists the fields that have an exposure. The first one that matches applies.
	Exposed []ExposedField
}

// A Snapshot is the result of reading one source once. It is immutable once the comparison has begun.
type Snapshot struct {
	Source string
	// Taken is the time at which the read began. Use ReadAt for the time of a single object.
	Taken time.Time
	// Resources are sorted by key.
	Resources []Resource
	// Reread lists the objects that were read again after the rest, sorted by kind and ID.
	Reread []Reread
	// Coverage lists the scopes of the source and whether they were fully read. Absence proves something only
	// in scopes that were.
	Coverage []Coverage
	// Kinds maps the names of kinds to the kinds.
	Kinds map[string]*Kind
	// Version is the version of the source's software.
	Version string
	// Home is the place of claims without one, such as the project of the account with which a cloud is read;
	// "" if there is none.
	Home string
	// Unread lists the resources that exist but could not be read, sorted by kind and ID. They are neither
	// compared nor missing.
	Unread []Unread
	// AuditEvents lists the entries of the source's own logs, sorted by kind, ID and time.
	AuditEvents []AuditEvent
	// LogUnread is the reason why the log of the source could not be read, with the next step; "" if it was
	// read or the source has none.
	LogUnread string
	// FirstReads lists the first complete reads of the source's scopes, as far as they are known.
	FirstReads []FirstRead
	// Positions lists the versions of the data in the parts of the source, if the source has such versions.
	Positions []Position
	// Stale lists the scopes that the source may have returned from an old copy of its data. Doubt adds
	// elements to it.
	Stale []Staleness
}

// NotRead returns the snapshot of a source that could not be read for the given reason.
func NotRead(source, reason string) Snapshot {
	return Snapshot{Source: source, Coverage: []Coverage{{Source: source, Reason: reason}}}
}

// A Coverage describes whether one scope was fully read.
type Coverage struct {
	Source string `json:"source"`
	// Kind is the name of a kind, "type/*.group" for the kinds of a group without an entry of their own, or ""
	// for all kinds without another entry.
	Kind string `json:"kind"`
	// Place is one place of the source; "" means all places.
	Place    string `json:"scope"`
	Complete bool   `json:"complete"`
	// Skipped reports whether the scope was skipped on purpose. Absence from it proves nothing, but no read
	// failed.
	Skipped bool `json:"skipped,omitempty"`
	// Reason is why the scope is not complete, with the next step.
	Reason string `json:"reason"`
}

// Failed reports whether the scope was not fully read although it should have been.
func (c Coverage) Failed() bool { return !c.Complete && !c.Skipped }

// Covers reports whether the snapshot fully read the resources with the kind and place. If it did not, the text
// is the reason. An empty place means Home.
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

// HasKind reports whether the source may have resources of the kind, because Kinds contains it or a scope of
// Coverage includes it. It returns true if Coverage is empty.
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

// A Subject is a live resource with all claims on it, or the claims on a resource that is not live.
type Subject struct {
	Key
	Place string
	Name  string
	// Live is nil if the resource was not read.
	Live *Resource
	// SystemOwned is the reason why no declaration is expected to declare the live resource; "" if one is.
	SystemOwned string
	// Kind is nil if the source does not have the kind.
	Kind *Kind
	// Claims are sorted by declaration and address.
	Claims []*Claim
	// Unread is the reason why the absence of the resource proves nothing; "" if it does.
	Unread string
	// Stale is the reason why the live resource may come from an old copy of the data; "" if there is no sign
	// of one.
	Stale string
	// AuditEvents lists the entries of the source's logs about the resource, and BroadEvents those that may
	// concern any resource. Both are sorted by time.
	AuditEvents, BroadEvents []AuditEvent
	// Template is the live resource to which the claims refer as their template, and NamedTemplate the one to
	// which they refer by name; nil if they refer to none or it was not read.
	Template, NamedTemplate *Resource
	// TemplateUnread and NamedTemplateUnread are the reasons why these templates could not be read, although they may
	// exist; "" if they were read, do not exist, or no claim refers to them.
	TemplateUnread, NamedTemplateUnread string
	// Delegated lists the fields that declared objects determine or add.
	Delegated []Delegation
	// Admission lists the declared objects that may change the resource when it is written.
	Admission []Ref
	// UndeclaredBy lists groups of declarations. One declaration of each group is expected to declare the
	// resource, but none does. If two roots govern the source and the inventory must list its guests, an
	// undeclared guest has [[dns web] [netbox]].
	UndeclaredBy [][]string
	// Outside is the reason why the resource is expected to be declared although it is in no governed scope; ""
	// if it is in one.
	Outside string
	// Partial is the part of a declaration, not in UndeclaredBy, that could not be read and may declare the
	// live resource; "" if there is none.
	Partial string
	// Unjudged is the reason why an unclaimed live resource was not judged; nil if it was.
	Unjudged *Unjudged
	// Dropped lists the actors that removed the resource from declarations in UndeclaredBy, as far as these
	// keep a log of their own. It is sorted by declaration.
	Dropped []Dropped
	// InstalledBy lists the live resources whose record contains the resource, if it has no claim. It is
	// sorted.
	InstalledBy []Installer
	// LeftBy is the deployment tool that the labels of an unclaimed resource name, if the Inventory of that
	// tool does not contain the resource; "" otherwise.
	LeftBy string
}

// A Dropped is the actor that removed a live resource from a declaration. The actor is unknown, with a reason,
// if the log of the declaration could not be read.
type Dropped struct {
	Declaration string
	Actor       Actor
}
