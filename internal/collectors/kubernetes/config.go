package kubernetes

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
)

// Config is the settings of a kubernetes source. The API server is named by
// Kubeconfig and Context, by InCluster, or by Server; with none of them the
// user's own kubeconfig counts, as for kubectl.
type Config struct {
	// Kubeconfig is a file of kubectl's; without it $KUBECONFIG, then ~/.kube/config.
	Kubeconfig string `mapstructure:"kubeconfig" path:"true"`
	// Context is that of the kubeconfig; without it, the current one.
	Context string `mapstructure:"context"`
	// InCluster reads the cluster that driftd itself runs in, by its service
	// account.
	InCluster bool `mapstructure:"in_cluster"`
	// Server is the API server's address, in place of a kubeconfig.
	Server string `mapstructure:"server"`
	// CAFile holds the authorities to trust instead of the system's, for Server; without
	// it, the system's count.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// TokenFile holds the token for the server, as of a service account.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// Dump is a file that "kubectl get -o yaml" or "-o json" wrote; it is read
	// instead of an API server.
	Dump string `mapstructure:"dump" path:"true"`
	// DumpComplete tells that the dump holds everything that there is, so that
	// what it lacks is missing.
	DumpComplete bool `mapstructure:"dump_complete"`
	// Namespaces are the only ones that are read; without any, all are.
	Namespaces []string `mapstructure:"namespaces"`
	// TryNamespaces are read one by one where a kind may not be listed in all
	// of them at once.
	TryNamespaces []string `mapstructure:"try_namespaces"`
	// ExcludeKinds are patterns of kinds that are not read ("Event",
	// "*.metrics.k8s.io"). Without it: events, leases, component statuses and
	// metrics.
	ExcludeKinds []string `mapstructure:"exclude_kinds"`
	// PageSize is how many objects one request asks for.
	PageSize int `mapstructure:"page_size"`
	// Concurrency is how many requests run at once.
	Concurrency int `mapstructure:"concurrency"`
	// Timeout bounds each request with its answer.
	Timeout time.Duration `mapstructure:"timeout"`
	// QPS limits the requests per second.
	QPS float64 `mapstructure:"qps"`
	// Burst is how many requests may be ahead of that limit.
	Burst int `mapstructure:"burst"`
	// Canonicalize is "dry-run" where declared objects go through a server-side
	// dry-run apply before they are compared.
	Canonicalize string `mapstructure:"canonicalize"`
	// AuditLog is the API server's audit log, a file of JSON lines that names
	// users.
	AuditLog string `mapstructure:"audit_log" path:"true"`
	// AuditWebhook lets the API server's audit webhook tell the same.
	AuditWebhook *AuditWebhook `mapstructure:"audit_webhook"`
	// AuditSince is how far back writes are remembered.
	AuditSince time.Duration `mapstructure:"audit_since"`
	// MaxObjectSize bounds one object, in bytes.
	MaxObjectSize int64 `mapstructure:"max_object_size"`
	// MaxPageSize bounds one answer, in bytes.
	MaxPageSize int64 `mapstructure:"max_page_size"`
}

// An AuditWebhook says how the API server shows that it is the one that sends.
type AuditWebhook struct {
	// TokenFile holds the token that the API server shows. It must be given.
	TokenFile string `mapstructure:"token_file" path:"true"`
}

// DryRun is the value of Config.Canonicalize that switches it on.
const DryRun = "dry-run"

// Defaults returns the settings that hold where the configuration is silent.
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

// DefaultExcludeKinds returns the kinds that nobody declares and that change
// all the time.
func DefaultExcludeKinds() []string {
	return []string{
		"Event", "Event.events.k8s.io",
		"Lease.coordination.k8s.io", "LeaseCandidate.coordination.k8s.io",
		"ComponentStatus", "*.metrics.k8s.io",
	}
}

// complete checks the settings and fills in what depends on others.
func (c Config) complete() (Config, error) {
	if c.ExcludeKinds == nil {
		c.ExcludeKinds = DefaultExcludeKinds()
	}
	return c, errors.Join(c.checkOrigin(), c.checkAudit(), c.checkLimits(), c.checkNames())
}

func (c Config) checkOrigin() error {
	var ways []string
	for _, way := range []struct {
		name string
		set  bool
	}{
		{"kubeconfig or context", c.Kubeconfig != "" || c.Context != ""},
		{"in_cluster", c.InCluster},
		{"server", c.Server != ""},
		{"dump", c.Dump != ""},
	} {
		if way.set {
			ways = append(ways, way.name)
		}
	}
	switch {
	case len(ways) > 1:
		return fmt.Errorf("settings %s exclude each other: keep one", strings.Join(ways, ", "))
	case c.Server == "" && (c.CAFile != "" || c.TokenFile != ""):
		return errors.New("settings ca_file and token_file go with server: set server too")
	case strings.Contains(c.Server, "@"):
		return errors.New("setting server must not hold credentials: put the token into token_file")
	case c.Dump != "" && len(c.Namespaces)+len(c.TryNamespaces) > 0:
		return errors.New("settings namespaces and try_namespaces do not go with dump: a dump is read as a whole")
	case c.Dump == "" && c.DumpComplete:
		return errors.New("setting dump_complete goes with dump: set dump too")
	}
	return nil
}

func (c Config) checkAudit() error {
	switch {
	case c.Dump != "" && (c.AuditLog != "" || c.AuditWebhook != nil):
		return errors.New("settings audit_log and audit_webhook do not go with dump: they tell of an API server that runs")
	case c.AuditWebhook != nil && c.AuditWebhook.TokenFile == "":
		return errors.New("setting audit_webhook.token_file is missing: set the file that holds the token which the API server shows")
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
			return fmt.Errorf("settings namespaces: %w; patterns are not taken", err)
		}
	}
	// These may come from manifests.
	for _, namespace := range c.TryNamespaces {
		if !isSegment(namespace) {
			return fmt.Errorf("settings try_namespaces: %q is no namespace", namespace)
		}
	}
	return nil
}

// CheckNamespace returns an error for a name that no namespace can have: it is
// not a label of RFC 1123.
func CheckNamespace(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	if len(name) > 63 || strings.Trim(name, letters+"-") != "" || name != strings.Trim(name, "-") || name == "" {
		return fmt.Errorf("%q is no namespace: want at most 63 lower-case letters, digits and dashes", name)
	}
	return nil
}

// isSegment tells a name that can stand in a request's path.
func isSegment(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/%?#")
}

// excludes tells whether a kind is left out.
func (c Config) excludes(kind string) bool { return collectors.Excludes(c.ExcludeKinds, kind) }
