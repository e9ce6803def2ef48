package syntax

import "strings"

// A Purity is the kind of a function by its result in several plans of the same files.
type Purity int

// The kinds of functions.
const (
	// Pure functions have the same result in each plan.
	Pure Purity = iota
	// ImpureInApply is the kind of functions whose result only the apply has.
	ImpureInApply
	// ImpureInPlan is the kind of functions whose result is known in a plan, and is another one in the next.
	ImpureInPlan
)

// FunctionName returns the name of a function of the language without its namespace.
func FunctionName(called string) string { return strings.TrimPrefix(called, "core::") }

// PurityOf returns the kind of a function of the language. Functions of providers are Pure.
func PurityOf(called string) Purity {
	switch FunctionName(called) {
	case "timestamp", "uuid", "bcrypt":
		return ImpureInApply
	case "plantimestamp":
		return ImpureInPlan
	}
	return Pure
}

// MostRecent is the argument of a data source that selects the newest of several objects.
const MostRecent = "most_recent"

// An ImplicitDependency describes a type of data source that reads what is declared elsewhere.
type ImplicitDependency struct {
	// Reads is the predicate of a sentence about the data source.
	Reads string
	// Returned are the attributes with what it read.
	Returned []string
	// IfMostRecent is set if other data sources of the type, without most_recent = true, are none.
	IfMostRecent bool
}

// ImplicitDependencyOf returns the description of a type of data source, and whether there is one.
func ImplicitDependencyOf(typ string) (d ImplicitDependency, ok bool) {
	switch typ {
	case "terraform_remote_state":
		return ImplicitDependency{"reads the outputs of another state", []string{"outputs"}, false}, true
	case "tfe_outputs":
		return ImplicitDependency{"reads the outputs of another workspace", []string{"values", "nonsensitive_values"}, false}, true
	case "external":
		return ImplicitDependency{"runs a program at each plan", []string{"result"}, false}, true
	case "http":
		return ImplicitDependency{"reads a URL at each plan", []string{"response_body"}, false}, true
	case "aws_ami", "openstack_images_image_v2":
		return ImplicitDependency{"selects the newest image (most_recent = true)", []string{"id", "name"}, true}, true
	}
	return ImplicitDependency{}, false
}
