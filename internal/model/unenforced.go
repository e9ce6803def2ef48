package model

// An Unenforced is a part of a claimed resource that the tool which applies the declaration does
// not put back if it differs. Such a difference is still a finding, since it need not be intended.
type Unenforced struct {
	// Path is the path of the field, which includes everything below it; empty for the whole
	// resource.
	Path []Pick
	// Writer restricts the part to fields of which the named writer is an owner; "" for all fields.
	Writer string
	// Why is the reason, as text for display.
	Why string
}

// A Pick is one step in Unenforced.Path: a field, or elements of a list.
type Pick struct {
	// Name is the name of a field, or the position of a list element. It is used if Where is nil.
	Name string
	// Where selects the list elements that have these fields; an empty map selects all.
	Where *Value
}

// UnenforcedWhole returns the reason why the tool does not put the whole resource back; "" if it
// does.
func (c *Claim) UnenforcedWhole() string {
	for i := range c.Unenforced {
		if u := &c.Unenforced[i]; len(u.Path) == 0 && u.Writer == "" {
			return u.Why
		}
	}
	return ""
}
