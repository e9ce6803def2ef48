package decode

import "time"

// Time parses a time in one of the layouts, and returns it in UTC. It returns the zero time if text is not
// in any of them, and if JSON cannot represent the year.
func Time(text string, layouts ...string) time.Time {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil && at.UTC().Year() > 0 && at.UTC().Year() <= 9999 {
			return at.UTC()
		}
	}
	return time.Time{}
}
