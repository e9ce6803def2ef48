package model

import (
	"time"
)

// A Claim is the declared state of one resource in one declaration.
type Claim struct {
	Declaration string
	// Source is the source of the resource; "" means every governed source.
	Source string
	// Address is where the claim is declared: a file and line such as "deploy/web.yaml:12", or a
	// Terraform address.
	Address string
	// Position is the file and line of the claim, such as "infra/main.tf:12", if Address is not a
	// file and line; "" if unknown.
	Position string
	// AlsoIn lists the addresses in other files that determine the claim, such as the patches of a
	// kustomization.
	AlsoIn []string
	Kind   string
	ID     string
	Place  string
	Name   string
	// Version is the API version of the claim.
	Version string
	// Value is the declared resource. Only fields in Value are compared, unless Complete is set.
	Value Value
	// Written is the value as it was declared, if a source returned a canonical form of it, which
	// is then Value; nil otherwise.
	Written *Value
	// Recorded is the resource as last applied, according to the declaration's own record; nil if
	// there is no such record.
	Recorded *Value
	// RecordOnly reports whether Value is the last applied value because the declared value is
	// unknown, as for a Terraform state without its configuration.
	RecordOnly bool
	// Complete reports whether Value covers every field of Lens or of the kind's schema. A field
	// that is not in Value is then declared absent.
	Complete bool
	// Lens converts live resources to the form of the claim; nil if the claim has the form of the
	// live kind.
	Lens Lens
	// LiveRead is the live resource as read by the engine of the declaration, if the source does
	// not read all of it; nil otherwise. If it is set, Lens is nil.
	LiveRead *LiveRead
	// Delegated lists the fields whose values another declared object determines.
	Delegated []Delegation
	// Otherwise lists the values that the declaration has for the resource in other clusters. Each
	// field in which they differ from Value is in Delegated.
	Otherwise []Value
	// Template is the resource from which the claimed one was created. Where Value has the default
	// or no value, the value of the template is equivalent.
	Template Ref
	// TemplateName is the name of that resource, in the source of the claim, if only its name is known; "" otherwise. Only
	// fields that no claim can declare are compared with it.
	TemplateName string
	// Unenforced lists the fields that the tool which applies the declaration does not put back.
	// They are compared like all others.
	Unenforced []Unenforced
	// Unchecked is the reason why the claim cannot be compared; "" if it can.
	Unchecked string
	// Violations lists the checks that the claim fails, sorted by Check.
	Violations []Violation

	ClaimMatching
	ClaimApply
	ClaimHistory
}

// ClaimMatching determines which live resource a claim matches.
type ClaimMatching struct {
	// Identities identify the resource if no resource has the ID of the claim, the most reliable
	// identity first. Consecutive identities with the same By are used together.
	Identities []Identity
	// ByIdentity reports whether the resource is found by Identities, so that ID only names the
	// claim while no resource has them. AltKinds lists the kinds, other than Kind, that the
	// resource may have.
	ByIdentity bool
	AltKinds   []string
	// Cohort names a group of claims; "" for a claim without a group. If no claim of the group
	// matches a resource, the claims are assumed to refer to another source and are not compared.
	// Cohort is then the reason.
	Cohort string
	// AltID is the ID of the claim if the kind turns out to have no places; "" if the declaration
	// shows whether it has.
	AltID string
	// PlaceAssumed reports whether Place is a default, because the declaration contains neither a
	// place nor whether the kind has places.
	PlaceAssumed bool
	// Doubt is the reason why the resource of the claim may exist although no resource matches
	// Identities: it may have identities that were not read. "" if there is none.
	Doubt string
	// LogNames lists further names of the resource in the log of its source: names that entries
	// contain in place of the ID.
	LogNames []string
	// Covers lists other resources that the claim includes but does not compare. They are not
	// unmanaged.
	Covers []Ref
	// CoversChildren lists the kinds of further resources that the claim includes: those whose
	// Parent is the resource of the claim.
	CoversChildren []string
	// Children lists the fields of the claim whose elements are resources of their own in the
	// source. Such a field is compared only if the source has not read all of these resources,
	// since each of them is compared by itself.
	Children []Children
	// OnlyLive reports whether the claim applies only if its resource is live or recorded.
	OnlyLive bool
	// Former is the earlier ID of the resource, if another resource has replaced it; "" otherwise.
	Former string
}

