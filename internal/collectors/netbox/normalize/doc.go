// Package normalize converts rows in NetBox's lists to canonical values, so that reading the same
// NetBox server twice, or in two versions (3.7 to 4.7), results in equal trees. It also describes
// how each kind is compared, and determines which fields of these values a row of the changelog
// changed. It sends no requests.
//
// Tables, as defined by package table, describe every kind: the path of its list, the fields and
// their forms, the name of an object, and the values that are unique.
//
//	kinds := normalize.Kinds()                     // in the order in which to read them
//	normalizer := normalize.New(sealer, version, types)
//	object, err := normalizer.Object(kind, row)    // of a list
//	schemas := normalize.Schemas()                 // for model.Snapshot.Kinds
//	fields := normalize.Changed(kind, before, after)
//
// Fields have the names of the newest version of NetBox. A choice is its value, a reference the ID
// of its object, a list of references a sorted list of IDs, and tags a sorted list of names. Blank
// values (null, "", an empty list or map) are omitted; false and 0 are not. Secrets are sealed.
package normalize
