package phrase

import "regexp"

// Person adds the name of a person. The reference that stands for a name which was erased from the audit
// log is marked as such.
func (p Phrase) Person(name string) Phrase {
	p = p.Data(name)
	if regexp.MustCompile(`^person:[A-Za-z0-9_-]{20}$`).MatchString(name) {
		p = p.Words(" (erased)")
	}
	return p
}
