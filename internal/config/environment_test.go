package config_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/config"
)

// TestEveryVariable sets every single value by its variable. It fails for a new value whose
// type a variable cannot set, or whose variable is that of another value.
func TestEveryVariable(t *testing.T) {
	t.Setenv("DRIFTD_TEST_BIN", "no setting, and no error")
	texts := map[string]string{"server.listen": ":1", "server.access.loopback": "nobody", "server.access.oidc.issuer": "https://login.example.org",
		"server.access.proxy.user_header":   "X-User",
		"server.access.proxy.groups_header": "X-Groups", "log.format": "json", "log.level": "warn", "notify.url": "https://driftd.example.org"}
	set := map[string]bool{}
	want := []string{}
	for path, typ := range config.SingleValues() {
		value := texts[path]
		switch typ.(type) {
		case time.Duration:
			value = "7m"
		case int64:
			value = "700MiB"
		case int:
			value = "7"
		case string:
			if value == "" {
				value = "/seven"
			}
		case slog.Level:
		default:
			t.Errorf("%s: no variable can set a %T", path, typ)
		}
		variable := "DRIFTD_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
		if set[variable] {
			t.Errorf("%s sets two values", variable)
		}
		if strings.Contains(variable, "_SERVICE_") || strings.Contains(variable, "_PORT") || strings.HasPrefix(variable, "DRIFTD_TEST_") {
			t.Errorf("%s is reserved", variable)
		}
		set[variable] = true
		t.Setenv(variable, value)
		want = append(want, path+" by "+variable)
	}
	c, err := config.Load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.Overrides); diff != "" || len(want) < 20 {
		t.Errorf("overrides (-want +got):\n%s", diff)
	}
	if c.Schedule.Jitter != 7*time.Minute || c.MaxMemory != 700<<20 || c.Retention.MaxRuns != 7 || c.Server.Access.Loopback != "nobody" || c.Log.Level != slog.LevelWarn {
		t.Errorf("values are not set: %+v", c)
	}
}
