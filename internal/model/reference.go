package model

// A Reference is what the values of a field identify: objects of the same source, by their
// IDs. The zero value is that of a field without references.
type Reference struct {
	// Kind is the kind of the objects. If KindField is set, it is the part of the kind before
	// the value of that field: "netbox/".
	Kind string
	// KindField is the name of the top-level field that holds the rest of the kind; "" if all
	// objects are of one kind.
	KindField string
}

// The bounds of Change.Names: a longer name is cut, and names above the number are left out.
const (
	MaxName  = 64
	MaxNames = 16
)

// IDs returns the IDs in the value of a reference: of a scalar, or of a list of scalars.
func (v Value) IDs() []string {
	switch v.Kind() {
	case Number, String:
		return []string{v.Text()}
	case List:
		var ids []string
		for _, item := range v.Items() {
			if item.Kind() == Number || item.Kind() == String {
				ids = append(ids, item.Text())
			}
		}
		return ids
	}
	return nil
}
