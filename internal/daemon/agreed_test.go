package daemon

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// observed returns observations of the images at seconds, "" for no image and "-" for an absent resource.
// Arguments are newest first.
func observed(t *testing.T, images ...any) (list []model.Observation) {
	t.Helper()
	for i := 0; i < len(images); i += 2 {
		o := model.Observation{At: time.Unix(int64(images[i].(int)), 0)}
		if image := images[i+1].(string); image != "-" {
			text := `{"containers":[{"name":"web"}]}`
			if image != "" {
				text = `{"containers":[{"name":"web","image":"` + image + `"}]}`
			}
			v, err := decode.JSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			o.Value = &v
		}
		list = append(list, o)
	}
	return list
}

func TestAgreementOfObservations(t *testing.T) {
	t.Parallel()
	const image = "containers[name=web].image"
	for name, tc := range map[string]struct {
		reason         string
		live, declared []any
		path           string
		want           reconcile.Agreement
	}{
		"edited":              {"the declaration is as it was", []any{5, "evil", 0, "1.4"}, []any{0, "1.4"}, image, reconcile.Agreed},
		"edited twice":        {"the edit before was no agreement", []any{6, "evil2", 5, "evil", 0, "1.4"}, []any{0, "1.4"}, image, reconcile.Agreed},
		"committed since":     {"the new version was never applied", []any{5, "evil", 0, "1.4"}, []any{9, "1.5", 0, "1.4"}, image, reconcile.Moved},
		"pending, edited":     {"the new version was never applied", []any{9, "evil", 0, "1.4"}, []any{5, "1.5", 0, "1.4"}, image, reconcile.Moved},
		"applied, edited":     {"the new version was applied", []any{9, "evil", 6, "1.5", 0, "1.4"}, []any{5, "1.5", 0, "1.4"}, image, reconcile.Agreed},
		"applied before read": {"the source was read before the declaration", []any{9, "evil", 5, "1.5", 0, "1.4"}, []any{6, "1.5", 0, "1.4"}, image, reconcile.Agreed},
		"taken back":          {"the commit that took it back was not applied", []any{9, "evil", 5, "1.5", 0, "1.4"}, []any{7, "1.4", 5, "1.5", 0, "1.4"}, image, reconcile.Moved},
		"first look":          {"nothing is known of before", []any{0, "evil"}, []any{0, "1.4"}, image, reconcile.NeverAgreed},
		"not declared":        {"there is no observation", []any{0, "evil"}, nil, image, reconcile.NeverAgreed},
		"old value":           {"it was declared at another time than it was live", []any{9, "evil", 5, "1.3"}, []any{9, "1.4", 8, "1.3", 0, "1.4"}, image, reconcile.Moved},
		"before":              {"it was declared only before it was live", []any{9, "evil", 5, "1.3"}, []any{5, "1.4", 0, "1.3"}, image, reconcile.NeverAgreed},
		"added":               {"neither had the field", []any{5, "evil", 0, ""}, []any{0, ""}, image, reconcile.Agreed},
		"deleted":             {"the declaration is as it was", []any{5, "-", 0, "1.4"}, []any{0, "1.4"}, "", reconcile.Agreed},
		"deleted, committed":  {"it would be created in another version", []any{5, "-", 0, "1.4"}, []any{9, "1.5", 0, "1.4"}, "", reconcile.Moved},
		"never there":         {"it was never live", []any{0, "-"}, []any{0, "1.4"}, "", reconcile.NeverAgreed},
		"strange path":        {"it leads nowhere", []any{5, "evil", 0, "1.4"}, []any{0, "1.4"}, "a[", reconcile.NeverAgreed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := agreement(observed(t, tc.live...), observed(t, tc.declared...), tc.path); got != tc.want {
				t.Errorf("got %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
}
