package model

import (
	"time"
)

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
	// Evidence is set where a field of the claim is live and recorded, and
	// declared otherwise; nil while it was not asked for.
	Evidence *Evidence
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
	// DeployWindow is how long after a commit replaced a value that value may
	// still be applied without being Bypassed.
	DeployWindow time.Duration
	// ApplyBeforeMerge reports whether what is declared on another branch or pull
	// request alone may be applied: it is Pending then, and Bypassed otherwise.
	ApplyBeforeMerge bool
	// Claims are sorted by kind, id and address.
	Claims []Claim
	// Scopes are where everything live is expected to be declared.
	Scopes []Scope
	// NotGoverned are places into which it puts objects and which are not among
	// Scopes, sorted; NotGoverned.Source and Declaration are empty.
	NotGoverned []NotGoverned
	// Watches reports that new resources which are Watched are expected to be
	// declared also outside of Scopes.
	Watches bool
	// Problems are parts that could not be read. What they may declare is not
	// called unmanaged.
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
	// Bounded reports that the part declares nothing outside of Extents. A part
	// that is not bounded may declare anything in its declaration's Scopes.
	Bounded bool     `json:"-"`
	Extents []Extent `json:"-"`
}
