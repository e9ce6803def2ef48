package openstack

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// A versionedField is a field that rows have since a microversion.
type versionedField struct {
	kind, field string
	since       string
}

// versionedFields returns the fields that an older Nova lacks, from Nova's
// rest_api_version_history.
func versionedFields() []versionedField {
	return []versionedField{
		{normalize.Server, "locked", "2.9"},
		{normalize.Server, "description", "2.19"},
		{normalize.Server, "tags", "2.26"},
		{normalize.Keypair, "type", "2.2"},
		{normalize.Flavor, "description", "2.55"},
		{normalize.Flavor, "extra_specs", "2.61"},
	}
}

// unsupportedFields returns the fields that the Nova of a session lacks.
func unsupportedFields(s *openstackapi.Session) []versionedField {
	return slices.DeleteFunc(versionedFields(), func(f versionedField) bool { return s.Supports(normalize.Compute, f.since) })
}

// unreadFields returns the fields that the Nova of a session lacks, by kind, with the reason.
func unreadFields(s *openstackapi.Session) map[string][]model.UnreadField {
	fields := map[string][]model.UnreadField{}
	for _, f := range unsupportedFields(s) {
		fields[f.kind] = append(fields[f.kind], model.UnreadField{Name: f.field,
			Reason: fmt.Sprintf("its %s is not known: Nova returns it since microversion %s, and this Nova has %s", f.field, f.since, cmp.Or(s.Newest(normalize.Compute), "none"))})
	}
	return fields
}
