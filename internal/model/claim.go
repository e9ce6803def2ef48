package model

import (
	"time"
)

// A Claim is what one declaration declares for one resource.
type Claim struct {
	Declaration string
	// Source is the source of the resource; "" means every governed source.
	Source string
	// Address is the position of the claim: "deploy/web.yaml:12", or a Terraform
	// address.
	Address string
	// Position is the file and the line of the claim if Address is not a position:
	// "infra/main.tf:12"; "" if they are unknown.
	Position string
	// AlsoIn are the addresses of other files that determine the claim, such as patches of a
	// kustomization.
	AlsoIn []string
	Kind   string
	ID     string
	Place  string
	Name   string
	// Version is the API version of the claim.
	Version string
	// Value is the resource as declared. Only fields in Value are compared.
	Value Value
	// Written is the original Value, if a source was asked for its canonical form; nil
	// otherwise.
	Written *Value
	// Recorded is the resource as last applied, from the declaration's own record; nil
	// without such a record.
	Recorded *Value
	// RecordOnly reports whether Value is what was last applied, and the declared value
	// is unknown (a Terraform state without its configuration).
	RecordOnly bool
	// Complete reports whether Value covers every field of Lens or of the kind's
	// schema: a field that is not in Value is declared absent.
	Complete bool
	// Lens converts live resources to the form of the claim; nil if the claim has the
	// form of the live kind.
	Lens Lens
	// LiveRead is the live resource as the engine of the declaration read it; nil if the source read it
	// whole. A claim with it has no Lens.
	LiveRead *LiveRead
	// Delegated lists the fields that another declared object determines.
	Delegated []Delegation
	// Otherwise are further values of the claim, each of which the declaration has for other clusters. A delegation
	// names each field that they have otherwise than Value.
	Otherwise []Value
	// Template is the resource from which the claimed one was created. If Value has a
	// default, or no value, the value of the template is equivalent.
	Template Ref
	// Unenforced are the fields that the tool that applies the declaration does not put back. They are compared like all others.
	Unenforced []Unenforced
	// Unchecked is why the claim cannot be compared; "" if it can.
	Unchecked string
	// Violations are the checks that the claim fails, sorted by Check.
	Violations []Violation

	ClaimMatching
	ClaimApply
	ClaimHistory
}

// ClaimMatching is how the resource of a claim is found.
type ClaimMatching struct {
	// Identities identify the resource if no resource has the ID. The most reliable
	// one is first. Consecutive identities of one kind count together.
	Identities []Identity
	// ByIdentity reports whether ID only names the claim while no resource has its
	// identities. AltKinds are the kinds, other than Kind, that the resource may have.
	ByIdentity bool
	AltKinds   []string
	// Cohort names a group of claims. If no claim of the group matches a resource, they
	// are assumed to be about another source, and are not compared; Cohort is the
	// reason. "" for a claim without a group.
	Cohort string
	// AltID is the ID to use if the live system reports that the kind has no places; "" if
	// the declaration contains that.
	AltID string
	// PlaceAssumed reports whether the declaration contains neither the place nor whether the kind has places: Place is the
	// default.
	PlaceAssumed bool
	// Doubt is why a claim that is matched by identities may have more of them than were
	// read: its resource may exist although no identity matches.
	Doubt string
	// LogNames name the resource, too, in the log of its source: what a log has that describes a
	// resource in place of its ID.
	LogNames []string
	// Covers are other resources that the claim includes without comparing them: they
	// are not unmanaged.
	Covers []Ref
	// CoversChildren are kinds of the resources that the claim includes if its resource is their
	// Parent.
	CoversChildren []string
	// Children are fields of the claim whose elements are resources of their own in the source.
	// A field is compared only if the source has not read all of these, because each of them is
	// judged by itself.
	Children []Children
	// OnlyLive reports whether the claim does not apply while its resource is neither live nor
	// recorded.
	OnlyLive bool
	// Former is the earlier ID of the claim's resource, if another resource has replaced
	// it.
	Former string
}

// Children are the resources of one kind that the elements of a top-level field are.
type Children struct{ Field, Kind string }

// ClaimApply is what the next apply does with the resource of a claim.
type ClaimApply struct {
	// MayBeAbsent reports whether the resource need not exist (yet).
	MayBeAbsent bool
	// Pending is why the next apply would create, replace, rename or remove the resource
	// as a whole; "" if it would not.
	Pending string
	// Replaces are the fields that cannot be changed in place: where the live value is
	// another one, the next apply destroys the resource and creates it again. Replaced
	// reports whether a plan showed that it does.
	Replaces []Replacement
	Replaced bool
	// Destroyed reports whether a plan showed that the next apply destroys the resource.
	Destroyed bool
	// InstalledBy is the live resource whose Record shows what was last applied, or whose
	// Inventory lists the resource, if it is live; zero if there is none.
	InstalledBy Ref
	// Fetch is what the controller of the resource must fetch; nil if the declaration does not show it.
	Fetch *Fetch
	// Imported reports whether a plan showed that the next apply takes the resource into the
	// state. Recorded is then the live resource, which was never applied.
	Imported bool
	// Causes are data sources that returned other values than to the last apply, as text, by the top-level field whose declared value
	// refers to them; "" is the field for the existence of the resource.
	Causes map[string]string
}

