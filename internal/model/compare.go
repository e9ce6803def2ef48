package model

// CompareBool compares two values like cmp.Compare: false is less than true.
func CompareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
