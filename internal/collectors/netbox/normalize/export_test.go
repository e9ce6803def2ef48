package normalize

// Patterns returns the patterns of the kind's name and of what is unique.
func (k *Kind) Patterns() []string {
	patterns := k.namePatterns
	for _, key := range k.keys {
		patterns = append(patterns, key.pattern)
	}
	return patterns
}
