package kubernetes

import (
	"strings"
	"testing"
)

func TestConfigComplete(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		change func(*Config)
		want   string
	}{
		"defaults":     {reason: "the user's kubeconfig is the default", change: func(*Config) {}},
		"two servers":  {reason: "a source has one API server", change: func(c *Config) { c.Kubeconfig, c.Server = "a", "b" }, want: "kubeconfig or context, server exclude each other"},
		"ca only":      {reason: "ca_file requires server", change: func(c *Config) { c.CAFile = "ca" }, want: "set server too"},
		"no dump":      {reason: "dump_complete requires dump", change: func(c *Config) { c.DumpComplete = true }, want: "set dump too"},
		"namespaces":   {reason: "a filtered dump would lose its coverage", change: func(c *Config) { c.Dump, c.Namespaces = "d", []string{"a"} }, want: "cannot be used with dump"},
		"user info":    {reason: "addresses are printed", change: func(c *Config) { c.Server = "https://u:p@h" }, want: "must not hold credentials"},
		"page size":    {reason: "a page needs objects", change: func(c *Config) { c.PageSize = 0 }, want: "page_size must be more than 0"},
		"canonicalize": {reason: "the only value is dry-run", change: func(c *Config) { c.Canonicalize = "yes" }, want: `want "dry-run"`},
		"pattern":      {reason: "a malformed pattern is an error", change: func(c *Config) { c.ExcludeKinds = []string{"[a"} }, want: `"[a" is malformed`},
		"audit log":    {reason: "a dump has no audit log", change: func(c *Config) { c.Dump, c.AuditLog = "d", "a" }, want: "cannot be used with dump"},
		"audit hook":   {reason: "a dump has no audit webhook", change: func(c *Config) { c.Dump, c.AuditWebhook = "d", &AuditWebhook{"t"} }, want: "cannot be used with dump"},
		"audit token":  {reason: "the webhook needs authentication", change: func(c *Config) { c.AuditWebhook = &AuditWebhook{} }, want: "audit_webhook.token_file is missing"},
		"audit since":  {reason: "no writes would be kept", change: func(c *Config) { c.AuditSince = 0 }, want: "audit_since must be more than 0"},
		"namespace":    {reason: "a namespace is part of a path", change: func(c *Config) { c.Namespaces = []string{"a/../b"} }, want: "is not a namespace name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := Defaults()
			tt.change(&config)
			_, err := config.complete()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s: complete() = %v, want %q", tt.reason, err, tt.want)
			}
		})
	}
}

func TestConfigExcludes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason   string
		patterns []string
		kind     string
		want     bool
	}{
		"default":     {reason: "events are excluded by default", kind: "kubernetes/Event", want: true},
		"by group":    {reason: "metrics are excluded by default", kind: "kubernetes/PodMetrics.metrics.k8s.io", want: true},
		"others":      {reason: "other kinds are read", kind: "kubernetes/Pod"},
		"none":        {reason: "an empty list excludes no kinds", patterns: []string{}, kind: "kubernetes/Event"},
		"whole names": {reason: "a pattern matches whole names", patterns: []string{"Pod"}, kind: "kubernetes/PodTemplate"},
		"with type":   {reason: "a pattern may have the type prefix", patterns: []string{"kubernetes/Pod"}, kind: "kubernetes/Pod", want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := Defaults()
			config.ExcludeKinds = tt.patterns
			config, err := config.complete()
			if err != nil {
				t.Fatal(err)
			}
			if got := config.excludes(tt.kind); got != tt.want {
				t.Errorf("%s: excludes(%s) = %v", tt.reason, tt.kind, got)
			}
		})
	}
}
