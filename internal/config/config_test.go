package config_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/reconcile"
)

const minimal = "sources: [{name: prod, type: kubernetes}]\n"

// write puts a configuration into a folder of its own.
func write(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "driftd.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func load(t *testing.T, content string) *config.Config {
	t.Helper()
	c, err := config.Load(write(t, content), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoad(t *testing.T) {
	t.Parallel()
	file := write(t, `
state_dir: state
schedule: {every: 1h, jitter: 0, timeout: 90s, max_memory: 64MiB}
max_memory: 134217728
server: {listen: ":9000", web_config_file: ~/web.yml}
log: {format: json, level: debug}
retention: {max_age: 1w, max_runs: 10, max_run_bytes: 4096, audit_max_age: 52w}
sources:
  - {name: prod, type: kubernetes, every: 5m, timeout: 1m, max_memory: 100MB, settings: {kubeconfig: kube/config}}
  - {name: pve.1, type: proxmox}
declarations:
  - {name: shop, type: manifests, governs: [prod], every: 1d}
ignore:
  - {source: prod, path: spec.replicas, reason: sale, expires: 2027-01-31}
  - {kind: "*/Job.batch", value: "*:latest", reason: noise, expires: 2027-01-31T12:00:00+01:00}
owners:
  - {match: {label: {app.kubernetes.io/part-of: shop}, namespace: shop}, owner: team-shop}
  - {owner: ops}
notify:
  url: https://driftd.example.org
  unchecked_after: 0
  receivers:
    - name: ops
      type: slack
      rate: {messages: 0}
      quiet_hours: {from: 22:00, to: 07:00, days: [sat, sun], except: [critical]}
      digest: "09:00"
      timezone: Europe/Berlin
    - {name: bus, type: webhook}
  routes:
    - {match: {source: ["plan:shop", "pve*"], severity: high}, receivers: [ops], continue: true, group_by: [], repeat: 0}
    - {match: {owner: ops}, receivers: [bus, ops], repeat: ~}
triggers:
  - {name: push, type: github, secret_file: secret, declarations: [shop], min_interval: 0}
  - {name: cmdb, type: netbox, secret_file: /secret}
kubernetes: {controllers: [injector, {writer: "system:serviceaccount:ops:stamper", kinds: [Deployment.apps], fields: ["metadata.annotations.example.org/*"]}]}
`)
	got, err := config.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	repeat := 24 * time.Hour
	want := &config.Config{
		StateDir:  filepath.Join(filepath.Dir(file), "state"),
		Schedule:  config.Schedule{Every: time.Hour, Timeout: 90 * time.Second, MaxMemory: 64 << 20},
		MaxMemory: 128 << 20,
		Server:    config.Server{Listen: ":9000", WebConfigFile: filepath.Join(home, "web.yml"), Access: config.Default().Server.Access},
		Log:       config.Log{Format: "json", Level: slog.LevelDebug},
		Retention: config.Retention{MaxAge: 168 * time.Hour, MaxRuns: 10, MaxRunBytes: 4096, AuditMaxAge: 52 * 168 * time.Hour},
		Sources: []config.Source{
			{Name: "prod", Type: "kubernetes", Every: 5 * time.Minute, Timeout: time.Minute, MaxMemory: 100_000_000},
			{Name: "pve.1", Type: "proxmox", Every: time.Hour, Timeout: 90 * time.Second, MaxMemory: 64 << 20},
		},
		Declarations: []config.Declaration{
			{Name: "shop", Type: "manifests", Governs: []string{"prod"}, Every: 24 * time.Hour, Timeout: 90 * time.Second, MaxMemory: 64 << 20},
		},
		Ignore: []config.IgnoreRule{
			{Source: "prod", Path: "spec.replicas", Reason: "sale", Expires: time.Date(2027, 1, 31, 23, 59, 59, 999999999, time.UTC)},
			{Kind: "*/Job.batch", Value: "*:latest", Reason: "noise", Expires: time.Date(2027, 1, 31, 11, 0, 0, 0, time.UTC)},
		},
		Owners: []config.OwnerRule{
			{Match: config.Match{Label: map[string]string{"app.kubernetes.io/part-of": "shop"}, Namespace: []string{"shop"}}, Owner: "team-shop"},
			{Owner: "ops"},
		},
		Notify: config.Notify{
			URL: "https://driftd.example.org", GroupWindow: 5 * time.Minute,
			Receivers: []config.Receiver{
				{Name: "ops", Type: "slack", Rate: config.Rate{Per: 10 * time.Minute}, Digest: "09:00", Timezone: "Europe/Berlin",
					QuietHours: config.QuietHours{From: "22:00", To: "07:00", Days: []string{"sat", "sun"}, Except: []string{"critical"}}},
				{Name: "bus", Type: "webhook", Rate: config.Rate{Messages: 20, Per: 10 * time.Minute}},
			},
			Routes: []config.Route{
				{Match: config.Match{Source: []string{"plan:shop", "pve*"}, Severity: []string{"high"}}, Receivers: []string{"ops"},
					Continue: true, GroupBy: []string{}, Repeat: new(time.Duration)},
				{Match: config.Match{Owner: []string{"ops"}}, Receivers: []string{"bus", "ops"}, GroupBy: []string{"cause"}, Repeat: &repeat},
			},
		},
		Triggers: []config.Trigger{
			{Name: "push", Type: "github", SecretFile: filepath.Join(filepath.Dir(file), "secret"), Declarations: []string{"shop"}},
			{Name: "cmdb", Type: "netbox", SecretFile: "/secret", MinInterval: 10 * time.Second},
		},
		Kubernetes: config.Kubernetes{Controllers: []config.Controller{{Writer: "injector"},
			{Writer: "system:serviceaccount:ops:stamper", Kinds: []string{"Deployment.apps"}, Fields: []string{"metadata.annotations.example.org/*"}}}},
		File: file,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreTypes(config.Settings{}, config.Defaults{})); diff != "" {
		t.Errorf("Load() (-want +got):\n%s", diff)
	}
}

func TestLoadDefaults(t *testing.T) {
	t.Parallel()
	c := load(t, minimal)
	want := config.Default()
	want.File, want.Sources = c.File, c.Sources
	if diff := cmp.Diff(want, c, cmpopts.IgnoreTypes(config.Settings{}, config.Defaults{})); diff != "" {
		t.Errorf("Load() (-want +got):\n%s", diff)
	}
	if s := c.Sources[0]; s.Every != want.Schedule.Every || s.Timeout != want.Schedule.Timeout {
		t.Errorf("source = every %v, timeout %v; want the schedule's", s.Every, s.Timeout)
	}
}

func TestLoadWithoutFile(t *testing.T) {
	t.Parallel()
	c, err := config.Load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Default(), c, cmpopts.IgnoreTypes(config.Defaults{})); diff != "" {
		t.Errorf("Load() (-want +got):\n%s", diff)
	}
}

func TestLoadExample(t *testing.T) {
	t.Parallel()
	c, err := config.Load(filepath.Join("..", "..", "config.example.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	got := *c
	got.File, got.Sources, got.Declarations, got.Ignore, got.Kubernetes = "", nil, nil, nil, config.Kubernetes{}
	got.Secrets, got.People, got.Audit = config.Secrets{}, nil, config.Audit{}
	// The rule of the example has the default limits.
	if diff := cmp.Diff(reconcile.DefaultLimits(), got.Reconcile.Rules[0].Rule().Limits); diff != "" {
		t.Errorf("the limits of the example's rule (-want +got):\n%s", diff)
	}
	got.Reconcile = config.Reconcile{}
	got.Severity, got.Owners, got.Notify.Receivers, got.Notify.Routes, got.Triggers = nil, nil, nil, nil, nil
	// The settings that the example fills in; all others have their defaults.
	access := &got.Server.Access
	if access.UsersFile == "" || access.OIDC.Issuer == "" || len(access.Proxy.Trusted) == 0 || len(access.Roles.Operator) == 0 {
		t.Error("the example grants access to no user")
	}
	got.Notify.URL, access.UsersFile, access.Roles, access.Proxy.Trusted = "", "", config.Roles{}, nil
	access.OIDC.Issuer, access.OIDC.ClientID, access.OIDC.ClientSecretFile, access.OIDC.CAFile = "", "", "", ""
	if diff := cmp.Diff(want, &got, cmpopts.IgnoreTypes(config.Defaults{})); diff != "" {
		t.Errorf("the example does not show the defaults (-want +got):\n%s", diff)
	}
	if len(c.Sources) == 0 || len(c.Declarations) == 0 || len(c.Ignore) == 0 || len(c.Severity) == 0 || len(c.People) == 0 || len(c.Kubernetes.Controllers) == 0 {
		t.Error("the example lacks a part")
	}
	if len(c.Owners) == 0 || len(c.Notify.Receivers) == 0 || len(c.Notify.Routes) == 0 || len(c.Triggers) == 0 {
		t.Error("the example tells nobody")
	}
}

// TestExampleNamesEverything requires that the example contains each key of the
// configuration.
func TestExampleNamesEverything(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile(filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range config.Keys() {
		if !strings.Contains(string(example), key+":") {
			t.Errorf("config.example.yaml does not show %q", key)
		}
	}
}

func TestLaterWins(t *testing.T) {
	file := write(t, minimal+"state_dir: of-file\nserver: {listen: \"127.0.0.1:1\"}\nschedule: {every: 1m}\nlog: {level: warn}\n")
	t.Setenv("DRIFTD_SCHEDULE_EVERY", "2m")
	t.Setenv("DRIFTD_LOG_LEVEL", "debug")
	t.Setenv("DRIFTD_STATE_DIR", "of-environment")
	t.Setenv("DRIFTD_RETENTION_MAX_RUNS", "7")
	t.Setenv("DRIFTD_SERVER_LISTEN", "") // empty is not set
	flags := pflag.NewFlagSet("driftd", pflag.ContinueOnError)
	flags.String("log-level", "info", "")
	flags.String("schedule-every", "3m", "") // not given: its default is the help's
	flags.String("kubeconfig", "", "")
	if err := flags.Parse([]string{"--log-level=error"}); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file, flags)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	type chosen struct {
		Every  time.Duration
		Level  slog.Level
		State  string
		Runs   int
		Listen string
	}
	got := chosen{c.Schedule.Every, c.Log.Level, c.StateDir, c.Retention.MaxRuns, c.Server.Listen}
	want := chosen{2 * time.Minute, slog.LevelError, filepath.Join(folder, "of-environment"), 7, "127.0.0.1:1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Load() (-want +got):\n%s", diff)
	}
}

func TestOverridesNameThemselves(t *testing.T) {
	t.Setenv("DRIFTD_SCHEDULE_EVERY", "often")
	t.Setenv("DRIFTD_RETENTION_MAX_RUNS", "many")
	flags := pflag.NewFlagSet("driftd", pflag.ContinueOnError)
	flags.String("server-listen", "", "")
	if err := flags.Parse([]string{"--server-listen=nowhere"}); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load("", flags)
	want := `--server-listen: listen address "nowhere": want host:port, such as 127.0.0.1:9797 or :9797
DRIFTD_RETENTION_MAX_RUNS: max_runs: want a whole number, got text
DRIFTD_SCHEDULE_EVERY: every: duration "often": want one such as 90s, 10m, 36h or 90d`
	if err == nil || err.Error() != want {
		t.Errorf("Load() error =\n%v\nwant\n%s", err, want)
	}
}

func TestLoadUnreadable(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	large := filepath.Join(folder, "large.yaml")
	if err := os.WriteFile(large, make([]byte, config.MaxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ reason, file, want string }{
		"absent": {reason: "a typo in the path", file: filepath.Join(folder, "absent.yaml"), want: "does not exist: correct the path, or write one with driftd init"},
		"folder": {reason: "the folder instead of the file", file: folder, want: "is a directory"},
		"large":  {reason: "a wrong file", file: large, want: "larger than 4 MiB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(tt.file, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), tt.file) != 1 {
				t.Errorf("%s: Load() error = %v, want %q and the path once", tt.reason, err, tt.want)
			}
		})
	}
}

func TestErrorIsTyped(t *testing.T) {
	t.Parallel()
	_, err := config.Load(write(t, minimal+"foo: 1\nlog: {level: loud}\n"), nil)
	var problems *config.Error
	if !errors.As(err, &problems) {
		t.Fatalf("Load() error = %v, want an *Error", err)
	}
	var lines []int
	for _, p := range problems.Problems {
		lines = append(lines, p.Line)
	}
	if diff := cmp.Diff([]int{2, 3}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestWritersOfDeclarations(t *testing.T) {
	t.Parallel()
	const infra = "declarations: [{name: infra, type: terraform, settings: {dir: root}}]\npeople: [{name: alice, login: alice}]\n"
	c := load(t, infra+"reconcile: {writers: [{declaration: infra}], rules: [{name: infra, mode: approve, match: {declaration: infra}}]}\n")
	if w := c.Reconcile.Writers; len(w) != 1 || w[0].Declaration != "infra" {
		t.Errorf("got %+v", w)
	}
	for text, want := range map[string]string{
		"writers: [{declaration: other}]":                         `writer of an unknown declaration "other"`,
		"writers: [{declaration: infra}, {declaration: infra}]":   `a second writer of declaration "infra"`,
		"writers: [{declaration: infra, source: prod}]":           "a writer of a source and of a declaration",
		"writers: [{declaration: inf*}]":                          "patterns are not supported",
		"rules: [{name: x, mode: approve, match: {source: pve}}]": "whose sources have no writer",
	} {
		_, err := config.Load(write(t, infra+"reconcile: {"+text+"}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
