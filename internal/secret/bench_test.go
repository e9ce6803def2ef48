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

// BenchmarkRoom seals 5,000 real objects. The metric "decode/op" is how often that fits
// into the time that reading them from JSON takes.
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
	size := 0
	for i := range 5000 {
		object := items[i%len(items)].With("n", model.StringOf(fmt.Sprint(i)))
		objects = append(objects, object)
		size += len(object.AppendJSON(nil))
	}
	text := model.ListOf(objects...).AppendJSON(nil)
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
