package kube

import (
	"bytes"
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

// hasReference reports whether a Secret has a reference that a person replaces by the secret before the Secret is applied.
// https://developer.1password.com/docs/cli/reference/commands/inject/
func hasReference(kind string, object model.Value) bool {
	return kind == secretKind && slices.ContainsFunc(plainSecret(kind, object).At("data").Fields(), func(f model.Field) bool {
		plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(f.Value.Text()))
		return err == nil && bytes.Contains(plain, []byte("op://"))
	})
}

// seal replaces the data of a Secret by digests of the decoded values, and the texts in the values
// of a Helm release, whose record is in a Secret. Package secret finds the secrets in other
// objects.
func seal(kind string, content model.Value, sealer model.Sealer) model.Value {
	if kind == ReleaseKind {
		return content.With("values", sealTexts(content.At("values"), sealer))
	}
	if kind != secretKind {
		return content
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

// sealTexts replaces all texts that are not empty by digests. Numbers and booleans remain.
func sealTexts(v model.Value, sealer model.Sealer) model.Value {
	switch v.Kind() {
	case model.String:
		if v.Str() != "" {
			return sealer.Seal(v.Str())
		}
	case model.List:
		items := make([]model.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = sealTexts(item, sealer)
		}
		return model.ListOf(items...)
	case model.Map:
		fields := make([]model.Field, len(v.Fields()))
		for i, f := range v.Fields() {
			fields[i] = model.Field{Name: f.Name, Value: sealTexts(f.Value, sealer)}
		}
		return model.MapOf(fields...)
	}
	return v
}
