package model

// An Unenforced is a part of a claimed resource that the tool that applies the declaration does not put back where it differs.
// Such a difference is a finding like any other: the tool's silence is no proof that it is intended.
type Unenforced struct {
	// Path is the field, with all below it; empty for the whole resource.
	Path []Pick
	// Writer limits it to fields of which a writer of this name is an owner; "" for all.
	Writer string
	// Why is the reason, as people read it.
	Why string
}

// A Pick is one step of the path of an Unenforced: a field or the elements of a list.
type Pick struct {
	// Name is the name of a field, or the position of an element, if Where is nil.
	Name string
	// Where selects each element that has these fields; an empty map selects all.
	Where *Value
}

// UnenforcedWhole returns why the tool does not put the whole resource back; "" if it does.
func (c *Claim) UnenforcedWhole() string {
	for i := range c.Unenforced {
		if u := &c.Unenforced[i]; len(u.Path) == 0 && u.Writer == "" {
			return u.Why
		}
	}
	return ""
}
