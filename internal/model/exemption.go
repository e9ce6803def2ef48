package model

// An Exemption is a field of a declared resource that differs from what is
// declared, and that is not drift because of the evidence of a controller.
type Exemption struct {
	Key
	// Declaration is the one that claims the resource.
	Declaration string `json:"declaration"`
	// Path is the field.
	Path string `json:"path"`
	// Live is the field's value, shortened; SecretText where it holds a secret.
	Live string `json:"live,omitempty"`
	// Writer is who wrote the field, or the object that decides it.
	Writer string `json:"writer,omitempty"`
	// Why is the evidence.
	Why string `json:"why"`
}

// A Write is a field that no declaration sets, as a writer left it.
type Write struct {
	Kind string
	Path []Step
	// Live is the field's value; null for an element as a whole.
	Live Value
	// Owner is the writer; nil where the record of owners names none.
	Owner *Owner
	// Declared is the claim's value.
	Declared Value
	// Supplier names the declared object that adds the field; "" where none does.
	Supplier string
	// Admission are the declared objects that may change the resource when it is
	// written; Admits reports that any object, declared or not, may have added the
	// field then.
	Admission []Ref
	Admits    bool
	// Missing is an account that the source's log names for an edit later than the
	// last one of the declaration, and whose writer the record of owners lacks: it may
	// have written the field and removed or renamed its entry. "" where there is none.
	Missing string
}
