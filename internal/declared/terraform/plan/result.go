package plan

import (
	"github.com/driftd/driftd/internal/model"
)

// A Result is the content of a plan.
type Result struct {
	// Version is the version of the program that made the plan ("1.12.6").
	Version string
	// Complete is set if Instances has every instance of the root, and each is either compared or
	// has a reason. Reason is the summary of all errors, if any.
	Complete bool
	Reason   string
	// Instances are sorted by address. Deposed objects follow the current one.
	Instances []Instance
	// Undetermined reports whether values may differ between plans that were not compared, or that are unknown in each.
	Undetermined bool
	// Varying are the values that differ between plans of the same files, sorted by address and path.
	Varying []Varying
}

// A Varying is a value that differs between plans of the same files.
type Varying struct {
	// Address is that of an instance. If Path is "", it is that of a resource, of which each plan has other instances.
	Address string `json:"address"`
	Path    string `json:"path"`
	// By is the cause: "timestamp()".
	By string `json:"by"`
	// List is set if the value is a list that is compared as a whole, though only some elements may differ.
	List bool `json:"list"`
}

// An Instance is one instance of a managed resource, or one check block. Its trees can be compared
// as model.Claim{Value: *Declared, Recorded: Recorded, Complete: true} with model.Resource{Value:
// *Live}, using Schema. They do not differ in values that providers fill in, or in encodings of one
// value. Sensitive values are digests.
type Instance struct {
	// Address is the address as Terraform prints it: module.m["k"].lab_server.web[0].
	Address string
	// Deposed is the key of an object that a replacement left behind, or "" for the current object.
	Deposed string
	// Previous is the recorded address if a moved block changed it, or "".
	Previous string
	// Module, Type and Name are parts of the address. Check blocks have the type CheckType.
	// Provider is a source address.
	Module, Type, Name, Provider string
	// Alias is the provider configuration. "" is the default one, or that of an object that is no
	// longer in the configuration.
	Alias string
	// ID is the attribute id if it is a string that is not sensitive.
	ID string
	// Declared is nil if the configuration no longer has the object, Recorded if it was never
	// applied, and Live if it does not exist.
	Declared, Recorded, Live *model.Value
	// Whole is for comparisons with live values from another source than the provider.
	Whole Whole
	// LiveRead is set if the provider read the object. If it is not set, Live == nil does not mean
	// that the object is gone.
	LiveRead bool
	// Action is the action of an apply: "no-op", "update", "create", "replace", "delete", "forget";
	// "" if the object was not planned.
	Action string
	// Imports reports whether the apply takes the object into the state because of an import block.
	Imports bool
	// Replaces are the attributes that require a replacement. It is empty if there are none, or if
	// the replacement has another reason.
	Replaces []model.Replacement
	// Pending is the reason why the whole instance waits for an apply ("moved block: recorded as
	// …"); "" if only attributes differ. An instance that is neither live nor pending is missing.
	Pending string
	// Unchecked is the reason why the instance cannot be compared, or "".
	Unchecked string
	// Causes are implicit dependencies that returned other values than to the last apply, as text, by the argument that refers to these
	// values. The argument is "" for count and for_each.
	Causes map[string]string
	// Form converts configurations of other commits to such trees.
	Form *Form
	// Schema is the schema for comparing the trees. Instances with the same type and provider share
	// it.
	Schema *model.Schema
}

// Whole holds the trees with the attributes that only the provider sets. These may identify the
// elements of lists, and the live resource.
type Whole struct{ Declared, Recorded *model.Value }

// CheckType is the Instance.Type of check blocks. Their trees have the expected status ("pass"),
// and the actual status with its messages.
const CheckType = "check"

// A Diagnostic is one error from the CLI or a provider.
type Diagnostic struct {
	// Address is the address of the instance with the error, or "" if the error is about the root.
	Address string
	Summary string
	Detail  string
	// File and Line are the place of the error in the configuration, or "" and 0.
	File string
	Line int
}

// Text returns the summary and the detail in one line.
func (d Diagnostic) Text() string {
	if d.Detail == "" {
		return oneLine(d.Summary)
	}
	return oneLine(d.Summary + ": " + d.Detail)
}

// KindOf returns the kind of a resource of which only the Terraform type is known.
func KindOf(typ string) string { return "terraform/" + typ }
