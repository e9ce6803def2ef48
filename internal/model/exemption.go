package model

// An Exemption is a field of a declared resource that differs from the declaration but is not
// drift, because there is evidence that a controller set it or that the declaration leaves it.
type Exemption struct {
	Key
	// Declaration is the name of the declaration that claims the resource.
	Declaration string `json:"declaration"`
	// Path is the field.
	Path string `json:"path"`
	// Live is the field's value, shortened; SecretText if it contains a secret, and "" if it is hidden.
	Live string `json:"live,omitempty"`
	// Writer is the writer of the field, or the object that determines the field.
	Writer string `json:"writer,omitempty"`
	// Why is the evidence, as text.
	Why string `json:"why"`
}

// A Write describes a live field that no declaration sets, and its writer.
type Write struct {
	Kind string
	Path []Step
	// Live is the value of the field; null for a whole list element.
	Live Value
	// Owner is the writer; nil if the record of owners contains none.
	Owner *Owner
	// Declared is the value of the claim.
	Declared Value
	// Supplier names the declared object that adds the field; "" if there is none.
	Supplier string
	// Admission lists the declared objects that may change the resource at admission. Admits
	// reports whether any object, declared or not, may have added the field at admission.
	Admission []Ref
	Admits    bool
	// Missing is an account that may have written the field and removed or renamed its entry in the
	// record of owners. The log of the source names it for an edit later than the last one of the
	// declaration, and the record has no entry for its writer. "" if there is none.
	Missing string
}
