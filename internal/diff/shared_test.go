package diff

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// elementLens shows the live route that its claim is about.
type elementLens struct {
	*renamedLens

	own model.Value
}

func (l elementLens) View(live model.Value) model.Value {
	if slices.ContainsFunc(live.At("routes").Items(), l.own.Equal) {
		return model.MapOf(model.Field{Name: "to", Value: l.own})
	}
	return model.MapOf()
}

func (elementLens) IsShared(path string) bool   { return path == "to" }
func (elementLens) Misfit(*model.Schema) string { return "" }

func TestElementsOfOneListAreNoDispute(t *testing.T) {
	t.Parallel()
	claim := func(to string) *model.Claim {
		own := model.StringOf(to)
		lens := elementLens{newRenamedLens(map[string]string{"to": "routes"}, ""), own}
		return &model.Claim{Declaration: "tool", Address: "route." + to, Value: model.MapOf(model.Field{Name: "to", Value: own}), Lens: lens, RecordOnly: true}
	}
	s := model.Subject{Key: model.Key{Source: "cloud"}, Live: &model.Resource{Value: value(t, `{"routes":["b"]}`)}, Claims: []*model.Claim{claim("a"), claim("b")}}
	if diff := gocmp.Diff([]string{`changed to "a" -`}, sketch(Compare(&s, Options{}))); diff != "" {
		t.Error(diff)
	}
}
