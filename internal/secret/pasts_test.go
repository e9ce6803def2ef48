package secret_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

// TestPasts checks that authors and messages of commits and gaps are sealed.
func TestPasts(t *testing.T) {
	t.Parallel()
	commit := model.Commit{Author: "https://u:" + planted + "@h/", Message: "rotate https://u:" + planted + "@h/"}
	got := room(secret.Options{}).Pasts(nil, []model.Past{{Gap: "fetch https://u:" + planted + "@h/", Versions: []model.Version{{From: commit, Until: commit}}}})
	v := got[0].Versions[0]
	for place, text := range map[string]string{"author": v.From.Author, "message": v.From.Message, "author of the end": v.Until.Author,
		"message of the end": v.Until.Message, "gap": got[0].Gap} {
		if strings.Contains(text, planted) || !strings.Contains(text, "https://u:") {
			t.Errorf("%s: %q", place, text)
		}
	}
}