// Children is a top-level field whose elements are resources of one kind.
type Children struct{ Field, Kind string }

// ClaimApply describes the effect of the next apply on the resource of a claim.
type ClaimApply struct {
	// MayBeAbsent reports whether the resource need not exist, for now or at all.
	MayBeAbsent bool
	// Pending is the reason why the next apply would create, replace, rename or remove the resource
	// as a whole; "" if it would not.
	Pending string
	// Replaces lists the fields that cannot be changed in place. If the live value of one differs,
	// the next apply destroys the resource and creates it again. Replaced reports whether a plan
	// showed such a replacement.
	Replaces []Replacement
	Replaced bool
	// Destroyed reports whether a plan showed that the next apply destroys the resource.
	Destroyed bool
	// InstalledBy is the live resource, if any, whose Record contains the last applied state or
	// whose Inventory lists the resource; zero if there is none.
	InstalledBy Ref
	// Fetch is the commit that the controller of the resource must fetch; nil if the declaration
	// does not show it.
	Fetch *Fetch
	// Lost reports whether there was no record of applied state to read. The resource may have been
	// applied nevertheless, if the record is lost.
	Lost bool
	// Imported reports whether a plan showed that the next apply imports the resource into the
	// state. Recorded is then the live resource, which was never applied.
	Imported bool
	// Causes describes data sources that returned other values than during the last apply. The key
	// is the top-level field whose declared value refers to them; "" stands for the existence of
	// the resource.
	Causes map[string]string
}

// ClaimHistory describes earlier states of a claim.
type ClaimHistory struct {
	// Since is the time of the last change of the declaration; zero if unknown.
	Since time.Time
	// Evidence is set if the verdict on a field of the claim depends on it; nil until it was
	// collected.
	Evidence *Evidence
	// AuditEvents lists the entries of the declaration's own log that show who wrote the claim,
	// sorted by time. Their Fields are paths in Value. The Action of an entry that caused the claim
	// to exist is Created, even if the entry is an edit.
	AuditEvents []AuditEvent
	// WriterUnknown is the reason why that log may lack the writer of the claim; "" if the
	// declaration has no log.
	WriterUnknown string
	// LogUnread is the reason why that log could not be read, with the next step; "" if it was
	// read. A difference without a known author may then be a change of the claim.
	LogUnread string
}

// A LiveRead is a live resource as read by the engine of a declaration. It is used where the source
// reads little more than that the resource exists.
type LiveRead struct {
	// Value is the live value in the form of Claim.Value. It is null if the engine found no
	// resource, and an empty map if only the existence is compared.
	Value Value
	// Schema describes how Value is compared.
	Schema *Schema
	// At is the time at which the engine had read the resource; zero if only the existence is
	// compared.
	At time.Time
}

// Read reports whether the engine attempted to read the resource, whether or not it found one. It
// returns false for nil.
func (r *LiveRead) Read() bool { return r != nil && !r.At.IsZero() }

// A Replacement is a field that cannot be changed in place.
type Replacement struct {
	// Path is the path of the field without list keys: "disk.size".
	Path string
	// Larger reports whether only a decrease requires a replacement, so that the field can grow in
	// place.
	Larger bool
}

// A Lens converts live resources to the form of a declaration, such as the attributes of a
// Terraform type. Its methods are pure functions. Claims of the same form share one Lens.
type Lens interface {
	// Schema returns the schema by which the result of View is compared with declared values.
	Schema() *Schema
	// View converts a value of the live kind to the form of the declaration.
	View(live Value) Value
	FieldMapper
	// IsShared reports whether each claim declares one element of the live list at LivePath, such
	// as one route of a router. Claims with different values then do not contradict each other.
	IsShared(path string) bool
	// Misfit returns the fields that View reads but that no resource with the schema can have, such
	// as misspelt ones; "" if there are none.
	Misfit(live *Schema) string
}

