//go:build e2e

package systemd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The versions of the packages: the second is the later one.
const (
	before = "0.1.0~rc.1"
	after  = "0.1.0"
)

// The commit and its time, which are built into the packages.
const (
	commit = "0123456789abcdef0123456789abcdef01234567"
	epoch  = "1795000000"
)

// built is the folder in which TestMain built the packages, with a folder for each version.
var built string

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	built, err = os.MkdirTemp("", "driftd-packages-")
	if err != nil {
		return 1, fmt.Errorf("make folder for the packages: %w", err)
	}
	defer func() { _ = os.RemoveAll(built) }()
	for _, version := range []string{before, after} {
		if err := build("../..", filepath.Join(built, version), version); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// build builds the packages for this architecture from a folder.
func build(source, out, version string, env ...string) error {
	cmd := exec.Command("sh", filepath.Join(source, "tools", "package.sh"), out, runtime.GOARCH)
	cmd.Env = append(os.Environ(), "VERSION="+version, "COMMIT="+commit, "SOURCE_DATE_EPOCH="+epoch)
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build packages: %w: %s", err, out)
	}
	return nil
}

// packageFile returns the only file of a version with a suffix.
func packageFile(t *testing.T, version, suffix string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(built, version, "*"+suffix))
	if err != nil || len(found) != 1 {
		t.Fatalf("packages of %s that end in %s: %v, %v; want one", version, suffix, found, err)
	}
	return found[0]
}

// TestReproducible builds the same commit a second time: in another folder, at a later time,
// and with another time zone, locale and user name.
func TestReproducible(t *testing.T) {
	t.Parallel()
	tree := filepath.Join(t.TempDir(), "elsewhere")
	copyTree(t, "../..", tree)
	again := filepath.Join(t.TempDir(), "again")
	err := build(tree, again, after, "TZ=Pacific/Auckland", "LC_ALL=de_DE.UTF-8", "USER=nobody", "GOFLAGS=")
	if err != nil {
		t.Fatal(err)
	}
	first, second := sums(t, filepath.Join(built, after)), sums(t, again)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the same commit gave other packages (-first +second):\n%s", diff)
	}
	if len(first) != 4 {
		t.Errorf("built %v; want a .deb, an .rpm, what they are made of, and checksums", first)
	}
	output(t, again, "sha256sum", "--check", "--strict", "SHA256SUMS")
}

