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
		"defaults":     {reason: "the user's own kubeconfig is enough", change: func(*Config) {}},
		"two ways":     {reason: "one server at a time", change: func(c *Config) { c.Kubeconfig, c.Server = "a", "b" }, want: "kubeconfig or context, server exclude each other"},
		"stray ca":     {reason: "a CA belongs to a server", change: func(c *Config) { c.CAFile = "ca" }, want: "set server too"},
		"stray dump":   {reason: "complete belongs to a dump", change: func(c *Config) { c.DumpComplete = true }, want: "set dump too"},
		"places":       {reason: "a filtered dump would lose its coverage", change: func(c *Config) { c.Dump, c.Namespaces = "d", []string{"a"} }, want: "do not go with dump"},
		"user info":    {reason: "addresses are printed", change: func(c *Config) { c.Server = "https://u:p@h" }, want: "must not hold credentials"},
		"page size":    {reason: "a page holds something", change: func(c *Config) { c.PageSize = 0 }, want: "page_size must be more than 0"},
		"canonicalize": {reason: "there is one way", change: func(c *Config) { c.Canonicalize = "yes" }, want: `want "dry-run"`},
		"pattern":      {reason: "a pattern that matches nothing is a mistake", change: func(c *Config) { c.ExcludeKinds = []string{"[a"} }, want: `"[a" is malformed`},
		"audit log":    {reason: "a dump has no past", change: func(c *Config) { c.Dump, c.AuditLog = "d", "a" }, want: "do not go with dump"},
		"audit hook":   {reason: "nor a server that tells", change: func(c *Config) { c.Dump, c.AuditWebhook = "d", &AuditWebhook{"t"} }, want: "do not go with dump"},
		"audit token":  {reason: "anybody could tell anything", change: func(c *Config) { c.AuditWebhook = &AuditWebhook{} }, want: "audit_webhook.token_file is missing"},
		"audit since":  {reason: "nothing would be remembered", change: func(c *Config) { c.AuditSince = 0 }, want: "audit_since must be more than 0"},
		"namespace":    {reason: "a namespace stands in a path", change: func(c *Config) { c.Namespaces = []string{"a/../b"} }, want: "is no namespace"},
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
		"default":     {reason: "events are noise", kind: "kubernetes/Event", want: true},
		"by group":    {reason: "so is what is measured", kind: "kubernetes/PodMetrics.metrics.k8s.io", want: true},
		"others":      {reason: "the rest is read", kind: "kubernetes/Pod"},
		"none":        {reason: "an empty list leaves nothing out", patterns: []string{}, kind: "kubernetes/Event"},
		"whole names": {reason: "a pattern is no prefix", patterns: []string{"Pod"}, kind: "kubernetes/PodTemplate"},
		"with type":   {reason: "kinds may be written as findings show them", patterns: []string{"kubernetes/Pod"}, kind: "kubernetes/Pod", want: true},
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
