package mapping

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// policy normalizes an AWS policy, which is a tree or its JSON text, because AWS returns policies
// in other equivalent spellings. It returns any other value unchanged.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
func policy(v model.Value) model.Value {
	document := v
	if v.Kind() == model.String && document.UnmarshalJSON([]byte(v.Text())) != nil {
		return v
	}
	if document.Kind() != model.Map || v.HasSecret() {
		return v
	}
	statements := make([]model.Value, 0, 1)
	for _, s := range eachOf(document.At("Statement")) {
		statements = append(statements, statement(s))
	}
	slices.SortFunc(statements, func(a, b model.Value) int { return cmp.Compare(string(a.AppendJSON(nil)), string(b.AppendJSON(nil))) })
	return document.With("Statement", model.ListOf(statements...))
}

func statement(s model.Value) model.Value {
	forms := map[string]func(model.Value) model.Value{
		"Action": actions, "NotAction": actions, "Resource": set, "NotResource": set,
		"Principal": principal, "NotPrincipal": principal, "Condition": conditions,
	}
	fields := make([]model.Field, 0, len(s.Fields()))
	for _, f := range s.Fields() {
		if form, ok := forms[f.Name]; ok {
			f.Value = form(f.Value)
		}
		if !f.Value.IsEmpty() {
			fields = append(fields, f)
		}
	}
	if s.Kind() != model.Map {
		return s
	}
	return model.MapOf(fields...)
}

// eachOf returns the elements of a list, or a single value as the only element.
func eachOf(v model.Value) []model.Value {
	if v.Kind() == model.List || v.IsNull() {
		return v.Items()
	}
	return []model.Value{v}
}

// set returns a list of texts, or a single text, sorted and without duplicates.
func set(v model.Value) model.Value { return texts(v, func(s string) string { return s }) }

// actions is set for actions, whose case is ignored.
func actions(v model.Value) model.Value { return texts(v, strings.ToLower) }

func texts(v model.Value, form func(string) string) model.Value {
	items := make([]model.Value, 0, 1)
	for _, item := range eachOf(v) {
		items = append(items, model.StringOf(form(item.Text())))
	}
	slices.SortFunc(items, func(a, b model.Value) int { return cmp.Compare(a.Text(), b.Text()) })
	return model.ListOf(slices.CompactFunc(items, model.Value.Equal)...)
}

// principal normalizes a map of principals by type. It converts "*" to {"AWS": "*"}, and the number
// of an account to the ARN of its root user.
func principal(v model.Value) model.Value {
	if v.Kind() != model.Map {
		v = model.MapOf(model.Field{Name: "AWS", Value: v})
	}
	account := regexp.MustCompile(`^\d{12}$`)
	for _, f := range v.Fields() {
		v = v.With(f.Name, texts(f.Value, func(s string) string {
			if f.Name == "AWS" && account.MatchString(s) {
				return "arn:aws:iam::" + s + ":root"
			}
			return s
		}))
	}
	return v
}

// conditions normalizes sets of texts by key, by operator.
func conditions(v model.Value) model.Value {
	for _, operator := range v.Fields() {
		keys := operator.Value
		for _, key := range keys.Fields() {
			keys = keys.With(key.Name, set(key.Value))
		}
		v = v.With(operator.Name, keys)
	}
	return v
}
