// Package normalize brings rows of OpenStack's lists into canonical values, so that the
// same cloud read twice gives equal trees; it joins what several services list of one
// object; and it describes how each kind is compared. It sends no requests.
//
// Tables in the language of package table hold every kind: the service and the path of
// its list, the fields and their forms, and how drift is rated.
//
//	kinds := normalize.Kinds()                     // in the order in which to read them
//	normalizer := normalize.New()
//	object, err := normalizer.Object(kind, row)    // of a list
//	schemas := normalize.Schemas()                 // for model.Snapshot.Kinds
//	resources, unread := estate.Resources(source)
//
// Fields keep OpenStack's names in snake case, without the part before the last colon
// (OS-EXT-STS:vm_state is vm_state). A reference is the ID of its object, tags are a
// sorted list. Blank values (null, "", an empty list or map) are left out; false and 0
// stay. Fields that change by themselves are not read, nor are fields that may be
// secret: lists have no private key and no password, and user data, which they show to
// administrators alone, is left out.
package normalize
