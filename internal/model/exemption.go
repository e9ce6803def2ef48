package model

// An Exemption is a field of a declared resource that differs from the declaration and
// is not drift, because there is evidence that a controller set it.
type Exemption struct {
	Key
	// Declaration is the one that claims the resource.
	Declaration string `json:"declaration"`
	// Path is the field.
	Path string `json:"path"`
	// Live is the field's value, shortened; SecretText if it contains a secret.
	Live string `json:"live,omitempty"`
	// Writer is the writer of the field, or the object that determines it.
	Writer string `json:"writer,omitempty"`
	// Why is the evidence.
	Why string `json:"why"`
}

// A Write is a field that no declaration sets, with its writer.
type Write struct {
	Kind string
	Path []Step
	// Live is the field's value; null for an element as a whole.
	Live Value
	// Owner is the writer; nil if the record of owners has none.
	Owner *Owner
	// Declared is the claim's value.
	Declared Value
	// Supplier names the declared object that adds the field; "" if there is none.
	Supplier string
	// Admission are the declared objects that may change the resource at admission.
	// Admits reports whether any object, declared or not, may have added the field
	// there.
	Admission []Ref
	Admits    bool
	// Missing is an account that the source's log names for an edit later than the
	// last one of the declaration, and whose writer the record of owners lacks: it may
	// have written the field and removed or renamed its entry. "" where there is none.
	Missing string
}
