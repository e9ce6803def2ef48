package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/config"
)

// settings are the settings of a collector's package.
type settings struct {
	URL       string            `mapstructure:"url"`
	TokenFile string            `mapstructure:"token_file" path:"true"`
	State     []string          `mapstructure:"state" path:"true"`
	PageSize  int               `mapstructure:"page_size"`
	Small     int8              `mapstructure:"small"`
	Limit     uint              `mapstructure:"limit"`
	QPS       float32           `mapstructure:"qps"`
	InCluster bool              `mapstructure:"in_cluster"`
	Timeout   time.Duration     `mapstructure:"timeout"`
	Exclude   []string          `mapstructure:"exclude"`
	Labels    map[string]string `mapstructure:"labels"`
	Nested    *nested           `mapstructure:"nested"`
	Rules     []nested          `mapstructure:"rules"`
	Shared    `mapstructure:",squash"`
}

type nested struct {
	File string `mapstructure:"file" path:"true"`
}

// Shared is embedded, because two collectors may share settings.
type Shared struct {
	Before string `mapstructure:"before"`
	CAFile string `mapstructure:"ca_file" path:"true"`
}

const head = "sources:\n- name: prod\n  type: netbox\n  settings:\n"

func TestDecode(t *testing.T) {
	t.Parallel()
	c := load(t, head+`    url: https://netbox.example.org
    token_file: token
    state: [a.tfstate, "s3://bucket/key", /abs/../b]
    page_size: 0x10
    qps: 5
    in_cluster: true
    timeout: 1d
    labels: {App.kubernetes.io/Name: Web}
    nested: {file: ./x}
    rules: [{file: ../y}]
    ca_file: ca.pem
    exclude: [z]
    limit:
`)
	dir := filepath.Dir(c.File)
	defaults := []string{"a", "b"}
	got := settings{PageSize: 100, Limit: 3, Exclude: defaults, Labels: map[string]string{"old": "1"}}
	if err := c.Sources[0].Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := settings{
		URL: "https://netbox.example.org", TokenFile: filepath.Join(dir, "token"),
		State:    []string{filepath.Join(dir, "a.tfstate"), "s3://bucket/key", "/b"},
		PageSize: 16, Limit: 3, QPS: 5, InCluster: true, Timeout: 24 * time.Hour,
		Exclude: []string{"z"}, Labels: map[string]string{"App.kubernetes.io/Name": "Web"},
		Nested: &nested{File: filepath.Join(dir, "x")}, Rules: []nested{{File: filepath.Join(filepath.Dir(dir), "y")}},
		Shared: Shared{CAFile: filepath.Join(dir, "ca.pem")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decode() (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, defaults); diff != "" {
		t.Errorf("Decode() wrote into the defaults (-want +got):\n%s", diff)
	}
}

func TestDecodeProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, content string
		want            []string
	}{
		"unknown keys": {
			reason:  "settings are strict, all the way down",
			content: "    pagesize: 5\n    nested: {fil: x}\n    rules:\n    - {}\n    - {flie: x}\n",
			want: []string{
				`5: unknown key "pagesize": did you mean "page_size"?`,
				`6: unknown key "fil": did you mean "file"?`,
				`9: unknown key "flie": did you mean "file"?`,
			},
		},
		"secrets": {
			reason:  "a secret goes into a file of its own, and not into the error",
			content: "    token: hunter2\n    password: hunter2\n",
			want: []string{
				`5: unknown key "token": secrets do not belong in this file, write it to a file of its own and name that in "token_file"`,
				`6: unknown key "password": secrets do not belong in this file, write it to a file of its own and name that in "token_file"`,
			},
		},
		"types": {
			reason:  "types are not guessed, and values are not shown",
			content: "    url: 5\n    page_size: hunter2\n    qps: .inf\n    in_cluster: yes\n    exclude: hunter2\n    token_file: [hunter2]\n    labels: hunter2\n    limit: -1\n    small: 200\n    nested: [hunter2]\n",
			want: []string{
				`5: url: want text (put it in quotes), got a whole number`,
				`6: page_size: want a whole number, got text`,
				`7: qps: the number is out of range`,
				`8: in_cluster: want true or false, got text`,
				`9: exclude: want a list, got text`,
				`10: token_file: want text, got a list`,
				`11: labels: want keys and values, got text`,
				`12: limit: the number is out of range`,
				`13: small: the number is out of range`,
				`14: nested: want keys and values, got a list`,
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := load(t, head+tt.content)
			err := c.Sources[0].Decode(&settings{})
			if err == nil {
				t.Fatalf("%s: Decode() gives no error", tt.reason)
			}
			checkProblems(t, tt.reason, c.File, err, tt.want)
			if again := c.Sources[0].Decode(&settings{}); again == nil || again.Error() != err.Error() {
				t.Errorf("%s: a second Decode() says %v", tt.reason, again)
			}
		})
	}
}

