package config

import "strings"

// NameOf converts the name of a file, a folder or a context to a valid name of a source or declaration.
func NameOf(s string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r) {
			return r
		}
		return '-'
	}, s)
	if name = strings.Trim(name, "-."); name == "" {
		return "default"
	}
	return name
}
