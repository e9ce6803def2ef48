package collectors_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
)

func TestExcludes(t *testing.T) {
	t.Parallel()
	for reason, test := range map[string]struct {
		patterns, kind string
		want           bool
	}{
		"name without type": {"port", "openstack/port", true},
		"name with type":    {"openstack/port", "openstack/port", true},
		"glob":              {"router security_*", "openstack/security_group", true},
		"another type":      {"netbox/port", "openstack/port", false},
		"part of the name":  {"security", "openstack/security_group", false},
		"no patterns":       {"", "openstack/port", false},
	} {
		if got := collectors.Excludes(strings.Fields(test.patterns), test.kind); got != test.want {
			t.Errorf("%s: Excludes(%q, %s) = %t", reason, test.patterns, test.kind, got)
		}
	}
	if err := collectors.CheckPatterns([]string{"port", "[a"}, "router"); err == nil || !strings.Contains(err.Error(), `"[a"`) || !strings.Contains(err.Error(), "such as router") {
		t.Errorf("error %v, want one that names the malformed pattern and a valid one", err)
	}
}
