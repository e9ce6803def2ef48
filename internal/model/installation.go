package model

import "slices"

// An Installation is the record that a deployment tool keeps of the objects that it applied
// together, such as a Helm release. Anyone with write access to the record can forge it, so it
// never decides whether a live and a declared value differ.
type Installation struct {
	// Place and Name identify the installation. Tool is the tool's term for it, such as "Helm
	// release".
	Place, Name, Tool string
	// Revision is the number of changes so far, and Status the state as the tool reports it.
	Revision int
	Status   string
	// Package is the name and version of the installed package; "" if unknown.
	Package string
	// Settings are the values that the user set.
	Settings Value
	// Objects is sorted by Ref and contains each Ref at most once. SetObjects sets it.
	Objects []Installed
	// Unread is the reason why the record or a part of it could not be read; "" if all of it was
	// read.
	Unread string
}

// An Installed is an object in an Installation. Value is the last applied value; null if the record
// does not contain it.
type Installed struct {
	Ref
	Value Value
	// Attempted is the value of the object in a later operation that did not succeed; null if it is
	// equal or if there was no such operation. Either of the two values may be live.
	Attempted Value
}

// An Inventory is a list of all objects that a deployment tool applied.
type Inventory struct {
	// Commit is the applied commit; "" while the tool is applying, or if the list is incomplete.
	Commit string
	// Lacks is the violation to report if the list lacks objects. Its Value is the names of those
	// objects.
	Lacks Violation
}

// Find returns the object with the reference, or nil if there is none. It returns nil if i is nil.
func (i *Installation) Find(ref Ref) *Installed {
	if i == nil {
		return nil
	}
	at, found := slices.BinarySearchFunc(i.Objects, ref, func(o Installed, r Ref) int { return compareRefs(o.Ref, r) })
	if !found {
		return nil
	}
	return &i.Objects[at]
}

// SetObjects sets Objects. It sorts the slice in place and keeps the last of several objects with
// the same Ref. The caller must not use the slice afterwards.
func (i *Installation) SetObjects(objects []Installed) {
	slices.SortStableFunc(objects, func(a, b Installed) int { return compareRefs(a.Ref, b.Ref) })
	i.Objects = objects[:0]
	for n := range objects {
		if n+1 == len(objects) || objects[n].Ref != objects[n+1].Ref {
			i.Objects = append(i.Objects, objects[n])
		}
	}
}

// Weight returns the approximate memory use of the installation in bytes; 0 if i is nil.
func (i *Installation) Weight() int64 {
	if i == nil {
		return 0
	}
	total := recordWeight + i.Settings.Weight()
	for n := range i.Objects {
		total += entryWeight + i.Objects[n].Value.Weight() + i.Objects[n].Attempted.Weight()
	}
	return total
}

// An Installer is a live resource that contains the record of a deployment tool.
type Installer struct {
	Ref
	// Tool, Place and Name are the Tool, Place and Name of the record.
	Tool, Place, Name string
	// Applied and Attempted are the Value and Attempted of the Installed in the record.
	Applied, Attempted Value
}

// String returns the installer as text for messages, such as "Helm release redis in namespace web".
func (i *Installer) String() string {
	text := i.Tool + " " + i.Name
	if i.Place != "" {
		text += " in namespace " + i.Place
	}
	return text
}
