package catalogue

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// readTags returns tags as a map. Services return a map, or a list of keys and values.
func readTags(v model.Value) model.Value {
	if v.Kind() == model.Map {
		return v
	}
	fields := make([]model.Field, 0, len(v.Items()))
	for _, item := range v.Items() {
		name := cmp.Or(item.At("Key").Str(), item.At("key").Str(), item.At("TagKey").Str())
		value := item.At("Value")
		for _, other := range []string{"value", "TagValue"} {
			if value.IsNull() {
				value = item.At(other)
			}
		}
		if name != "" {
			fields = append(fields, model.Field{Name: name, Value: model.StringOf(value.Text())})
		}
	}
	return model.MapOf(fields...)
}

// reserved is what the names of tags begin with that no user can set.
const reserved = "aws:"

func withoutReserved(all model.Value) model.Value {
	return model.MapOf(slices.DeleteFunc(slices.Clone(all.Fields()), func(f model.Field) bool { return strings.HasPrefix(f.Name, reserved) })...)
}

// ownerByTags returns what created a resource according to tags that no user can set.
func ownerByTags(all model.Value) string {
	for _, by := range []struct{ tag, reason string }{
		{"aws:cloudformation:stack-name", "declared by the CloudFormation stack "},
		{"aws:autoscaling:groupName", "created by the Auto Scaling group "},
		{"aws:eks:cluster-name", "created by the EKS cluster "},
	} {
		if name := all.At(by.tag).Str(); name != "" {
			return by.reason + name
		}
	}
	return ""
}

// backups returns the snapshots and images that AWS Backup and Data Lifecycle Manager make, by tags that no user can set. Of other kinds
// these tags prove nothing: a resource that a user restores from a backup has the first one, too.
func backups() []Usual {
	var all []Usual
	for _, by := range []struct{ tag, reason string }{
		{"aws:backup:source-resource", "created by AWS Backup"},
		{"aws:dlm:lifecycle-policy-id", "created by Data Lifecycle Manager"},
	} {
		all = append(all, Usual{Reason: by.reason, Is: func(row model.Value, _ *Env) bool { return !readTags(row.At("tagSet")).At(by.tag).IsEmpty() }})
	}
	return all
}
