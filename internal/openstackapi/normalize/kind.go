package normalize

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// Type is the first part of the names of the kinds.
const Type = "openstack"

// The names of the kinds in findings.
const (
	Server            = "openstack/server"
	Flavor            = "openstack/flavor"
	Keypair           = "openstack/keypair"
	ServerGroup       = "openstack/server_group"
	Image             = "openstack/image"
	Network           = "openstack/network"
	Subnet            = "openstack/subnet"
	Port              = "openstack/port"
	Router            = "openstack/router"
	FloatingIP        = "openstack/floatingip"
	SecurityGroup     = "openstack/security_group"
	SecurityGroupRule = "openstack/security_group_rule"
	Volume            = "openstack/volume"
)

// The services, by their types in the catalogue.
const (
	Compute      = "compute"
	Networking   = "network"
	Imaging      = "image"
	BlockStorage = "block-storage"
)

// Belongs is the owner of the objects of a kind.
type Belongs int

// The owners of objects: none, a project, or a user.
const (
	ToNone Belongs = iota
	ToProject
	ToUser
)

// A Kind is the content of one list of a service, and how its objects are read.
type Kind struct {
	// Name is the kind as in model.Key.Kind, and Service the service with the list.
	Name, Service string
	// Path is the path of the list below the service's address ("servers/detail"), and Rows the
	// field of its answers with the rows ("servers").
	Path, Rows string
	// Belongs is the owner of the objects.
	Belongs Belongs
	// Microversion is the newest version of the service's API in which rows have this form; ""
	// for a service without microversions. An older one leaves fields out.
	Microversion string
	// OffsetPaged reports whether the list is paged by offset, without a link to the next page.
	OffsetPaged bool
	// Index is a list of all objects, which includes those that the first list leaves out
	// silently; nil if it leaves none out.
	Index *Index

	fields table.Fields
	// prepare converts a row into the form that fields describe; nil for none.
	prepare func(row model.Value) model.Value
	// admin are the names of the fields that the service returns to administrators only, by its
	// default policy.
	admin []string
	// joined are the fields that Estate.Resources sets.
	joined    table.Fields
	busy      []busy
	query     url.Values
	restQuery url.Values
	labels    string
	exposed   []model.ExposedField
	// rules rate drift before the rules of single fields, and fallbackRules after them.
	rules, fallbackRules []model.SeverityRule
}

// An Index is a list with the ids and names of all objects.
type Index struct {
	// Path is its path; it has the same form as the first list.
	Path string
	// Since is the first microversion whose index holds all objects.
	Since string
	// Why is why an object is in the index only, and the next step.
	Why string
}

// busy are the states of a row's field in which an object cannot be compared.
type busy struct{ field, states string }

// Kinds returns every kind. Those with the most objects come first, so that their lists are
// started first.
func Kinds() []*Kind {
	kinds := slices.Concat(largest(), computing(), networking())
	for _, k := range kinds {
		k.Rows, k.fields, k.joined = cmp.Or(k.Rows, k.Path), named(k.fields), named(k.joined)
	}
	return kinds
}

// Own returns the fields of a resource that its own row has, without those of other lists.
func (k *Kind) Own(v model.Value) model.Value {
	names := make([]string, len(k.joined))
	for i := range k.joined {
		names[i] = k.joined[i].Name
	}
	return v.Without(names...)
}

// WithJoined returns the value of an object with the fields that a scan joined to it from other lists.
func (k *Kind) WithJoined(own, scanned model.Value) model.Value {
	for i := range k.joined {
		if v, ok := scanned.Get(k.joined[i].Name); ok {
			own = own.With(k.joined[i].Name, v)
		}
	}
	return own
}

// Queries returns the queries that together list the whole kind, without the parameters for
// paging and the project. The caller may modify them.
func (k *Kind) Queries() []url.Values {
	query := url.Values{}
	for name, values := range k.query {
		query[name] = slices.Clone(values)
	}
	if k.Service == Networking {
		for _, f := range k.fields {
			query.Add("fields", f.Raw)
		}
		for name := range strings.FieldsSeq("id tenant_id project_id created_at updated_at") {
			query.Add("fields", name)
		}
	}
	if k.restQuery == nil {
		return []url.Values{query}
	}
	return []url.Values{query, maps.Clone(k.restQuery)}
}
