package decode

import "time"

// Time reads a time in one of these layouts, in UTC; zero where it is none. So is
// a year that a zone leads to and JSON does not write: what holds one could not be
// stored.
func Time(text string, layouts ...string) time.Time {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil && at.UTC().Year() > 0 && at.UTC().Year() <= 9999 {
			return at.UTC()
		}
	}
	return time.Time{}
}
