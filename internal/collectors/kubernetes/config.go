package kubernetes

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
)

// Config configures a kubernetes source. Kubeconfig and Context, InCluster, or Server select the
// API server. Without them, it is that of the user's kubeconfig, as with kubectl.
type Config struct {
	// Kubeconfig is a kubeconfig file; by default $KUBECONFIG, then ~/.kube/config.
	Kubeconfig string `mapstructure:"kubeconfig" path:"true"`
	// Context is a context of the kubeconfig; by default the current one.
	Context string `mapstructure:"context"`
	// InCluster selects the cluster in which driftd runs, with the pod's service account.
	InCluster bool `mapstructure:"in_cluster"`
	// Server is the address of the API server, instead of a kubeconfig.
	Server string `mapstructure:"server"`
	// CAFile is the file with the certificate authorities for Server; by default those of the
	// system.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// TokenFile is the file with the token for Server, such as that of a service account.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// Dump is an output file of "kubectl get -o yaml" or "-o json". It is read instead of an API
	// server.
	Dump string `mapstructure:"dump" path:"true"`
	// DumpComplete declares that the dump contains all objects of the cluster, so that objects that
	// it lacks count as absent.
	DumpComplete bool `mapstructure:"dump_complete"`
	// Namespaces are the namespaces to read; by default all.
	Namespaces []string `mapstructure:"namespaces"`
	// TryNamespaces are the namespaces in which a kind is listed if listing it in all
	// namespaces is forbidden.
	TryNamespaces []string `mapstructure:"try_namespaces"`
	// ExcludeKinds are patterns of kinds that are not read ("Event", "*.metrics.k8s.io");
	// by default events, leases, component statuses and metrics.
	ExcludeKinds []string `mapstructure:"exclude_kinds"`
	// PageSize is the number of objects per list request.
	PageSize int `mapstructure:"page_size"`
	// Concurrency is the maximum number of concurrent requests.
	Concurrency int `mapstructure:"concurrency"`
	// Timeout limits each request, including its response.
	Timeout time.Duration `mapstructure:"timeout"`
	// QPS limits the requests per second.
	QPS float64 `mapstructure:"qps"`
	// Burst is the number of requests that may exceed QPS for a short time.
	Burst int `mapstructure:"burst"`
	// Canonicalize is "dry-run" to send declared objects through a server-side dry-run apply
	// before they are compared.
	Canonicalize string `mapstructure:"canonicalize"`
	// AuditLog is the audit log of the API server, a file of JSON lines.
	AuditLog string `mapstructure:"audit_log" path:"true"`
	// AuditWebhook enables receiving events from the audit webhook of the API server.
	AuditWebhook *AuditWebhook `mapstructure:"audit_webhook"`
	// AuditSince is how long the writes in the audit log are kept.
	AuditSince time.Duration `mapstructure:"audit_since"`
	// MaxObjectSize is the maximum size of one object, in bytes.
	MaxObjectSize int64 `mapstructure:"max_object_size"`
	// MaxPageSize is the maximum size of one response, in bytes.
	MaxPageSize int64 `mapstructure:"max_page_size"`
}

// AuditWebhook configures how the API server authenticates as the sender of audit events.
type AuditWebhook struct {
	// TokenFile is the file with the token that the API server sends. It is required.
	TokenFile string `mapstructure:"token_file" path:"true"`
}

// DryRun is the value of Config.Canonicalize that enables canonicalization.
const DryRun = "dry-run"

// Defaults returns the default settings.
func Defaults() Config {
	return Config{
		PageSize:      500,
		Concurrency:   8,
		Timeout:       30 * time.Second,
		QPS:           50,
		Burst:         300,
		AuditSince:    24 * time.Hour,
		MaxObjectSize: 16 << 20,
		MaxPageSize:   512 << 20,
	}
}

