package normalize

// RawName returns the name that a field has in rows.
func RawName(k *Kind, name string) string {
	for i := range k.fields {
		if f := &k.fields[i]; f.Name == name {
			return f.Raw
		}
	}
	return name
}
