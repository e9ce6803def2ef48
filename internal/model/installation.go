package model

import "slices"

// An Installation is the record that a deployment tool keeps of objects that it applied
// together, such as a release of Helm. Everyone who can write the record can forge it: it never
// decides whether a live and a declared value differ.
type Installation struct {
	// Place and Name are those of the installation, and Tool is the tool's name for it
	// ("Helm release").
	Place, Name, Tool string
	// Revision counts its changes, and Status is its state in the words of the tool.
	Revision int
	Status   string
	// Package is the name and the version of what was installed; "" if they are not known.
	Package string
	// Settings are the values that the user gave.
	Settings Value
	// Objects are sorted by Ref. Of two with the same Ref, the last one counts.
	Objects []Installed
	// Unread is why the record, or a part of it, could not be read; "" if it was.
	Unread string
}

// An Installed is an object in the record of an Installation. Value is null if the record does
// not show what was last applied.
type Installed struct {
	Ref
	Value Value
	// Attempted is what a later operation that did not succeed has for the object; null if it has
	// the same, or if there is none. Either value may be applied.
	Attempted Value
}

// An Inventory is a list of everything that a deployment tool applied.
type Inventory struct {
	// Commit is the one that was applied; "" while the tool is at work, or if the list is incomplete.
	Commit string
	// Lacks is the violation of a list that lacks objects. It has their names as Value.
	Lacks Violation
}

// Find returns the object with the reference, or nil. i may be nil.
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

// SetObjects sets the objects, which may be in any order.
func (i *Installation) SetObjects(objects []Installed) {
	slices.SortStableFunc(objects, func(a, b Installed) int { return compareRefs(a.Ref, b.Ref) })
	i.Objects = objects[:0]
	for n := range objects {
		if n+1 == len(objects) || objects[n].Ref != objects[n+1].Ref {
			i.Objects = append(i.Objects, objects[n])
		}
	}
}

// Weight returns the approximate memory of an installation, in bytes; 0 for nil.
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

// An Installer is a live resource with the record of a deployment tool.
type Installer struct {
	Ref
	// Tool, Place and Name are those of the record.
	Tool, Place, Name string
	// Applied and Attempted are Installed.Value and Installed.Attempted of the record.
	Applied, Attempted Value
}

// String returns the installer for messages: "Helm release redis in namespace web".
func (i *Installer) String() string {
	text := i.Tool + " " + i.Name
	if i.Place != "" {
		text += " in namespace " + i.Place
	}
	return text
}
