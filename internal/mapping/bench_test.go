package mapping_test

import "testing"

// BenchmarkView measures the comparison of one guest without changes.
func BenchmarkView(b *testing.B) {
	for _, file := range []string{"bpg-vm", "bpg-container", "telmate", "netbox-forms"} {
		b.Run(file, func(b *testing.B) {
			doc := documents(b, "testdata/examples/"+file+".yaml")[0].Value
			typ, _ := load(b).Find(doc.At("provider").Text(), doc.At("type").Text())
			e := newExample(b, doc, typ)
			live := e.shape(doc.At("live"))
			b.ReportAllocs()
			for b.Loop() {
				e.claim.Lens.View(live)
			}
		})
	}
}

// BenchmarkLoad measures loading and compiling the built-in tables.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		load(b).Types()
	}
}
