package aws

import (
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/collectortest"
)

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestContract(t *testing.T) {
	t.Parallel()
	weak := newStore("logs", "data")
	for _, answers := range weak.buckets {
		for subresource := range answers {
			answers[subresource] = "!403 AccessDenied"
		}
	}
	collectortest.Run(t, collectortest.Subject{
		Open: func(t *testing.T, s collectortest.Settings) collectors.Collector {
			t.Helper()
			config := testConfig(t, s.URL)
			config.Timeout, config.MaxBody = s.Timeout, s.MaxBody
			return testInventory(t, config)
		},
		Estate: func(order *rand.Rand) http.Handler {
			s := newStore("logs", "data", "web")
			s.order = order
			s.buckets["logs"]["tagging"] = `<Tagging ` + namespace + `><TagSet><Tag><Key>team</Key><Value>data</Value></Tag></TagSet></Tagging>`
			s.buckets["web"]["policy"] = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::web/*"}]}`
			return s
		},
		Weak: weak,
	})
}