// A FieldMapper converts fields in the form of a declaration to live fields.
type FieldMapper interface {
	// LivePath returns the path in live that corresponds to a path in the result of View, such as
	// "net1.bridge" for "network_device[1].bridge". It returns "" if there is none.
	LivePath(live Value, path string) string
	// LiveValue returns the value that the live field at LivePath has if the field at path has the
	// value v. If v does not determine that value, known is false.
	LiveValue(live Value, path string, v Value) (value Value, known bool)
}

// LiveSource returns the name of the source for the live state that the engine of a declaration reads
// itself, such as a Terraform plan. No configured source can have this name.
func LiveSource(declaration string) string { return "plan:" + declaration }

// A Declaration is the result of reading one configured declaration once.
type Declaration struct {
	Name string
	// Governs lists the names of the sources that the declaration governs.
	Governs []string
	// Inventory reports whether the declaration is an inventory of existing resources of any
	// origin. A resource that the inventory lacks is unmanaged even if another declaration contains
	// it, and vice versa.
	Inventory bool
	// Revision is the commit that was read, or "". Revised is the time of that commit.
	Revision string
	Revised  time.Time
	// Repository is the URL of the git repository if the positions of the claims are paths in it;
	// "" otherwise.
	Repository string
	// DeployWindow is how long after a commit the value that it replaced may still be applied
	// without being Bypassed.
	DeployWindow time.Duration
	// ApplyBeforeMerge reports whether values that only another branch or a pull request declares
	// may be applied. Such values are Pending if it is set, and Bypassed otherwise.
	ApplyBeforeMerge bool
	// Claims are sorted by kind, id and address.
	Claims []Claim
	// Includes lists the resources that the declaration covers without a claim on each of them.
	// They are not unmanaged.
	Includes []Included
	// Scopes are the scopes in which every live resource is expected to be declared. KeepsKinds reports whether they
	// are the kinds of the claims: those of earlier readings count as well, because a resource that leaves a record
	// of applied state may remain.
	Scopes     []Scope
	KeepsKinds bool
	// NotGoverned lists the places into which the declaration puts objects and which are not in
	// Scopes, sorted. Source and Declaration of the elements are empty.
	NotGoverned []NotGoverned
	// Watches reports whether new resources with Watched are expected to be declared outside of
	// Scopes, too.
	Watches bool
	// Problems lists the parts that could not be read. Resources that they may declare are not
	// unmanaged.
	Problems []Problem
	// Notes lists remarks that are no drift on parts that were read, such as programs that a plan
	// runs.
	Notes []Note
	// Kinds are the kinds that the declaration itself defines (custom resources).
	Kinds map[string]*Kind
	// Live is the live state that the engine of the declaration read, as a Terraform plan does
	// through its providers; nil if it read none. Live.Source is the name of the declaration.
	Live *Snapshot
	// Decisions lists the decisions about findings that a file of the declaration contains.
	Decisions []Decision
	// States lists the records of applied state that were read, sorted by address.
	States []StateRead
	// Removals lists the claims that were removed according to the declaration's own log, sorted by
	// time.
	Removals []Removal
	// LogUnread is the Claim.LogUnread of every claim.
	LogUnread string
	// Tally counts the declared resources by whether they could be compared; nil if they are not
	// counted.
	Tally *Tally
	// Violations lists the checks that parts of the declaration fail.
	Violations []PartViolation
	// PinsChecked reports whether driftd checked that the versions in the declaration are pinned.
	// Unpinned reports whether one of them is not.
	PinsChecked, Unpinned bool
	// Undetermined reports whether driftd did not check that equal inputs give equal results.
	Undetermined bool
}

// An Included is a resource of a source, identified by its ID, or by an identity if the ID is
// empty.
type Included struct {
	Source string
	Ref
	Identity
}