// ClaimHistory is what is known of earlier states of a claim.
type ClaimHistory struct {
	// Since is when the declaration last changed; zero if unknown.
	Since time.Time
	// Evidence is set if the verdict on a field of the claim depends on it; nil while it
	// was not collected.
	Evidence *Evidence
	// AuditEvents are the entries of the declaration's own log on who wrote the claim,
	// by time. Their fields are paths in Value. The action of an entry that caused the
	// claim to exist is Created, even if the entry is an edit.
	AuditEvents []AuditEvent
	// WriterUnknown is why that log may lack the writer of the claim; "" if the declaration
	// has no log.
	WriterUnknown string
	// LogUnread is why that log could not be read, and what to do; "" if it was read.
	// A difference whose author is unknown may then be a change of the claim.
	LogUnread string
}

// A LiveRead is a live resource of which the source reads little more than that it exists, as the
// engine of a declaration read it.
type LiveRead struct {
	// Value is the live value in the form of Claim.Value; null if the engine found no resource, and
	// an empty map if only the existence is compared.
	Value Value
	// Schema describes how Value is compared.
	Schema *Schema
	// At is when the engine had read it; zero if only the existence is compared.
	At time.Time
}

// Read reports whether the engine read the resource, or found none.
func (r *LiveRead) Read() bool { return r != nil && !r.At.IsZero() }

// A Replacement is a field that cannot be changed in place.
type Replacement struct {
	// Path is its path without keys: "disk.size".
	Path string
	// Larger reports whether it only cannot be made smaller: a larger live value
	// requires the replacement, a smaller one does not.
	Larger bool
}

// A Lens converts live resources to the form of a declaration, such as the attributes of
// a Terraform type. It is pure. Claims of the same form share one Lens.
type Lens interface {
	// Schema returns the schema for comparing the result of View with declared values.
	Schema() *Schema
	// View returns a value of the live kind in the form of the declaration.
	View(live Value) Value
	// LivePath returns the path in live that corresponds to a path in the result of
	// View ("net1.bridge" for "network_device[1].bridge"), or "".
	LivePath(live Value, path string) string
	// LiveValue returns the value of the field of live at LivePath if the field at path
	// has the value v. known is false if it does not follow from v alone.
	LiveValue(live Value, path string, v Value) (value Value, known bool)
	// IsShared reports whether each claim declares one element of the live list at
	// LivePath, such as a route of a router. Different values there do not contradict
	// each other.
	IsShared(path string) bool
	// Misfit returns the fields that View reads and that no resource with the schema has,
	// because they are misspelt, for example; "" if there are none.
	Misfit(live *Schema) string
}

// A Declaration is the result of reading one declaration once.
type Declaration struct {
	Name string
	// Governs are the names of the sources that it governs.
	Governs []string
	// Inventory reports whether it lists existing resources of any origin. A
	// resource that it lacks is unmanaged although another declaration has it, and
	// vice versa.
	Inventory bool
	// Revision is the commit that was read, or "", and Revised its time.
	Revision string
	Revised  time.Time
	// Repository is the URL of the git repository, if the positions of the claims are paths in
	// it; "" otherwise.
	Repository string
	// DeployWindow is how long after a commit replaced a value that value may still be
	// applied without being Bypassed.
	DeployWindow time.Duration
	// ApplyBeforeMerge reports whether values that only another branch or pull request
	// declares may be applied: they are Pending then, and Bypassed otherwise.
	ApplyBeforeMerge bool
	// Claims are sorted by kind, id and address.
	Claims []Claim
	// Includes are resources that it declares without a claim on each of them: they are not
	// unmanaged.
	Includes []Included
	// Scopes are the scopes in which every live resource is expected to be declared.
	Scopes []Scope
	// NotGoverned are the places into which it puts objects and which are not among
	// Scopes, sorted. Their Source and Declaration are empty.
	NotGoverned []NotGoverned
	// Watches reports whether new resources that are Watched are expected to be
	// declared also outside of Scopes.
	Watches bool
	// Problems are parts that could not be read. Resources that they may declare are
	// not unmanaged.
	Problems []Problem
	// Notes are remarks about parts that were read and are no drift, such as programs that
	// a plan runs.
	Notes []Note
	// Kinds are the kinds that the declaration itself defines (custom resources).
	Kinds map[string]*Kind
	// Live is what the declaration's own engine read of the live side (a Terraform plan
	// reads it through its providers); nil if it reads none. Its Source is the
	// declaration's name.
	Live *Snapshot
	// Decisions are the decisions about findings in a file of the declaration.
	Decisions []Decision
	// States are the records that were read, by address.
	States []StateRead
	// Removals are the claims that were removed according to the declaration's own log, by
	// time.
	Removals []Removal
	// LogUnread is Claim.LogUnread of every claim.
	LogUnread string
	// Tally counts how much of what is declared could be compared; nil if that is not
	// counted.
	Tally *Tally
	// Violations are the failed checks of its parts.
	Violations []PartViolation
	// PinsChecked reports whether it was checked that its versions are pinned, and Unpinned
	// whether one is not.
	PinsChecked, Unpinned bool
	// Undetermined reports whether it was not checked that equal inputs give equal results.
	Undetermined bool
}

