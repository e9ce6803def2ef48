package catalogue

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// prefix is the first part of the names of the kinds.
const prefix = "aws/AWS::"

// Global is the place of resources that belong to no region.
const Global = "global"

// A List is one operation, and the kinds of resources in its answers.
type List struct {
	// Call is the operation. In a list that is read for each row of another one, texts of
	// its Input are templates of that row.
	Call awsapi.Call
	// Rights are the IAM actions that it needs, separated by blanks.
	Rights string
	// Rows is the path of the rows in an answer; "" if the answer is one row. A path leads
	// through all elements of lists.
	Rows string
	// Home reports whether it lists what belongs to no region, and is requested in the home region of the partition.
	Home bool
	// Optional reports whether the service leaves out an empty list.
	Optional bool
	// Absent are the codes of errors that report that there is nothing to read: the
	// resource was deleted, or it has no such part.
	Absent string
	// Kinds are what the rows are.
	Kinds []*Kind
	// Then are read for each row.
	Then []*List
	// Each is the path below the rows of the other list to those that it is read for; "" for these.
	Each string
	// Batch has the operation take several rows of the other list at once.
	Batch Batch
	// Subject identifies the resource that could not be read if the operation fails for one
	// row. Without one, its kinds are not read at all then. An ID that ends in "*" stands for all that begin with it. A part of the
	// subject has the same ID, and is not read either.
	Subject Reference
	// Sound are conditions on rows. If there are any, Subject is for the others, and for errors with the codes in
	// Unsound: any other error concerns all rows.
	Sound   []model.Condition
	Unsound string
}

// A Batch is a parameter with a text of each of up to Size rows.
type Batch struct {
	Param, Text string
	Size        int
}

// A Reference is a template of the ID of a resource of a kind.
type Reference struct{ Kind, ID string }

// Made are resources that another one names as its own.
type Made struct {
	// Rows is the path to the rows of these resources below the row of the other one; "" for the row itself. The
	// ID of the reference is a template of one of them.
	Rows string
	Reference
	// Usual reports whether they are made only by a resource that AWS creates itself.
	Usual bool
}

// Unnamed are rows, with conditions on them, of resources whose IDs they do not have. No rows are without conditions. Such a row makes
// all resources unread whose IDs begin with the template Prefix, for Reason, unless other rows have them. If no declaration has one,
// none is expected until it has an ID.
type Unnamed struct {
	Where          []model.Condition
	Prefix, Reason string
}

// A Kind is one kind of resources.
type Kind struct {
	// Name is the kind's name without the prefix, such as EC2::VPC.
	Name string
	// Rows is the path from a row of the list to the rows of the kind; "" if they are the same.
	Rows string
	// Document is the path of a JSON text that the rows are in, in place of the row of the list.
	Document string
	// Where are conditions on rows; others are not of the kind. Neither are rows without a text at Needs.
	Where []model.Condition
	Needs string
	// Unnamed are the rows of resources whose IDs they do not have.
	Unnamed Unnamed
	// ID and Label are templates. Without a Label, the tag Name and then the ID are shown.
	ID, Label string
	// Parent is the resource that contains it.
	Parent Reference
	// Part reports whether the declaration of the parent may have it, in a form that is not known. If AWS
	// proves that a tool declares the parent, only a resource that is rated critical is expected to be
	// declared elsewhere.
	Part bool
	// Maker is the resource that created it, if MakerWhere holds.
	Maker      Reference
	MakerWhere []model.Condition
	// Makes are the resources that AWS created together with it. A user must not be able to choose them.
	Makes []Made
	// Identities are templates of further identities, by their names.
	Identities [][2]string
	// Shares reports whether it is read with the setting shares only.
	Shares bool
	// Created is the path of the time of creation.
	Created string
	// Rotated are conditions on the rows of credentials that have to be replaced before Env.MaxKeyAge; empty for
	// kinds that are no such credentials.
	Rotated []model.Condition
	// Tags is the path of the tags. Tagged reports instead that the service does not return
	// them: those of the tagging API count.
	Tags   string
	Tagged bool
	// Fields are read from the rows; dots lead into nested maps, and "^" to the row of
	// the list that a row is in.
	Fields table.Fields
	// Usual are the resources that AWS creates.
	Usual []Usual
	// Rules rate drift, and Exposed are the fields with an exposure.
	Rules   []model.SeverityRule
	Exposed []model.ExposedField
}

