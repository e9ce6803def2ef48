package daemon

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/slack-go/slack/slacktest"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/slack"
	"github.com/driftd/driftd/internal/store"
)

// BenchmarkNotify5000 plans, stores and posts the notifications about 5,000 new findings in a
// hundred places, at the default rate of a receiver.
func BenchmarkNotify5000(b *testing.B) {
	findings := make([]model.Finding, 5000)
	at := time.Now()
	for i := range findings {
		id := fmt.Sprintf("shop/web-%04d", i)
		v, w := model.StringOf("web:1.4"), model.StringOf("web:1.5-hotfix")
		findings[i] = model.Finding{ID: fmt.Sprintf("%012x", i), Verdict: model.Changed, Severity: model.High,
			Key: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: id}, Place: "shop", Name: id[5:],
			Declaration: fmt.Sprintf("git-%d", i%100), Address: "deploy/web.yaml:12", Basis: "1", Actor: model.UnknownActor("no log"),
			Changes: []model.Change{{Path: "spec.template.spec.containers[name=web].image", Declared: &v, Recorded: &v, Live: &w}}, FirstSeen: at, LastSeen: at}
	}
	messages, before := 0, cpu(b)
	for b.Loop() {
		messages += tellAll(b, findings, at)
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "ns-cpu/op")
	b.ReportMetric(float64(messages)/float64(b.N), "messages/op")
}

// tellAll returns how many messages Slack got.
func tellAll(b *testing.B, findings []model.Finding, at time.Time) int {
	b.Helper()
	st, err := store.Open(b.TempDir(), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	posted := 0
	server := slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/chat.postMessage", func(w http.ResponseWriter, _ *http.Request) {
			posted++
			_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "channel": "C0BENCH", "ts": fmt.Sprintf("1700000000.%06d", posted)})
		})
	})
	server.Start()
	defer server.Stop()
	token := filepath.Join(b.TempDir(), "token")
	if err := os.WriteFile(token, []byte("xoxb-bench"), 0o600); err != nil {
		b.Fatal(err)
	}
	receiver, err := slack.Definition().Open(notify.Env{Name: "ops", Now: time.Now, Log: slog.New(slog.DiscardHandler)}, func(into any) error {
		c := into.(*slack.Config)
		c.TokenFile, c.Channel, c.APIURL, c.Pace = token, "C0BENCH", server.GetAPIURL(), 0
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	policy := notify.Policy{Routes: []notify.Route{{Receivers: []string{"ops"}, GroupBy: []string{"cause"}}},
		Receivers: map[string]notify.Pacing{"ops": {Messages: 20, Per: 10 * time.Minute, Digest: -1}}}
	planned := policy.Plan(notify.Input{Findings: findings, Now: at})
	if err := st.Save(store.Record{Run: model.Run{Started: at, Finished: at}, Findings: findings, Notices: planned}); err != nil {
		b.Fatal(err)
	}
	for _, m := range planned.Messages {
		if _, err := receiver.Notifier.Notify(b.Context(), model.OutboxEntry{Message: m}); err != nil {
			b.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		b.Fatal(err)
	}
	return posted
}

// cpu is what this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
