package kube

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

var secretKind = KindName("v1", "Secret")

// plainSecret folds a Secret's stringData into its data, as the API server
// does.
func plainSecret(kind string, object model.Value) model.Value {
	plain, ok := object.Get("stringData")
	if kind != secretKind || !ok {
		return object
	}
	fields := slices.Clone(object.At("data").Fields())
	for _, f := range plain.Fields() {
		encoded := base64.StdEncoding.EncodeToString([]byte(f.Value.Text()))
		fields = append(fields, model.Field{Name: f.Name, Value: model.StringOf(encoded)})
	}
	return object.Without("stringData").With("data", model.MapOf(fields...))
}

// seal replaces what is sensitive in an object's content by digests: the data
// of a Secret, by what it decodes to, and the values of environment variables
// that are named like one.
func seal(kind string, content model.Value, sealer model.Sealer) model.Value {
	if kind != secretKind {
		sealed, _ := sealEnv(content, sealer)
		return sealed
	}
	for _, field := range []string{"data", "stringData"} {
		data, ok := content.Get(field)
		if !ok {
			continue
		}
		fields := make([]model.Field, 0, len(data.Fields()))
		for _, f := range data.Fields() {
			fields = append(fields, model.Field{Name: f.Name, Value: sealData(f.Value, sealer)})
		}
		content = content.With(field, model.MapOf(fields...))
	}
	return content
}

// sealData digests what a base64 text decodes to, so that two encodings of one
// content are equal.
func sealData(v model.Value, sealer model.Sealer) model.Value {
	if v.IsNull() {
		return v
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(v.Text()))
	if err != nil {
		return sealer.SealTree(v)
	}
	return sealer.Seal(string(plain))
}

// sealEnv seals sensitive environment variables anywhere below a field named
// env. It returns the tree itself where nothing is sensitive.
func sealEnv(v model.Value, sealer model.Sealer) (model.Value, bool) {
	changed := false
	switch v.Kind() {
	case model.List:
		var items []model.Value
		for i, item := range v.Items() {
			if sealed, ok := sealEnv(item, sealer); ok {
				if items == nil {
					items = slices.Clone(v.Items())
				}
				items[i], changed = sealed, true
			}
		}
		if changed {
			return model.ListOf(items...), true
		}
	case model.Map:
		for _, f := range v.Fields() {
			below, ok := sealEnv(f.Value, sealer)
			if f.Name == "env" {
				below, ok = sealVariables(f.Value, sealer)
			}
			if ok {
				v, changed = v.With(f.Name, below), true
			}
		}
	}
	return v, changed
}

func sealVariables(env model.Value, sealer model.Sealer) (model.Value, bool) {
	changed := false
	items := slices.Clone(env.Items())
	for i, variable := range items {
		value, ok := variable.Get("value")
		if ok && value.Str() != "" && !strings.HasPrefix(value.Str(), "$(") && sensitive(variable.At("name").Str()) {
			items[i], changed = variable.With("value", sealer.Seal(value.Str())), true
		}
	}
	if !changed {
		return env, false
	}
	return model.ListOf(items...), true
}

// sensitive tells whether a variable is named like a secret: DB_PASSWORD,
// API_TOKEN, aws_secret_access_key.
func sensitive(name string) bool {
	name = strings.ToUpper(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	return slices.ContainsFunc([]string{"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "APIKEY", "PRIVATEKEY",
		"ACCESSKEY", "CREDENTIALS", "SECRETKEY"}, func(word string) bool { return strings.HasSuffix(name, word) })
}
