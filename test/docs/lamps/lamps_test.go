package lamps

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/collectortest"
	"github.com/driftd/driftd/internal/model"
)

func TestContract(t *testing.T) {
	t.Parallel()
	collectortest.Run(t, collectortest.Subject{
		Open: func(t *testing.T, s collectortest.Settings) collectors.Collector {
			t.Helper()
			return openTest(t, s.URL, s)
		},
		Estate: func(order *rand.Rand) http.Handler { return controller(order, 3) },
		// It counts three lamps, and shows one.
		Weak: controller(rand.New(rand.NewPCG(1, 1)), 1),
	})
}

func openTest(t *testing.T, url string, s collectortest.Settings) collectors.Collector {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := open(env(), Config{URL: url, TokenFile: token, Timeout: s.Timeout, MaxBody: s.MaxBody})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func env() collectors.Env {
	return collectors.Env{Name: "home", Sealer: model.NewSealer([]byte("test")), Log: slog.New(slog.DiscardHandler)}
}

// controller stands in for one of three lamps, of which it shows some.
func controller(order *rand.Rand, shown int) http.Handler {
	lamps := []string{
		`{"id": "1", "name": "Door", "on": true, "rooms": ["hall"], "pin": "4711", "temperature": 31}`,
		`{"id": "2", "name": "Desk", "on": false, "rooms": ["study"], "temperature": 20}`,
		`{"id": "3", "name": "Lantern", "on": false, "rooms": ["yard", "path"], "temperature": 8}`,
	}
	order.Shuffle(len(lamps), func(i, j int) { lamps[i], lamps[j] = lamps[j], lamps[i] })
	answer := fmt.Sprintf(`{"count": 3, "lamps": [%s]}`, strings.Join(lamps[:shown], ","))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// A client that is gone takes no answer.
		_, _ = w.Write([]byte(answer))
	})
}

func TestCollect(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(controller(rand.New(rand.NewPCG(1, 1)), 3))
	defer server.Close()
	snapshot, err := openTest(t, server.URL, collectortest.Settings{Timeout: 1 << 40, MaxBody: 1 << 20}).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	door := snapshot.Resources[0]
	if door.Key.String() != "home/lamps/lamp/1" || door.Name != "Door" {
		t.Errorf("the first lamp is %s, %s", door.Key, door.Name)
	}
	if pin := door.Value.At("pin"); pin.Kind() != model.Secret || strings.Contains(pin.Text(), "4711") {
		t.Errorf("the PIN is %v: a secret leaves as a digest", pin)
	}
	if _, ok := door.Value.Get("temperature"); ok {
		t.Error("the temperature counts: it changes by itself")
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	good := Config{URL: "https://lamps.example.org", TokenFile: "token", Timeout: 1, MaxBody: 1}
	for name, tc := range map[string]struct {
		reason string
		edit   func(*Config)
		want   string
	}{
		"in the clear": {"a token must not cross the network in the clear", func(c *Config) { c.URL = "http://lamps.example.org" }, "url"},
		"no token":     {"the controller answers nobody else", func(c *Config) { c.TokenFile = "" }, "token_file"},
		"no bound":     {"every answer has one", func(c *Config) { c.MaxBody = 0 }, "max_body"},
		"no time":      {"every request has one", func(c *Config) { c.Timeout = 0 }, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := good
			tc.edit(&config)
			if _, err := open(env(), config); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("open() = %v, want an error about %s: %s", err, tc.want, tc.reason)
			}
		})
	}
}
