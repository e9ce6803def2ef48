package model

// A Schema says how one node of a tree is compared. Schemas may be recursive.
// A nil Schema compares values as they stand: maps by field, lists in order.
type Schema struct {
	// Fields of a map, by name.
	Fields map[string]*Schema
	// Each is the schema of a list's elements, or of the values of a map whose
	// field names are free.
	Each *Schema
	// Atomic reports that one writer owns a map with all that is in it.
	Atomic bool
	// List says how the elements of a list are paired.
	List ListType
	// Keys are the fields that name an element of a Keyed list, or the default
	// key of a PropertyString. In a Bag or an Ordered list, elements that differ are one
	// that changed only where their Keys are equal.
	Keys []string
	// Format says which spellings of a scalar are one value.
	Format Format
	// Default is the value that the system fills in when none is given.
	Default *Value
	// Content reports that an empty value says something: an entry of a map with
	// free names is there or is not, and an empty selector selects everything.
	Content bool
	// Generated reports that the system allocates a value when none is declared,
	// so that an undeclared one is never drift.
	Generated bool
	// Derived reports that the system fills in a value that depends on other
	// fields; an undeclared one is drift only when a hand set it later.
	Derived bool
	// Derive returns the value that the system derives, from the one that holds the
	// field: any other one was set. Null where it derives none; nil where the rule is
	// not known. Only Derived fields have one.
	Derive func(holder Value) Value
	// Volatile reports that the field is never drift.
	Volatile bool
	// Foreign are prefixes of names of a map's fields that controllers and
	// delivery tools put beside what is declared.
	Foreign []string
	// Location reports that the field says where the object lies: another value
	// there means that it was moved.
	Location bool
	// Optional reports that leaving the field out leaves it to whoever sets it,
	// even in a claim that is complete.
	Optional bool
	// Stray reports that nothing in the claim's words can declare the field: a
	// value that is not the default was put there by somebody.
	Stray bool
	// Masked reports that the system never shows the value: it cannot be compared,
	// and only a log can tell that somebody changed it.
	Masked bool
	// Closed reports that every default below is known, so that a live value
	// that nobody declared and that is no default was put there by somebody,
	// even where the system keeps no record of writers.
	Closed bool
	// Newer reports that the field, with all below it, is newer than the defaults
	// that Closed stands for: the system may fill in a value.
	Newer bool
	// Filled reports that the system fills in values that no schema describes.
	Filled bool
}

// ListType says how the elements of two lists are paired.
type ListType uint8

// The list types. An Ordered list is one value whose order counts; of a Bag,
// order does not count; a Set has scalar elements that are owned one by one; a
// Keyed list has elements named by Schema.Keys. The elements of a Sequence are
// paired by what they hold, in order, and reported by position.
const (
	Ordered ListType = iota
	Bag
	Set
	Keyed
	Sequence
)

// Format says which spellings of a scalar are one value.
type Format uint8

// The formats. Quantity is Kubernetes' ("1000m" is "1"); IntOrString takes
// "80" and 80 for one; Boolean takes 0, 1, yes, no, on, off, true and false;
// Instant is an RFC 3339 time; Duration a Go duration ("90s" is "1m30s");
// CaseFold ignores case; Address is an IP address or prefix in any notation;
// JSON compares what is encoded; PropertyString is "a=1,b=2" in any order, where
// a part without a name is the first of Schema.Keys; both go by the schema's
// Fields and Each. Base64 does not count line breaks.
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
