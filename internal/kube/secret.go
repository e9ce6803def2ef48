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

// seal replaces the data of a Secret by digests of the decoded values. Package secret finds
// the secrets of other objects.
func seal(kind string, content model.Value, sealer model.Sealer) model.Value {
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
