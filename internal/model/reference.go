package model

// A Reference describes the objects to which the values of a field refer by ID. The objects are in
// the same source as the field. The zero Reference is that of a field without references.
type Reference struct {
	// Kind is the kind of the objects. If KindField is set, it is the prefix of the kind, such as
	// "netbox/", which the value of that field follows.
	Kind string
	// KindField is the name of the top-level field that contains the rest of the kind; "" if all
	// objects are of one kind.
	KindField string
}

// The bounds of Change.Names. Names longer than MaxName are cut, and names beyond the first
// MaxNames are omitted.
const (
	MaxName  = 64
	MaxNames = 16
)

// IDs returns the IDs in the value of a reference: the text of a number or string, or those of the
// elements of a list.
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
