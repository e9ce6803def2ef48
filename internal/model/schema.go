package model

// A Schema describes how one node of a tree is compared. Schemas may be recursive. With a nil
// Schema, values are compared as they are: maps by field, and lists in order.
type Schema struct {
	// Fields maps the names of a map's fields to their schemas.
	Fields map[string]*Schema
	// Each is the schema of the elements of a list, or of the values of a map with arbitrary field
	// names.
	Each *Schema
	// Atomic reports whether a single writer owns the map with everything in it.
	Atomic bool
	// List determines how the elements of a list are paired.
	List ListType
	// Keys lists the fields that identify an element of a Keyed list, or the default key of a
	// PropertyString. In a Bag or an Ordered list, two different elements with equal Keys are one
	// element that changed.
	Keys []string
	// Foreign lists prefixes of the names of fields that controllers and delivery tools add to the
	// declared fields of a map.
	Foreign []string
	// Marks lists the prefixes of those that the writer of a declaration adds to it.
	Marks []string

	// Format determines which spellings of a scalar are equal.
	Format Format
	// Default is the value that the system sets if none is given; nil if there is none.
	Default *Value
	// Content reports whether an empty value differs from an absent one. Examples are an entry of a
	// map with arbitrary field names, and an empty selector, which selects everything.
	Content bool
	// Unset reports whether the system reads an empty value, such as "" or 0, as an absent one, and
	// sets its own instead. It excludes Content.
	Unset bool
	// Location reports whether the field is the place of the object. A different value then means
	// that the object was moved.
	Location bool
	// Volatile reports whether the field is never drift.
	Volatile bool
	// Masked reports whether the system never returns the value. The field cannot be compared, and
	// only a log can show that it was changed.
	Masked bool
	// Refers describes the objects to which the value, or each element of a list without a schema
	// of its own, refers. It does not affect comparisons.
	Refers Reference

	Extra
}

// An Extra describes how a live value that the claim does not declare is judged. With the zero
// Extra, the rules of the claim and of the writers of the resource decide. Examples of fields with
// each mark:
//
//	Generated  the clusterIP of a Service, the MAC address of a guest.
//	Own        the mark of a guest that it is a template.
//	Derived    the labels of a Job that come from its template, the size of a NetBox IP range.
//	Optional   the disks of a virtual machine, where NetBox lists none.
//	Stray      an argument of a guest that the mapping of its Terraform type does not have.
//	Closed     all fields of a built-in Kubernetes kind.
//	Newer      a field of the cluster's release that the built-in schema of the kind lacks.
//	Filled     a bare Pod, in which admission sets tolerations and volumes.
type Extra struct {
	// Generated reports whether the system allocates a value if none is declared. An undeclared
	// value is then never drift.
	Generated bool
	// Own reports whether a clone never has the value of the resource from which it was created.
	Own bool
	// Derived reports whether the system sets a value that depends on other fields. An undeclared
	// value is then drift only if it was edited later.
	Derived bool
	// Derive returns the value that the system derives from the value that contains the field, or
	// null if it derives none. It is nil if the rule is unknown. Only Derived and Generated fields have it.
	Derive func(holder Value) Value
	// Optional reports whether an absent field is left to other writers, even in a complete claim.
	Optional bool
	// Stray reports whether no claim can declare the field. A value other than the default was then
	// set by another writer.
	Stray bool
	// Closed reports whether every default below the field is known. An undeclared live value that
	// is not a default was then set by a writer, even if the system keeps no record of writers.
	Closed bool
	// Newer reports whether the field, with everything below it, is newer than the defaults of
	// Closed, so that the system may set a value.
	Newer bool
	// Filled reports whether the system sets values that no schema describes.
	Filled bool
	// Complete returns a map with the fields that the system sets in it according to its other fields.
	// It is nil if there are none.
	Complete func(Value) Value
}

// A ListType determines how the elements of two lists are paired.
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

// A Format determines which spellings of a scalar are equal.
type Format uint8

// The formats. A Quantity is a number with an SI or binary suffix ("1000m" equals "1"). An
// IntOrString is a number or its text (80 equals "80"). A Boolean is 0, 1, yes, no, on, off, true
// or false. An Instant is an RFC 3339 time, and a Duration a Go duration ("90s" equals "1m30s").
// CaseFold ignores case. An Address is an IP address or prefix. JSON compares the decoded value. A
// PropertyString is "a=1,b=2" in any order, in which a part without a name belongs to the first of
// Schema.Keys. JSON and PropertyString use Fields and Each of the schema. Base64 ignores line
// breaks.
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

// Field returns the schema of the named field of a map: its entry in Fields, or else Each. It
// returns nil if there is neither, or if s is nil.
func (s *Schema) Field(name string) *Schema {
	if s == nil {
		return nil
	}
	if f, ok := s.Fields[name]; ok {
		return f
	}
	return s.Each
}

// Element returns the schema of the elements of a list. It returns nil if there is none, or if s is
// nil.
func (s *Schema) Element() *Schema {
	if s == nil {
		return nil
	}
	return s.Each
}
