package model

// A Quote is a value of a resource in the evidence of an AuditEvent.
type Quote struct {
	// Path is the path of the value in Resource.Value, and Value the complete value, which the evidence may shorten.
	Path  string
	Value Value
	// From and To are the offsets, in bytes, of the part of the evidence that may contain the value.
	From, To int
}