// copyTree copies the source files, committed or not.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	for file := range strings.SplitSeq(output(t, from, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00") {
		source, target := filepath.Join(from, file), filepath.Join(to, file)
		info, err := os.Lstat(source)
		if file == "" || errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		text, readErr := os.ReadFile(source)
		if err := errors.Join(err, readErr, os.MkdirAll(filepath.Dir(target), 0o700), os.WriteFile(target, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// sums returns the checksum of each file below a folder.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		hash := sha256.New()
		_, err = io.Copy(hash, file)
		name, _ := filepath.Rel(dir, path)
		all[name] = hex.EncodeToString(hash.Sum(nil))
		return errors.Join(err, file.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestBothPackagesHoldTheSame unpacks the .deb and installs the .rpm into an empty system.
func TestBothPackagesHoldTheSame(t *testing.T) {
	t.Parallel()
	deb, rpm := filepath.Join(t.TempDir(), "deb"), filepath.Join(t.TempDir(), "rpm")
	output(t, "", "dpkg-deb", "--extract", packageFile(t, after, ".deb"), deb)
	file := packageFile(t, after, ".rpm")
	output(t, "", "rpm", "--root", rpm, "--dbpath", "/rpmdb", "--initdb")
	output(t, "", "rpm", "--root", rpm, "--dbpath", "/rpmdb", "--force-debian", "--install", "--nodeps", "--noscripts", file)
	if err := os.RemoveAll(filepath.Join(rpm, "rpmdb")); err != nil {
		t.Fatal(err)
	}

	debian, red := sums(t, deb), sums(t, rpm)
	for _, only := range []string{"usr/share/doc/driftd/changelog.gz", "usr/share/doc/driftd/copyright", "usr/share/lintian/overrides/driftd"} {
		if debian[only] == "" {
			t.Errorf("the .deb lacks %s", only)
		}
		delete(debian, only)
	}
	delete(red, "usr/share/licenses/driftd/LICENSE")
	zsh := "usr/share/zsh/vendor-completions/_driftd"
	debian["usr/share/zsh/site-functions/_driftd"] = debian[zsh]
	delete(debian, zsh)
	if diff := cmp.Diff(debian, red); diff != "" {
		t.Errorf("the packages hold different things (-deb +rpm):\n%s", diff)
	}
	for _, want := range []string{
		"usr/bin/driftd", "usr/lib/systemd/system/driftd.service", "usr/share/man/man1/driftd.1.gz",
		"usr/share/man/man1/driftd-scan.1.gz", "usr/share/man/man5/driftd.yaml.5.gz", "usr/share/bash-completion/completions/driftd",
		"usr/share/fish/vendor_completions.d/driftd.fish", "usr/share/driftd/prometheus/rules.yaml",
		"usr/share/driftd/grafana/driftd.json", "usr/share/doc/driftd/driftd.cdx.json", "usr/share/doc/driftd/install.md",
	} {
		if debian[want] == "" {
			t.Errorf("the packages lack %s", want)
		}
	}
	for _, root := range []string{deb, rpm} {
		info, err := os.Stat(filepath.Join(root, "etc/driftd/credentials"))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder of credentials: %v, %v; want one that is root's alone", info, err)
		}
	}
	said := output(t, "", filepath.Join(deb, "usr/bin/driftd"), "version")
	if !strings.HasPrefix(said, "driftd "+after+" (commit "+commit+", 2026-11-18T") {
		t.Errorf("driftd version: %q; want version, commit and the commit's date", said)
	}
}

// TestScripts checks the syntax of the packages' scripts with a shell.
func TestScripts(t *testing.T) {
	t.Parallel()
	control := t.TempDir()
	output(t, "", "dpkg-deb", "--control", packageFile(t, after, ".deb"), control)
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		output(t, control, "sh", "-n", name)
	}
	for _, tag := range []string{"POSTIN", "PREUN", "POSTUN"} {
		script := output(t, "", "rpm", "--query", "--queryformat", "%{"+tag+"}", "--package", packageFile(t, after, ".rpm"))
		if !strings.Contains(script, "systemctl") {
			t.Errorf("the .rpm has no script %s: %q", tag, script)
		}
		cmd := exec.Command("sh", "-n")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("script %s of the .rpm: %v: %s", tag, err, out)
		}
	}
}

// TestBillOfMaterials checks the list of driftd's modules.
func TestBillOfMaterials(t *testing.T) {
	t.Parallel()
	type component struct {
		Name, Version, Purl string
		Licenses            []any
	}
	var bom struct {
		BomFormat, SpecVersion, SerialNumber string
		Metadata                             struct{ Component component }
		Components                           []component
	}
	text, err := os.ReadFile(packageFile(t, after, ".cdx.json"))
	if err == nil {
		err = json.Unmarshal(text, &bom)
	}
	if err != nil {
		t.Fatal(err)
	}
	if bom.BomFormat != "CycloneDX" || bom.SerialNumber != "" || bom.Metadata.Component.Version != after {
		t.Errorf("the bill is %s %s %q of %+v; want CycloneDX without a serial number, of %s",
			bom.BomFormat, bom.SpecVersion, bom.SerialNumber, bom.Metadata.Component, after)
	}
	versions := map[string]string{}
	for _, c := range bom.Components {
		versions[c.Name] = c.Version
		if len(c.Licenses) == 0 && c.Name != "std" {
			t.Errorf("the bill has no license of %s", c.Name)
		}
	}
	for module := range strings.SplitSeq(strings.TrimSpace(output(t, "", "go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "go.etcd.io/bbolt", "github.com/spf13/cobra")), "\n") {
		name, version, _ := strings.Cut(module, " ")
		if versions[name] != version {
			t.Errorf("the bill has %s in version %q, want %s", name, versions[name], version)
		}
	}
	if versions["std"] == "" {
		t.Error("the bill lacks Go's own library")
	}
}