// A Usual describes resources of a kind that AWS creates itself, so that no declaration is
// expected. Unless Forgeable is set, a user must not be able to set what Where looks at.
type Usual struct {
	Reason string
	Where  []model.Condition
	// Begins are what the text at Path begins with; empty for anything.
	Path   string
	Begins []string
	// Same are two paths with equal texts; empty for none.
	Same [2]string
	// Is reports whether the row is such a resource; nil for no condition.
	Is func(row model.Value, env *Env) bool
	// In is another resource that must be a default of AWS, too.
	In Reference
	// Default reports whether the resource is a default of AWS for those with In.
	Default bool
	// Forgeable reports whether a user can create the same in the parent. If the parent is declared, the
	// resource must be declared, too.
	Forgeable bool
}

// FullName returns the kind's name as in model.Key.
func (k *Kind) FullName() string { return prefix + k.Name }

func (r Reference) fullKind() string { return prefix + r.Kind }

// IsGlobal reports whether the list has what belongs to no region.
func (l *List) IsGlobal() bool { return l.Home || l.Call.Service.Global }

// AllKinds returns the kinds of the list, and of those that are read for its rows.
func (l *List) AllKinds() []*Kind {
	all := slices.Clone(l.Kinds)
	for _, then := range l.Then {
		all = append(all, then.AllKinds()...)
	}
	return all
}

// AllRights returns the IAM actions of the list, and of those that are read for its rows.
func (l *List) AllRights() []string {
	all := strings.Fields(l.Rights)
	for _, then := range l.Then {
		all = append(all, then.AllRights()...)
	}
	return all
}

// Without returns the list without the kinds that are excluded; nil if none is left.
func (l *List) Without(excluded func(*Kind) bool) *List {
	rest := *l
	rest.Kinds = slices.DeleteFunc(slices.Clone(l.Kinds), excluded)
	rest.Then = nil
	for _, then := range l.Then {
		if then = then.Without(excluded); then != nil {
			rest.Then = append(rest.Then, then)
		}
	}
	if len(rest.Kinds) == 0 && len(rest.Then) == 0 {
		return nil
	}
	return &rest
}

// Lists returns every list, other than those of CloudControl.
func Lists() []*List {
	return slices.Concat(network(), compute(), identities(), services())
}

// Schemas returns how the kinds of Lists and of further lists are compared and rated, by name.
func Schemas(further ...*List) map[string]*model.Kind {
	all, fields := map[string]*model.Kind{}, map[string]table.Fields{}
	for _, l := range slices.Concat(Lists(), further) {
		for _, k := range l.AllKinds() {
			if k.IsCarrier() {
				continue
			}
			m := all[k.FullName()]
			if m == nil {
				m = &model.Kind{Name: k.FullName(), Severities: append(containsRules(), k.Rules...), Exposed: k.Exposed, Namespaced: true, WriterUnknown: WriterUnknown}
				all[m.Name] = m
			}
			fields[m.Name] = table.Join(fields[m.Name], k.Fields, table.Absent().Volatile().Of(containsField))
			if k.Tags != "" || k.Tagged {
				m.Labels = "tags"
				fields[m.Name] = table.Join(fields[m.Name], table.Entries(text()).Of("tags"))
			}
		}
	}
	for name, m := range all {
		m.Schema = fields[name].Schema()
	}
	return all
}

// containsRules rates a resource by what it contains.
func containsRules() []model.SeverityRule {
	rules := table.Rate(model.Critical, "it contains what is critical", "", table.Unmanaged(), model.Condition{Path: containsField, Present: true})
	for i := range rules {
		rules[i].Show = containsField
	}
	return rules
}

// Of returns the rows that the list is read for, of the rows of another list.
func (l *List) Of(rows []model.Value) []model.Value {
	if l.Each == "" {
		return rows
	}
	var all []model.Value
	for _, row := range rows {
		below, _ := rowsAt(row, l.Each)
		all = append(all, below...)
	}
	return all
}

// tagCarrier is the name of the rows of the tagging API. They are no resources: their tags are
// those of the resource with the ARN.
const tagCarrier = "Tags"

// Tags is the full name of the kind of these rows.
const Tags = prefix + tagCarrier

// IsCarrier reports whether the rows of the kind carry the tags of resources, and are none.
func (k *Kind) IsCarrier() bool { return k.Name == tagCarrier }

// Carries reports whether the list returns the tags of resources of other lists.
func (l *List) Carries() bool { return slices.ContainsFunc(l.Kinds, (*Kind).IsCarrier) }

// WriterUnknown is the reason why the author of a change is not known.
const WriterUnknown = "the lists of AWS do not have who changed a resource, and CloudTrail is not read: see the setting audit"
