package kubernetes

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"

	"github.com/driftd/driftd/internal/model"
)

// HandBackPatch is handBackPatch, for tests.
var HandBackPatch = handBackPatch

// PackRelease returns the record of a release as a Secret of Helm has it.
func PackRelease(record string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(record))
	_ = z.Close()
	text := base64.StdEncoding.EncodeToString(b.Bytes())
	return base64.StdEncoding.EncodeToString([]byte(text))
}

// Scrub returns a text without the secrets of a value.
func Scrub(plain, sealed model.Value, text string) string {
	var r redactor
	r.add(plain, sealed)
	return r.text(text)
}
