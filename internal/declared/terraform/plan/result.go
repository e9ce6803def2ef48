package plan

import (
	"github.com/driftd/driftd/internal/model"
)

// A Result is what a plan tells of a root.
type Result struct {
	// Version is the version of the program that made the plan ("1.12.6").
	Version string
	// Complete tells that every instance of the root is in Instances, each
	// either compared or with its reason. Reason says what failed, if anything.
	Complete bool
	Reason   string
	// Instances are sorted by address, deposed objects after the current one.
	Instances []Instance
}

// An Instance is one instance of a managed resource, or one check block. Its
// trees are ready to be compared as model.Claim{Value: *Declared, Recorded:
// Recorded, Complete: true} with model.Resource{Value: *Live} by Schema: what
// providers fill in, and spellings of one value, do not differ in them, and
// sensitive values are digests.
type Instance struct {
	// Address is as Terraform prints it: module.m["k"].lab_server.web[0].
	Address string
	// Deposed is the key of an object that a replacement left over; "" for the
	// current one.
	Deposed string
	// Previous is the address at which the record holds it, where a moved block
	// gave it another; "" otherwise.
	Previous string
	// Module, Type and Name are parts of the address. The Type of a check block
	// is CheckType. Provider is a source address.
	Module, Type, Name, Provider string
	// Alias selects one of the provider's configurations; "" is the default
	// one, or that of an object that is configured no longer.
	Alias string
	// ID is the attribute id, where it is a string that may be shown.
	ID string
	// Declared is nil when the configuration holds it no longer, Recorded when
	// it was never applied, Live when it does not exist.
	Declared, Recorded, Live *model.Value
	// Whole is for who compares with another reading than the provider's.
	Whole Whole
	// LiveRead tells that the provider was asked: only then Live == nil means
	// that the object is gone.
	LiveRead bool
	// Action is what an apply would do: "no-op", "update", "create",
	// "replace", "delete", "forget"; "" when it was not planned.
	Action string
	// Replaces are the attributes for which an apply replaces the instance; none where
	// something else requires it.
	Replaces []model.Replacement
	// Pending says why the instance as a whole waits for an apply ("moved
	// block: recorded as …"); "" when only its attributes tell. An instance
	// that is not live and not Pending is missing.
	Pending string
	// Unchecked says why it cannot be compared; "" when it can.
	Unchecked string
	// Form turns configurations of other commits into such trees.
	Form *Form
	// Schema compares the trees; instances of one type and provider share it.
	Schema *model.Schema
}

// Whole are the trees of an instance with what only the provider sets: that may
// tell which of several things an element is, and which resource the instance is.
type Whole struct{ Declared, Recorded *model.Value }

// CheckType is the Instance.Type of check blocks: their trees hold the status
// that is declared ("pass") and the one that was found, with the messages.
const CheckType = "check"

// A Diagnostic is one error that the CLI or a provider reported.
type Diagnostic struct {
	// Address of the instance that it is about; "" when it is about the root.
	Address string
	Summary string
	Detail  string
}

// Text returns summary and detail in one line.
func (d Diagnostic) Text() string {
	if d.Detail == "" {
		return oneLine(d.Summary)
	}
	return oneLine(d.Summary + ": " + d.Detail)
}
