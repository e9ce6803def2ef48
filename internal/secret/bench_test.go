package secret_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

// BenchmarkRoom seals 5,000 real objects. The time to decode them from JSON, a small part of a
// scan, is measured for comparison.
func BenchmarkRoom(b *testing.B) {
	data, err := os.ReadFile(filepath.Join("..", "kube", "testdata", "drifted.json"))
	if err != nil {
		b.Fatal(err)
	}
	list, err := decode.JSON(data)
	if err != nil {
		b.Fatal(err)
	}
	items := list.At("items").Items()
	var objects []model.Value
	for i := range 5000 {
		object := items[i%len(items)].With("n", model.StringOf(fmt.Sprint(i)))
		objects = append(objects, object)
	}
	text := model.ListOf(objects...).AppendJSON(nil)
	size := len(text)
	for i, object := range objects { // The collector removes these fields.
		metadata := object.At("metadata").Without("managedFields")
		annotations := metadata.At("annotations").Without("kubectl.kubernetes.io/last-applied-configuration")
		objects[i] = object.With("metadata", metadata.With("annotations", annotations)).Without("status")
	}
	r := room(secret.Options{})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			if _, err := decode.JSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("seal", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			for _, object := range objects {
				r.Value("kubernetes/x", object)
			}
		}
	})
}
