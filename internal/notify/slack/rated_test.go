package slack_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	driftdslack "github.com/driftd/driftd/internal/notify/slack"
)

// TestRatedFinding checks that a message has the reason of a severity rule.
func TestRatedFinding(t *testing.T) {
	t.Parallel()
	f := with(changed("301"), func(f *model.Finding) {
		f.Severity, f.Rated = model.Critical, &model.Rating{Was: model.Medium, Reason: "settings decide prices"}
	})
	_, blocks := driftdslack.Render(model.Message{Kind: model.NewMessage, First: true, Severity: f.Severity, NewsCount: 1, OpenCount: 1,
		News: []model.Item{{News: model.Appeared, Finding: f}}, All: []model.Item{{News: model.Standing, Finding: f}}}, false, true)
	raw, err := json.Marshal(blocks)
	if err != nil {
		t.Fatal(err)
	}
	shown := render(t, string(raw))
	if want := "rated critical by a severity rule, otherwise medium: settings decide prices"; !strings.Contains(shown, want) {
		t.Errorf("no %q in:\n%s", want, shown)
	}
}
