package kubernetes

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
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