// An Included is a resource of a source, by its ID, or by an identity if it has no ID.
type Included struct {
	Source string
	Ref
	Identity
}

// A Removal is a claim that the declaration does not make any more. Source, Kinds and
// Identities are those of the claim.
type Removal struct {
	Source     string
	Kinds      []string
	Identities []Identity
	// Actor is who removed it, and when.
	Actor Actor
}

// A StateRead describes one record of what was applied, when it was read.
type StateRead struct {
	// Address is the location: "./terraform.tfstate", "s3://bucket/key".
	Address string `json:"address"`
	Lineage string `json:"lineage"`
	Serial  int64  `json:"serial"`
	// Hash is the SHA-256 of its content, in hex.
	Hash string `json:"hash"`
	// Tool is the program that printed the content, with its version, or "" where it was read
	// as it is stored. Hashes of different tools do not compare.
	Tool string `json:"tool,omitempty"`
	// Version is the version of the program that wrote it last ("1.11.4"), as stored; "" if it is not known. Newest is
	// the newest one that this or an earlier reading found.
	Version string `json:"version,omitempty"`
	Newest  string `json:"newest,omitempty"`
	// PlannedBy is the version of the program that made a plan from it; "" without a plan.
	PlannedBy string `json:"planned_by,omitempty"`
	// Written are the times of the last readings with another serial than the reading before, at least a day apart.
	Written []time.Time `json:"written,omitempty"`
	// Dependencies are the data sources of the root that read what is declared elsewhere, sorted by address.
	Dependencies []DependencyRead `json:"dependencies,omitempty"`
}

// A DependencyRead is what is known of one data source that reads what is declared elsewhere. It has no values.
type DependencyRead struct {
	// Address is that of the instance: module.m["a"].data.terraform_remote_state.net.
	Address string `json:"address"`
	// Unread is set if this plan did not read it, because the reading failed or only an apply can read it.
	Unread bool `json:"unread,omitempty"`
	// Read is the time of the last scan that read it; zero if none did.
	Read time.Time `json:"read,omitzero"`
	// Changed are the names of the outputs and attributes in which it then returned another value than to the last apply, and Since is the
	// time of the first scan that found it so.
	Changed []string  `json:"changed,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// A Tally counts the resources of a declaration: Resources = Compared + Without +
// Unmapped + Unchecked.
type Tally struct {
	Resources int `json:"resources"`
	Compared  int `json:"compared"`
	// ExistenceOnly counts those of Compared of which only the existence was compared.
	ExistenceOnly int `json:"existence_only,omitempty"`
	// Without counts the resources of types without a live side (an action, a random
	// number).
	Without int `json:"without_live_side"`
	// Unmapped counts, by type, the resources of types that are in no mapping table.
	Unmapped  map[string]int `json:"unmapped"`
	Unchecked int            `json:"unchecked"`
}

// A Scope is a kind in a place. An empty field stands for all kinds or places.
type Scope struct{ Kind, Place string }

// Contains reports whether a resource of this kind and place lies in the scope.
func (s Scope) Contains(kind, place string) bool {
	return (s.Kind == "" || s.Kind == kind) && (s.Place == "" || s.Place == place)
}

// A Problem is a part of a declaration that could not be read.
type Problem struct {
	Address string `json:"address"`
	Reason  string `json:"reason"`
	// Source is the source that the declaration is read from and that gave no answer;
	// "" if there is none. The finding is about this source, so that it shares its
	// cause with what else could not be read there.
	Source string `json:"-"`
	// Bounded reports that the part declares nothing outside of Extents. A part
	// that is not bounded may declare anything in its declaration's Scopes.
	Bounded bool     `json:"-"`
	Extents []Extent `json:"-"`
}