// A Removal is a claim that was removed from a declaration. Source, Kinds and Identities are those
// of the claim.
type Removal struct {
	Source     string
	Kinds      []string
	Identities []Identity
	// Actor is who removed it, and when.
	Actor Actor
}

// A StateRead describes one record of applied state, such as a Terraform state, as it was read.
type StateRead struct {
	// Address is the location: "./terraform.tfstate", "s3://bucket/key".
	Address string `json:"address"`
	// Lineage and Serial identify what was stored. Both are zero if there is no record at the address; such a
	// reading is not kept.
	Lineage string `json:"lineage"`
	Serial  int64  `json:"serial"`
	// Hash is the SHA-256 of its content, in hex.
	Hash string `json:"hash"`
	// Tool is the program that printed the content, with its version; "" if the content was read as
	// stored. Hashes of different tools are not comparable.
	Tool string `json:"tool,omitempty"`
	// Version is the stored version of the program that wrote the record last, such as "1.11.4"; ""
	// if unknown. Newest is the newest such version in this or an earlier reading.
	Version string `json:"version,omitempty"`
	Newest  string `json:"newest,omitempty"`
	// PlannedBy is the version of the program that made a plan from the record; "" without a plan.
	PlannedBy string `json:"planned_by,omitempty"`
	// Written lists the times of the last readings in which the serial differed from the reading
	// before. They are at least a day apart.
	Written []time.Time `json:"written,omitempty"`
	// Kinds are the kinds of the Scopes of a declaration that keeps them, sorted.
	Kinds []string `json:"kinds,omitempty"`
	// Dependencies lists the data sources of the root that read resources declared elsewhere,
	// sorted by address.
	Dependencies []DependencyRead `json:"dependencies,omitempty"`
}

// Exists reports whether there was a record at the address. Every apply that writes one gives it a serial.
func (s *StateRead) Exists() bool { return s.Serial != 0 || s.Lineage != "" }

// A DependencyRead describes one data source that reads resources declared elsewhere. It contains
// no values.
type DependencyRead struct {
	// Address is the address of the instance: module.m["a"].data.terraform_remote_state.net.
	Address string `json:"address"`
	// Unread reports whether this plan did not read the data source, because the read failed or
	// only an apply can read it.
	Unread bool `json:"unread,omitempty"`
	// Read is the time of the last scan that read the data source; zero if none did.
	Read time.Time `json:"read,omitzero"`
	// Changed lists the outputs and attributes whose values differed, in that scan, from those in
	// the last apply. Since is the time of the first scan with this result.
	Changed []string  `json:"changed,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// A Tally counts the resources of a declaration. Resources is the sum of Compared, Without, the
// counts in Unmapped, and Unchecked.
type Tally struct {
	Resources int `json:"resources"`
	Compared  int `json:"compared"`
	// ExistenceOnly counts the resources in Compared of which only the existence was compared.
	ExistenceOnly int `json:"existence_only,omitempty"`
	// Without counts the resources of types without a live side, such as an action or a random
	// number.
	Without int `json:"without_live_side"`
	// Unmapped counts the resources of types that no mapping table contains, by type.
	Unmapped  map[string]int `json:"unmapped"`
	Unchecked int            `json:"unchecked"`
}

// A Scope is a set of resources by kind and place. An empty field matches all kinds or all places.
type Scope struct{ Kind, Place string }

// Contains reports whether the scope contains resources of the kind and place.
func (s Scope) Contains(kind, place string) bool {
	return (s.Kind == "" || s.Kind == kind) && (s.Place == "" || s.Place == place)
}

// A Problem is a part of a declaration that could not be read.
type Problem struct {
	Address string `json:"address"`
	Reason  string `json:"reason"`
	// Source is the name of the source from which the declaration is read, if that did not answer;
	// "" otherwise. The finding then refers to the source, and is grouped with other parts that
	// could not be read from it.
	Source string `json:"-"`
	// Bounded reports whether the part can declare only resources in Extents. Otherwise it may
	// declare anything in the Scopes of its declaration.
	Bounded bool     `json:"-"`
	Extents []Extent `json:"-"`
}
