// Package normalize brings rows of NetBox's lists into canonical values, so that the same
// NetBox read twice, or in two versions (3.7 to 4.7), gives equal trees; it describes how
// each kind is compared; and it returns which fields of these values a row of the
// changelog changed. It sends no requests.
//
// Tables in the language of package table hold every kind: the path of its list, the
// fields and their forms, how an object is named and what is unique in it.
//
//	kinds := normalize.Kinds()                     // in the order in which to read them
//	normalizer := normalize.New(sealer, version, types)
//	object, err := normalizer.Object(kind, row)    // of a list
//	schemas := normalize.Schemas()                 // for model.Snapshot.Kinds
//	fields := normalize.Changed(kind, before, after)
//
// Fields keep NetBox's names, those of the newest version. A choice is its value, a
// reference the ID of its object, a list of references a sorted list of IDs, tags a
// sorted list of names. Blank values (null, "", an empty list or map) are left out; false
// and 0 stay. Secrets are sealed.
package normalize