func TestDecodeIntoNothing(t *testing.T) {
	t.Parallel()
	for _, into := range []any{nil, settings{}, (*settings)(nil), new(int)} {
		if err := (config.Source{}).Decode(into); err == nil {
			t.Errorf("Decode(%T) gives no error", into)
		}
	}
}

func TestZeroSettings(t *testing.T) {
	t.Parallel()
	got := settings{PageSize: 5}
	if err := (config.Source{Name: "prod"}).Decode(&got); err != nil || got.PageSize != 5 {
		t.Errorf("Decode() = %+v, %v; want the defaults", got, err)
	}
}

func TestNewSettings(t *testing.T) {
	t.Parallel()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s := config.Source{Settings: config.NewSettings("command line", map[string]any{"token_file": "x", "page_size": 5})}
	var got settings
	if err := s.Decode(&got); err != nil || got.TokenFile != filepath.Join(folder, "x") || got.PageSize != 5 {
		t.Errorf("Decode() = %+v, %v", got, err)
	}
	s.Settings = config.NewSettings("command line", map[string]any{"page": 5})
	if err := s.Decode(&got); err == nil || !strings.HasPrefix(err.Error(), `command line: unknown key "page"`) {
		t.Errorf("Decode() error = %v, want one that names the command line", err)
	}
	if s.Where() != "command line" {
		t.Errorf("Where() = %q", s.Where())
	}
}

func TestUnknownType(t *testing.T) {
	t.Parallel()
	c := load(t, "sources:\n- name: prod\n\n  type: kubernets\n")
	err := c.Sources[0].UnknownType(c.Sources[0].Type, []string{"kubernetes", "netbox"})
	want := c.File + `:4: unknown type "kubernets": did you mean "kubernetes"?`
	var problems *config.Error
	if !errors.As(err, &problems) || err.Error() != want {
		t.Errorf("UnknownType() = %v, want %s", err, want)
	}
	if got := c.Sources[0].Where(); got != c.File+":2" {
		t.Errorf("Where() = %q", got)
	}
}

func TestCredentialOfTheService(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", folder)
	if err := os.WriteFile(filepath.Join(folder, "netbox-token"), []byte("hunter2"), 0o400); err != nil {
		t.Fatal(err)
	}
	c := load(t, head+"    token_file: netbox-token\n    ca_file: other\n")
	var got settings
	if err := c.Sources[0].Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.TokenFile != filepath.Join(folder, "netbox-token") || got.CAFile != filepath.Join(filepath.Dir(c.File), "other") {
		t.Errorf("Decode() = %q, %q", got.TokenFile, got.CAFile)
	}
}

func TestHomeless(t *testing.T) {
	t.Setenv("HOME", "")
	c := load(t, head+"    token_file: ~/token\n")
	if err := c.Sources[0].Decode(&settings{}); err == nil || !strings.Contains(err.Error(), ":5: ~/ cannot be expanded") {
		t.Errorf("Decode() error = %v", err)
	}
}

func TestGovernsNothing(t *testing.T) {
	t.Parallel()
	c := load(t, "sources: [{name: prod, type: kubernetes}]\ndeclarations:\n  - {name: shop, type: manifests}\n")
	err := c.Declarations[0].GovernsNothing("shop")
	want := `:3: declaration "shop" governs nothing: name its sources, as in governs: [prod]`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("GovernsNothing() = %v, want %s", err, want)
	}
}

// A place may be a text alone.
type place struct {
	URL          string `mapstructure:"url"`
	PasswordFile string `mapstructure:"password_file" path:"true"`
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *place) UnmarshalText(text []byte) error {
	if string(text) == "" {
		return errors.New("want a URL")
	}
	p.URL = string(text)
	return nil
}

func TestTextForKeys(t *testing.T) {
	t.Parallel()
	var got struct {
		Places []place `mapstructure:"places"`
	}
	c := load(t, head+"    places: [https://a.example.org, {url: https://b.example.org, password_file: /b}]\n")
	if err := c.Sources[0].Settings.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]place{{URL: "https://a.example.org"}, {URL: "https://b.example.org", PasswordFile: "/b"}}, got.Places); d != "" {
		t.Error(d)
	}
	for text, want := range map[string]string{`""`: "want a URL", "7": "want", "{uri: a}": `unknown key "uri"`} {
		err := load(t, head+"    places: ["+text+"]\n").Sources[0].Settings.Decode(&got)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
