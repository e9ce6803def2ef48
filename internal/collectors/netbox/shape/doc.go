// Package shape knows how NetBox writes things: it turns the rows of its lists
// into canonical values, so that the same NetBox read twice, or in two versions
// (3.7 to 4.7), gives equal trees; it says how each kind is compared; and it
// says which fields of these values a row of the changelog tells of. It talks
// to nobody.
//
// One table holds every kind: where its list is, which fields are read and in
// which form, what people call an object and what is unique in it.
//
//	kinds := shape.Kinds()                     // in the order in which to read them
//	shaper := shape.New(sealer, version)
//	object, err := shaper.Object(kind, row)    // of a list
//	schemas := shape.Schemas()                 // for model.Snapshot.Kinds
//	fields := shape.Changed(kind, before, after)
//
// Fields keep NetBox's own names, those of the newest version. A choice is its
// value, a reference the id of what it points at, a list of references a sorted
// list of ids, tags a sorted list of names. What says nothing (null, "", an empty
// list or map) is left out; false and 0 stay. Secrets are sealed.
package shape
