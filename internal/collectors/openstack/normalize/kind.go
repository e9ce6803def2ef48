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

// Type is the first part of the kinds' names.
const Type = "openstack"

// The kinds, by their names in findings.
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

// Belongs says whose the objects of a kind are.
type Belongs int

// Whose objects are: nobody's, a project's, or a user's.
const (
	ToNobody Belongs = iota
	ToProject
	ToUser
)

// A Kind is what one list of a service holds, and how its objects are read.
type Kind struct {
	// Name is the kind as in model.Key.Kind, Service whose list it is.
	Name, Service string
	// Path is the list below the service's address ("servers/detail"), Rows the
	// field of its answers that holds the rows ("servers").
	Path, Rows string
	// Belongs says whose the objects are.
	Belongs Belongs
	// Microversion is the newest version of the service's interface in which rows
	// have this form; "" for a service that has none. An older one leaves fields
	// out.
	Microversion string
	// Counted tells that pages begin at a position, and that none says whether
	// another one follows.
	Counted bool
	// Roll is a list of all there are, also of those that the first one leaves out
	// without a word; nil where it leaves none out.
	Roll *Roll

	fields table.Fields
	// prepare brings a row into the form that fields describe; nil for none.
	prepare func(row model.Value) model.Value
	// admin are the names of the fields that the service shows to administrators alone,
	// unless its policy says otherwise.
	admin []string
	// joined are the fields that Estate.Resources fills in.
	joined  table.Fields
	busy    []busy
	query   url.Values
	rest    url.Values
	labels  string
	exposed []model.ExposedField
	// rules rate drift before the fields that are rated apart do, otherwise after them.
	rules, otherwise []model.SeverityRule
}

// A Roll tells which objects there are, and nothing else of them.
type Roll struct {
	// Path is where it is, in the same form as the first list.
	Path string
	// Since is the first microversion whose roll holds all of them.
	Since string
	// Why says why an object is in the roll alone, and what to do.
	Why string
}

// busy are states in which an object cannot be compared, and the field of rows
// that tells.
type busy struct{ field, states string }

// Kinds returns every kind, those with the most objects first, so that their
// lists are begun first.
func Kinds() []*Kind {
	kinds := slices.Concat(largest(), computing(), networking())
	for _, k := range kinds {
		k.Rows, k.fields, k.joined = cmp.Or(k.Rows, k.Path), named(k.fields), named(k.joined)
	}
	return kinds
}

// Queries returns what to ask the kind's list for besides paging and the project,
// one after the other: each list holds what the others leave out. They are the
// caller's own.
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
	if k.rest == nil {
		return []url.Values{query}
	}
	return []url.Values{query, maps.Clone(k.rest)}
}
