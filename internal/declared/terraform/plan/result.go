package plan

import (
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/model"
)

// A Result is the content of a plan.
type Result struct {
	// Version is the version of the program that made the plan: "1.12.6".
	Version string
	// Complete reports whether Instances contains every instance of the root, and each is either compared
	// or has a reason why it is not. Reason summarizes all errors. It is "" if there are none.
	Complete bool
	Reason   string
	// Instances are sorted by address. Deposed objects follow the current object.
	Instances []Instance
	// Undetermined reports whether some values are unknown in each plan, or may differ between plans that
	// were not compared.
	Undetermined bool
	// Varying are the values that differ between plans of the same files, sorted by address and path.
	Varying []Varying
}

// A Varying is a value that differs between plans of the same files.
type Varying struct {
	// Address is the address of an instance. If Path is "", it is the address of a resource whose instances
	// differ between plans.
	Address string `json:"address"`
	Path    string `json:"path"`
	// By is the cause, such as "timestamp()".
	By string `json:"by"`
	// List reports whether the value is a list that is compared as a whole, although perhaps only some
	// elements differ.
	List bool `json:"list"`
}

// An Instance is an instance of a managed resource, or a check block. To compare its trees, use Schema, and
// compare model.Claim{Value: *Declared, Recorded: Recorded, Complete: true} with model.Resource{Value:
// *Live}. The trees do not differ in values that providers fill in, or in different encodings of a value.
// Sensitive values are digests.
type Instance struct {
	// Address is the address in the format of Terraform: module.m["k"].lab_server.web[0].
	Address string
	// Deposed is the key of a deposed object, which a replacement has not yet deleted, or "" for the
	// current object.
	Deposed string
	// Previous is the address in the state if a moved block changed it, or "".
	Previous string
	// Module, Type and Name are parts of the address. Check blocks have the type CheckType. Provider is the
	// source address of the provider.
	Module, Type, Name, Provider string
	// Alias is the alias of the provider configuration. It is "" for the default configuration, and for an
	// object that is no longer in the configuration.
	Alias string
	// ID is the value of the attribute id, if it is a string and not sensitive, or "".
	ID string
	// Declared is nil if the object is no longer in the configuration, Recorded is nil if it was never
	// applied, and Live is nil if it does not exist.
	Declared, Recorded, Live *model.Value
	// Whole contains trees for comparisons with live values from sources other than the provider.
	Whole Whole
	// LiveRead reports whether the provider read the object. If it did not, a nil Live does not mean that
	// the object is missing.
	LiveRead bool
	// Action is the action of an apply: "no-op", "update", "create", "replace", "delete" or "forget". It is
	// "" if the object was not planned.
	Action string
	// Imports reports whether the apply imports the object into the state because of an import block.
	Imports bool
	// Replaces are the attributes that require a replacement. It is empty if the object is not replaced, or
	// for another reason.
	Replaces []model.Replacement
	// Pending is the reason why the whole instance waits for an apply ("moved block: recorded as …"). It
	// is "" if only attributes differ. An instance that is neither live nor pending is missing.
	Pending string
	// Unset are the fields that no apply changes back, because the configuration does not set them.
	Unset []model.Unenforced
	// Ignored contains the attributes that no apply changes back because of ignore_changes. It is empty if an
	// apply creates, replaces or destroys the object, because ignore_changes does not apply then.
	Ignored syntax.Ignored
	// Unchecked is the reason why the instance cannot be compared, or "".
	Unchecked string
	// Causes maps arguments to descriptions of implicit dependencies whose values have changed since the
	// last apply. The argument is the one that refers to the values, or "" for count and for_each.
	Causes map[string]string
	// Form converts the configurations of other commits to trees that can be compared with those of the
	// instance.
	Form *Form
	// Schema is the schema for comparing the trees. Instances with the same type and provider share it.
	Schema *model.Schema
}

// Whole contains the trees with the attributes that only the provider sets. Such attributes may identify
// the elements of lists, and the live resource.
type Whole struct{ Declared, Recorded *model.Value }

// CheckType is the Instance.Type of check blocks. Their trees contain the expected status ("pass"), and the
// actual status with its messages.
const CheckType = "check"

// A Diagnostic is an error that the CLI or a provider reported.
type Diagnostic struct {
	// Address is the address of the instance that the error concerns, or "" if it concerns the root.
	Address string
	Summary string
	Detail  string
	// File and Line are the position of the error in the configuration, or "" and 0 if it is unknown.
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
