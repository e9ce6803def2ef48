package normalize

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors/aws/policy"
	"github.com/driftd/driftd/internal/model"
)

// BucketParts are the parts of one bucket.
type BucketParts struct {
	Name    string
	Created time.Time
	// Parts are the configured parts, by kind. A part that is not configured, or was not read, has
	// no entry.
	Parts map[string]model.Value
}

// Resources returns the bucket and its parts as resources of a source. The bucket is the
// parent of its parts. All have the bucket's name as their id and place.
func (r BucketParts) Resources(source string) []model.Resource {
	derive(r)
	all := make([]model.Resource, 0, len(r.Parts))
	for _, k := range Kinds() {
		value, ok := r.Parts[k.Name]
		if !ok {
			continue
		}
		resource := model.Resource{Key: model.Key{Source: source, Kind: k.Name, ID: r.Name}, Name: r.Name, Place: r.Name, Value: value, WriterUnknown: WriterUnknown}
		if k.Name == Bucket {
			resource.Created = r.Created
		} else {
			resource.Parent, resource.SystemOwned = model.Ref{Kind: Bucket, ID: r.Name}, k.systemOwned(value)
		}
		all = append(all, resource)
	}
	slices.SortFunc(all, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	return all
}

// derive adds the computed fields, which the severity rules use, and the bucket's name where
// CloudFormation has it.
func derive(r BucketParts) {
	set := func(kind, name string, v model.Value) {
		if part, ok := r.Parts[kind]; ok {
			r.Parts[kind] = part.With(name, v)
		}
	}
	if tags := r.Parts[Bucket].At("Tags"); !tags.IsNull() {
		set(Bucket, "Tags", withoutSystemTags(tags))
	}
	set(Bucket, "BucketName", model.StringOf(r.Name))
	set(BucketPolicy, "Bucket", model.StringOf(r.Name))
	if grants := r.Parts[AccessControl].At("Grants"); !grants.IsNull() {
		set(AccessControl, "Grants", sorted(grants))
		set(AccessControl, "Grantees", grantees(sorted(grants)))
	}
	if canned := cannedName(r.Parts[AccessControl]); canned != "" {
		set(AccessControl, "AccessControl", model.StringOf(canned))
	}
	set(Lifecycle, "Rules", withMatches(r.Parts[Lifecycle].At("Rules")))
	if deletesObjects(r.Parts[Lifecycle]) {
		set(Lifecycle, "Deletes", model.BoolOf(true))
	}
	if r.Parts[ObjectLock].At("ObjectLockEnabled").Str() == "Enabled" {
		set(Versioning, "Locked", model.BoolOf(true))
	}
	var public []model.Value
	if grantsPublicAccess(r.Parts[AccessControl]) {
		set(AccessControl, "Public", model.BoolOf(true))
		public = append(public, model.StringOf("acl"))
	}
	if policy.AllowsEveryone(policy.Statements(r.Parts[BucketPolicy].At("PolicyDocument"))) {
		set(BucketPolicy, "Public", model.BoolOf(true))
		public = append(public, model.StringOf("policy"))
	}
	if public != nil {
		set(Bucket, "Public", model.ListOf(public...))
	}
}

// withoutSystemTags removes the tags that AWS itself sets. They cannot be declared.
func withoutSystemTags(tags model.Value) model.Value {
	return model.MapOf(slices.DeleteFunc(slices.Clone(tags.Fields()), func(f model.Field) bool { return strings.HasPrefix(f.Name, "aws:") })...)
}

// sorted returns a list whose order has no meaning in a canonical order.
func sorted(list model.Value) model.Value {
	items := slices.Clone(list.Items())
	slices.SortFunc(items, func(a, b model.Value) int { return cmp.Compare(string(a.AppendJSON(nil)), string(b.AppendJSON(nil))) })
	return model.ListOf(items...)
}

// grantees returns the grants grouped by grantee, each with all of its permissions.
func grantees(grants model.Value) model.Value {
	var all []model.Value
	var permissions [][]model.Value
	known := map[string]int{}
	for _, g := range grants.Items() {
		grantee := g.At("Grantee")
		name := string(grantee.AppendJSON(nil))
		i, ok := known[name]
		if !ok {
			i = len(all)
			known[name], all, permissions = i, append(all, grantee), append(permissions, nil)
		}
		permissions[i] = append(permissions[i], g.At("Permission"))
	}
	for i := range all {
		all[i] = all[i].With("Permissions", model.ListOf(permissions[i]...))
	}
	return model.ListOf(all...)
}

// The predefined groups of S3.
const (
	groupPrefix        = "http://acs.amazonaws.com/groups/"
	allUsers           = groupPrefix + "global/AllUsers"
	authenticatedUsers = groupPrefix + "global/AuthenticatedUsers"
	logDelivery        = groupPrefix + "s3/LogDelivery"
)

// grantsPublicAccess reports whether an access control list grants a permission to everyone,
// or to every AWS account.
func grantsPublicAccess(acl model.Value) bool {
	return slices.ContainsFunc(acl.At("Grants").Items(), func(g model.Value) bool {
		grantee := cmp.Or(g.At("Grantee", "URI").Str(), g.At("Grantee", "ID").Str())
		// versitygw sends "all-users" for this group.
		return grantee == allUsers || grantee == authenticatedUsers || grantee == "all-users"
	})
}

// cannedName returns the CloudFormation name of a canned access control list, or "".
func cannedName(acl model.Value) string {
	owner := acl.At("Owner", "ID").Str()
	given := make([]string, 0, len(acl.At("Grants").Items()))
	for _, g := range acl.At("Grants").Items() {
		grantee := cmp.Or(g.At("Grantee", "URI").Str(), g.At("Grantee", "ID").Str())
		switch grantee {
		case owner:
			grantee = "owner"
		case "all-users":
			grantee = allUsers
		}
		given = append(given, grantee+" "+g.At("Permission").Str())
	}
	slices.Sort(given)
	const itself = ",owner FULL_CONTROL"
	return map[string]string{
		itself:                            "Private",
		"," + allUsers + " READ" + itself: "PublicRead",
		"," + allUsers + " READ," + allUsers + " WRITE" + itself:           "PublicReadWrite",
		"," + authenticatedUsers + " READ" + itself:                        "AuthenticatedRead",
		"," + logDelivery + " READ_ACP," + logDelivery + " WRITE" + itself: "LogDeliveryWrite",
	}[","+strings.Join(given, ",")]
}

// withMatches adds to each rule the prefix and the tags that it applies to, whether they are
// in the rule, in its filter, or in the filter's conjunction.
func withMatches(rules model.Value) model.Value {
	items := slices.Clone(rules.Items())
	for i, rule := range items {
		for _, from := range []model.Value{rule, rule.At("Filter"), rule.At("Filter", "And")} {
			if prefix := from.At("Prefix"); !prefix.IsNull() {
				items[i] = items[i].With("MatchPrefix", prefix)
			}
			if tags := from.At("Tags"); !tags.IsNull() {
				items[i] = items[i].With("MatchTags", tags)
			}
			if key := from.At("Tag", "Key"); !key.IsNull() {
				items[i] = items[i].With("MatchTags", model.MapOf(model.Field{Name: key.Str(), Value: from.At("Tag", "Value")}))
			}
		}
	}
	return model.ListOf(items...)
}

// deletesObjects reports whether an enabled rule deletes objects or their old versions.
func deletesObjects(lifecycle model.Value) bool {
	return slices.ContainsFunc(lifecycle.At("Rules").Items(), func(rule model.Value) bool {
		return rule.At("Status").Str() == "Enabled" &&
			!(rule.At("ExpirationInDays").IsNull() && rule.At("ExpirationDate").IsNull() && rule.At("NoncurrentVersionExpiration").IsNull())
	})
}

// systemOwned returns why no declaration of a part is expected, or "".
func (k *Kind) systemOwned(part model.Value) string {
	for _, u := range k.defaults {
		if !slices.ContainsFunc(u.where, func(c model.Condition) bool { return !c.Holds(part) }) {
			return u.reason
		}
	}
	return ""
}
