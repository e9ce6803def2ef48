package model

// A Schema describes how one node of a tree is compared. Schemas may be recursive. A nil
// Schema compares values as they are: maps by field, lists in order.
type Schema struct {
	// Fields of a map, by name.
	Fields map[string]*Schema
	// Each is the schema of a list's elements, or of the values of a map with any field
	// names.
	Each *Schema
	// Atomic reports whether one writer owns a map with everything in it.
	Atomic bool
	// List is how the elements of a list are paired.
	List ListType
	// Keys are the fields that identify an element of a Keyed list, or the default key of
	// a PropertyString. In a Bag or an Ordered list, different elements with equal Keys are
	// one that changed.
	Keys []string
	// Foreign are prefixes of names of a map's fields that controllers and delivery tools
	// add to the declared ones.
	Foreign []string

	// Format is which spellings of a scalar are equal.
	Format Format
	// Default is the value that the system sets if none is given.
	Default *Value
	// Content reports whether an empty value differs from an absent one: an entry of a map
	// with any field names exists or does not, and an empty selector selects everything.
	Content bool
	// Location reports whether the field is the place of the object: another value means
	// that the object was moved.
	Location bool
	// Volatile reports whether the field is never drift.
	Volatile bool
	// Masked reports whether the system never returns the value: it cannot be compared,
	// and only a log can show that it was changed.
	Masked bool
	// Refers is what the value, or each element of a list without a schema of its own, refers
	// to. It does not affect comparisons.
	Refers Reference

	Extra
}

// An Extra describes how a live value is judged that its claim does not declare. The
// zero value leaves it to the rules of the claim and of the writers of the resource.
// Examples of fields with each mark:
//
//	Generated  the clusterIP of a Service, the MAC address of a guest.
//	Derived    the labels of a Job that come from its template, the size of a NetBox IP range.
//	Optional   the disks of a virtual machine, where NetBox lists none.
//	Stray      an argument of a guest that the mapping of its Terraform type does not have.
//	Closed     all fields of a built-in Kubernetes kind.
//	Newer      a field of the cluster's release that the built-in schema of the kind lacks.
//	Filled     a bare Pod, in which admission sets tolerations and volumes.
type Extra struct {
	// Generated reports whether the system allocates a value if none is declared, so that
	// an undeclared one is never drift.
	Generated bool
	// Derived reports whether the system sets a value that depends on other fields; an
	// undeclared one is drift only if it was edited later.
	Derived bool
	// Derive returns the value that the system derives, from the value that contains the
	// field. It returns null if the system derives none. It is nil if the rule is not
	// known. Only Derived fields have one.
	Derive func(holder Value) Value
	// Optional reports whether an absent field is left to other writers, even in a claim
	// that is complete.
	Optional bool
	// Stray reports whether no claim can declare the field: a value that is not the
	// default was set by another writer.
	Stray bool
	// Closed reports whether every default below is known: an undeclared live value that
	// is no default was set by a writer, even if the system keeps no record of writers.
	Closed bool
	// Newer reports whether the field, with all below it, is newer than the defaults of
	// Closed: the system may set a value.
	Newer bool
	// Filled reports whether the system sets values that no schema describes.
	Filled bool
}

// A ListType is how the elements of two lists are paired.
type ListType uint8

// The list types. An Ordered list is one value, with an order; a Bag is one value without
// an order. A Set has scalar elements with owners of their own. A Keyed list has elements
// that Schema.Keys identify. The elements of a Sequence are paired by their values, in
// order, and reported by position.
const (
	Ordered ListType = iota
	Bag
	Set
	Keyed
	Sequence
)

// A Format is which spellings of a scalar are equal.
type Format uint8

// The formats. A Quantity is a number with an SI or binary suffix ("1000m" equals "1"). An
// IntOrString may be 80 or "80". A Boolean may be 0, 1, yes, no, on, off, true or false. An
// Instant is an RFC 3339 time, a Duration a Go duration ("90s" equals "1m30s"). CaseFold
// ignores case. An Address is an IP address or prefix. JSON compares the encoded value. A
// PropertyString is "a=1,b=2" in any order, where a part without a name is the first of
// Schema.Keys. The last two use the schema's Fields and Each. Base64 ignores line breaks.
const (
	Plain Format = iota
	Quantity
	IntOrString
	Boolean
	Instant
	Duration
	CaseFold
	Address
	JSON
	PropertyString
	Base64
)

// Field returns the schema of a map's field, or nil.
func (s *Schema) Field(name string) *Schema {
	if s == nil {
		return nil
	}
	if f, ok := s.Fields[name]; ok {
		return f
	}
	return s.Each
}

// Element returns the schema of a list's elements, or nil.
func (s *Schema) Element() *Schema {
	if s == nil {
		return nil
	}
	return s.Each
}
