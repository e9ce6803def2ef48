package kubernetes

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// packedRelease returns the record of a release as Helm stores it.
func packedRelease(t *testing.T) string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(`{"name":"blog","namespace":"ns","version":1,"info":{"status":"deployed"},"config":{"a":1},"manifest":""}`)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(packed.Bytes())))
}

// TestReleaseReader unpacks a record once, as long as its Secret has the same version.
func TestReleaseReader(t *testing.T) {
	t.Parallel()
	data := packedRelease(t)
	var r releaseReader
	sealer := model.NewSealer([]byte("key"))
	read := func(uid, version string) *model.Installation {
		record := r.read(parse(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","type":"helm.sh/release.v1","metadata":{"name":"sh.helm.release.v1.blog.v1","namespace":"ns",
			"uid":%q,"resourceVersion":%q,"labels":{"status":"deployed"}},"data":{"release":%q}}`, uid, version, data)), sealer)
		if record == nil || record.Unread != "" || record.Name != "blog" {
			t.Fatalf("record %+v", record)
		}
		return record
	}
	r.begin()
	first, unnamed := read("u", "1"), read("", "1")
	r.begin()
	if read("u", "1") != first {
		t.Error("an unchanged record was read again")
	}
	if read("u", "2") == first || read("v", "1") == first {
		t.Error("the record of another version was used")
	}
	if read("", "1") == unnamed {
		t.Error("a record without a UID was kept")
	}
	r.begin()
	r.begin()
	if len(r.before) != 0 {
		t.Errorf("%d records of Secrets that are gone are kept", len(r.before))
	}
	r.weight = maxReleases
	if read("u", "1"); len(r.known) != 0 {
		t.Error("more is kept than the bound")
	}
	if r.read(parse(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`), sealer) != nil {
		t.Error("a Secret without a record has one")
	}
}