// DefaultExcludeKinds returns the default of Config.ExcludeKinds: kinds that are not declared and
// whose objects change continuously.
func DefaultExcludeKinds() []string {
	return []string{
		"Event", "Event.events.k8s.io",
		"Lease.coordination.k8s.io", "LeaseCandidate.coordination.k8s.io",
		"ComponentStatus", "*.metrics.k8s.io",
	}
}

// complete checks the settings and returns them with defaults.
func (c Config) complete() (Config, error) {
	if c.ExcludeKinds == nil {
		c.ExcludeKinds = DefaultExcludeKinds()
	}
	return c, errors.Join(c.checkOrigin(), c.checkAudit(), c.checkLimits(), c.checkNames())
}

func (c Config) checkOrigin() error {
	ways := c.Access().Ways()
	if c.Dump != "" {
		ways = append(ways, "dump")
	}
	switch {
	case len(ways) > 1:
		return fmt.Errorf("settings %s exclude each other: keep one", strings.Join(ways, ", "))
	case c.Dump != "" && len(c.Namespaces)+len(c.TryNamespaces) > 0:
		return errors.New("settings namespaces and try_namespaces cannot be used with dump: remove them, a dump is read as a whole")
	case c.Dump == "" && c.DumpComplete:
		return errors.New("setting dump_complete requires dump: set dump too")
	}
	return c.Access().Check()
}

func (c Config) checkAudit() error {
	switch {
	case c.Dump != "" && (c.AuditLog != "" || c.AuditWebhook != nil):
		return errors.New("settings audit_log and audit_webhook cannot be used with dump: remove them, or read an API server")
	case c.AuditWebhook != nil && c.AuditWebhook.TokenFile == "":
		return errors.New("setting audit_webhook.token_file is missing: set the file with the token that the API server sends")
	}
	return nil
}

func (c Config) checkLimits() error {
	for _, limit := range []struct {
		name string
		ok   bool
	}{
		{"page_size", c.PageSize > 0},
		{"concurrency", c.Concurrency > 0},
		{"timeout", c.Timeout > 0},
		{"qps", c.QPS > 0},
		{"burst", c.Burst > 0},
		{"audit_since", c.AuditSince > 0},
		{"max_object_size", c.MaxObjectSize > 0},
		{"max_page_size", c.MaxPageSize > 0},
	} {
		if !limit.ok {
			return fmt.Errorf("setting %s must be more than 0", limit.name)
		}
	}
	if c.Canonicalize != "" && c.Canonicalize != DryRun {
		return fmt.Errorf("setting canonicalize is %q: want %q, or leave it out", c.Canonicalize, DryRun)
	}
	return nil
}

func (c Config) checkNames() error {
	if err := collectors.CheckPatterns(c.ExcludeKinds, "Event or *.metrics.k8s.io"); err != nil {
		return err
	}
	for _, namespace := range c.Namespaces {
		if err := CheckNamespace(namespace); err != nil {
			return fmt.Errorf("settings namespaces: %w; patterns are not supported", err)
		}
	}
	// The names of try_namespaces may come from manifests.
	for _, namespace := range c.TryNamespaces {
		if !isSegment(namespace) {
			return fmt.Errorf("settings try_namespaces: %q is not a namespace name", namespace)
		}
	}
	return nil
}

// CheckNamespace returns an error if name is not a valid name of a namespace, which is a label of
// RFC 1123.
func CheckNamespace(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	if len(name) > 63 || strings.Trim(name, letters+"-") != "" || name != strings.Trim(name, "-") || name == "" {
		return fmt.Errorf("%q is not a namespace name: want at most 63 lower-case letters, digits and dashes", name)
	}
	return nil
}

// isSegment reports whether a name can be one segment of a request's path.
func isSegment(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/%?#")
}

// excludes reports whether exclude_kinds matches a kind.
func (c Config) excludes(kind string) bool { return collectors.Excludes(c.ExcludeKinds, kind) }
