package normalize

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Read is what was read of one bucket.
type Read struct {
	Name    string
	Created time.Time
	// Parts hold what is set, by kind. What could not be read, and what is not set,
	// has no entry.
	Parts map[string]model.Value
}

// Resources returns what was read of a bucket as resources of a source: the bucket
// where that is among it, and each part, which belongs to the bucket. All have the
// bucket's name as their id and their place.
func (r Read) Resources(source string) []model.Resource {
	derive(r)
	all := make([]model.Resource, 0, len(r.Parts))
	for _, k := range Kinds() {
		value, ok := r.Parts[k.Name]
		if !ok {
			continue
		}
		resource := model.Resource{Key: model.Key{Source: source, Kind: k.Name, ID: r.Name}, Name: r.Name, Place: r.Name, Value: value, WriterUnknown: Unsigned}
		if k.Name == Bucket {
			resource.Created = r.Created
		} else {
			resource.Parent, resource.SystemOwned = model.Ref{Kind: Bucket, ID: r.Name}, k.automatic(value)
		}
		all = append(all, resource)
	}
	slices.SortFunc(all, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	return all
}

// derive adds the fields that are made of others, for the rules that rate drift,
// and the bucket's name where CloudFormation has it.
func derive(r Read) {
	set := func(kind, name string, v model.Value) {
		if part, ok := r.Parts[kind]; ok {
			r.Parts[kind] = part.With(name, v)
		}
	}
	if tags := r.Parts[Bucket].At("Tags"); !tags.IsNull() {
		set(Bucket, "Tags", own(tags))
	}
	set(Bucket, "BucketName", model.StringOf(r.Name))
	set(BucketPolicy, "Bucket", model.StringOf(r.Name))
	if grants := r.Parts[AccessControl].At("Grants"); !grants.IsNull() {
		set(AccessControl, "Grants", sorted(grants))
		set(AccessControl, "Grantees", grantees(sorted(grants)))
	}
	if canned := canned(r.Parts[AccessControl]); canned != "" {
		set(AccessControl, "AccessControl", model.StringOf(canned))
	}
	set(Lifecycle, "Rules", matches(r.Parts[Lifecycle].At("Rules")))
	if deletes(r.Parts[Lifecycle]) {
		set(Lifecycle, "Deletes", model.BoolOf(true))
	}
	if r.Parts[ObjectLock].At("ObjectLockEnabled").Str() == "Enabled" {
		set(Versioning, "Locked", model.BoolOf(true))
	}
	var public []model.Value
	if granted(r.Parts[AccessControl]) {
		set(AccessControl, "Public", model.BoolOf(true))
		public = append(public, model.StringOf("acl"))
	}
	if letsAllIn(r.Parts[BucketPolicy]) {
		set(BucketPolicy, "Public", model.BoolOf(true))
		public = append(public, model.StringOf("policy"))
	}
	if public != nil {
		set(Bucket, "Public", model.ListOf(public...))
	}
}

// own returns the tags that people set: those of AWS itself nobody can declare.
func own(tags model.Value) model.Value {
	return model.MapOf(slices.DeleteFunc(slices.Clone(tags.Fields()), func(f model.Field) bool { return strings.HasPrefix(f.Name, "aws:") })...)
}

// sorted brings a list whose order does not count into one.
func sorted(list model.Value) model.Value {
	items := slices.Clone(list.Items())
	slices.SortFunc(items, func(a, b model.Value) int { return cmp.Compare(string(a.AppendJSON(nil)), string(b.AppendJSON(nil))) })
	return model.ListOf(items...)
}

// grantees returns the grants by who has them, with all their permissions.
func grantees(grants model.Value) model.Value {
	var all []model.Value
	var permissions [][]model.Value
	known := map[string]int{}
	for _, g := range grants.Items() {
		who := g.At("Grantee")
		name := string(who.AppendJSON(nil))
		i, ok := known[name]
		if !ok {
			i = len(all)
			known[name], all, permissions = i, append(all, who), append(permissions, nil)
		}
		permissions[i] = append(permissions[i], g.At("Permission"))
	}
	for i := range all {
		all[i] = all[i].With("Permissions", model.ListOf(permissions[i]...))
	}
	return model.ListOf(all...)
}

// Groups are those of S3's predefined groups that anybody is in.
const (
	groups             = "http://acs.amazonaws.com/groups/"
	allUsers           = groups + "global/AllUsers"
	authenticatedUsers = groups + "global/AuthenticatedUsers"
	logDelivery        = groups + "s3/LogDelivery"
)

// granted tells whether an access control list grants something to everybody, or
// to whoever has an account of AWS.
func granted(acl model.Value) bool {
	return slices.ContainsFunc(acl.At("Grants").Items(), func(g model.Value) bool {
		who := cmp.Or(g.At("Grantee", "URI").Str(), g.At("Grantee", "ID").Str())
		// "all-users" is what versitygw calls them.
		return who == allUsers || who == authenticatedUsers || who == "all-users"
	})
}

// canned returns the name under which CloudFormation knows an access control list,
// or "".
func canned(acl model.Value) string {
	owner := acl.At("Owner", "ID").Str()
	given := make([]string, 0, len(acl.At("Grants").Items()))
	for _, g := range acl.At("Grants").Items() {
		who := cmp.Or(g.At("Grantee", "URI").Str(), g.At("Grantee", "ID").Str())
		switch who {
		case owner:
			who = "owner"
		case "all-users":
			who = allUsers
		}
		given = append(given, who+" "+g.At("Permission").Str())
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

// matches adds to each rule what it is for, wherever that stands: in the rule, in
// its filter, or in the conjunction there.
func matches(rules model.Value) model.Value {
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

// deletes tells whether a rule that is on deletes objects, or their old versions.
func deletes(lifecycle model.Value) bool {
	return slices.ContainsFunc(lifecycle.At("Rules").Items(), func(rule model.Value) bool {
		return rule.At("Status").Str() == "Enabled" &&
			!(rule.At("ExpirationInDays").IsNull() && rule.At("ExpirationDate").IsNull() && rule.At("NoncurrentVersionExpiration").IsNull())
	})
}

// automatic says why nobody is expected to declare a part, or "".
func (k *Kind) automatic(part model.Value) string {
	for _, u := range k.usual {
		if !slices.ContainsFunc(u.where, func(c model.Condition) bool { return !c.Holds(part) }) {
			return u.why
		}
	}
	return ""
}
