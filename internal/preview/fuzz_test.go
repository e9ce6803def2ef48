package preview_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/preview"
)

// FuzzFromPlan checks that no plan ends the program, and that each item has an effect.
func FuzzFromPlan(f *testing.F) {
	p, k := large(3)
	text, err := json.Marshal(object{"format_version": "1.2", "resource_drift": p.drift, "resource_changes": p.changes, "configuration": object{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(strings.ReplaceAll(string(text), `"after_unknown":{}`, `"after_unknown":{"size":true,"rules":[{"port":true}],"tags":true}`))
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := terraform.ReadPlan(strings.NewReader(text), "", model.NewSealer([]byte("key")))
		if err != nil {
			return
		}
		got, err := preview.FromPlan(plan, k, options())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range got.Items {
			if it.Effect == "" || it.Address == "" {
				t.Errorf("an item without an effect or an address: %+v", it)
			}
		}
	})
}
