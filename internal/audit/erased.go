package audit

import (
	"fmt"
	"maps"
	"slices"
)

// holds reports whether the record of a reference has the name that it stands for, or is empty because
// an entry records that the name was erased.
func (v *verifier) holds(reference, name string) bool {
	if erased := v.people[reference]; erased || name == "" {
		return erased && name == ""
	}
	is, err := v.Name(reference)
	return err == nil && is == name
}

// checkPeople reports the references in entries without a name, unless an entry records that the name was
// erased, and the records of persons that do not fit together.
func (v *verifier) checkPeople() {
	before := len(v.faults)
	for _, person := range slices.Sorted(maps.Keys(v.people)) {
		name, err := v.Name(person)
		switch erased := v.people[person]; {
		case err != nil:
			v.fault("the name of %s was edited", person)
		case erased && name != person:
			v.fault("the name of %s was erased, and is there again", person)
		case erased && !v.isErased(person):
			v.fault("the record that the name of %s was erased is gone", person)
		case !erased && name == person:
			v.fault("the name of %s is gone, and no entry records that it was erased", person)
		}
	}
	if len(v.persons) > 0 && len(v.faults) == before {
		v.fault("the reference of a person was edited")
	}
}

// erased returns the references whose names were erased, in order.
func (v *verifier) erased() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(v.people)), func(person string) bool { return !v.people[person] })
}

// Erased reports whether an entry records the erasure of the name behind a reference.
func (r *Report) Erased(reference string) bool { return r.erased[reference] }

// MendPeople deletes inconsistent records of persons, and names that reappeared after they were erased.
// References without a name remain faults.
func (l *Log) MendPeople() error {
	v := l.verify(nil, nil)
	for _, key := range v.persons {
		if err := l.records.Remove(key); err != nil {
			return fmt.Errorf("remove the record of a person: %w", err)
		}
	}
	for _, reference := range v.erased() {
		if err := l.records.Put(personKey(personRecord, reference), []byte{}); err != nil {
			return fmt.Errorf("erase the name of a person: %w", err)
		}
	}
	return nil
}
