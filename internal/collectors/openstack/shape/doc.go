// Package shape knows how OpenStack writes things: it turns the rows of its
// lists into canonical values, so that the same cloud read twice gives equal
// trees; it joins what several services tell of one thing; and it says how each
// kind is compared. It talks to nobody.
//
// One table holds every kind: whose list it is, which fields are read and in
// which form, and how drift of them is rated.
//
//	kinds := shape.Kinds()                     // in the order in which to read them
//	shaper := shape.New()
//	object, err := shaper.Object(kind, row)    // of a list
//	schemas := shape.Schemas()                 // for model.Snapshot.Kinds
//	resources, unread := estate.Resources(source)
//
// Fields keep OpenStack's own names in snake case, without what stands before
// the last colon (OS-EXT-STS:vm_state is vm_state). A reference is the id of what
// it points at, tags a sorted list. What says nothing (null, "", an empty list or
// map) is left out; false and 0 stay. What changes by itself is not read, nor is
// what may be secret: lists show no private key and no password, and user data,
// which they show to administrators alone, is left out.
package shape
