// Package mapping knows what the types of infrastructure-as-code providers
// stand for in live systems. Tables, which are data, say of each type which
// live resource an instance of it is, which attribute is which live field, what
// a missing value means on either side, and what has no live side at all. It is
// pure: it reads the tables once and touches nothing else.
//
// A Type turns the attributes of one instance into a Mapped: the live resource
// that it claims, the attributes that a table knows, and the Lens that shows
// the live resource in the attributes' words, so that the two can be compared
// attribute by attribute. docs/mapping.md says how a table is written.
package mapping
