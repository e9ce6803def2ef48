package phrase

import "regexp"

// Person appends the name of a person. If the name was erased from the audit log, the reference that
// replaces it is marked as such.
func (p Phrase) Person(name string) Phrase {
	p = p.Data(name)
	if regexp.MustCompile(`^person:[A-Za-z0-9_-]{20}$`).MatchString(name) {
		p = p.Words(" (erased)")
	}
	return p
}
