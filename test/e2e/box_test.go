//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

const (
	boxConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop}\ndata: {a: b}\n"
	// endless is in the reason of a build that ran out of time or memory.
	endless = "kustomize "
	// maxHighWater bounds the memory of a daemon that reads hostile declarations and little
	// else, in KiB.
	maxHighWater = 400 << 10
	// maxEnd bounds the time in which a daemon stops.
	maxEnd = 10 * time.Second
)

// hostileDeclarations returns declarations that exceed limits, by name: their files, and the
// reason for which they are unchecked. url is the URL of a server that must get no request.
func hostileDeclarations(outside, url string) map[string]struct {
	files  map[string]string
	reason string
} {
	var bomb strings.Builder
	bomb.WriteString("  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&bomb, "  a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10))
	}
	doubled := map[string]string{"l26/kustomization.yaml": "resources: [cm.yaml]\n", "l26/cm.yaml": fmt.Sprintf(boxConfigMap, "y"), "kustomization.yaml": "resources: [l0]\n"}
	for i := range 26 {
		doubled[fmt.Sprintf("l%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../a%d, ../b%d]\n", i, i)
		for _, side := range []string{"a", "b"} {
			doubled[fmt.Sprintf("%s%d/kustomization.yaml", side, i)] = fmt.Sprintf("namePrefix: %s\nresources: [../l%d]\n", side, i+1)
		}
	}
	one := func(text string) map[string]string {
		return map[string]string{"kustomization.yaml": text, "cm.yaml": fmt.Sprintf(boxConfigMap, "y")}
	}
	generator := "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: leak}\nfiles: [\"a=" + url + "/x\"]\n"
	const noFetch = "driftd does not fetch remote bases"
	return map[string]struct {
		files  map[string]string
		reason string
	}{
		"base":      {one("Resources: [cm.yaml, \"" + url + "/x\"]\n"), noFetch},
		"file":      {one("resources: [cm.yaml]\nConfigMapGenerator: [{name: leak, Files: [\"a=" + url + "/x\"]}]\n"), noFetch},
		"documents": {map[string]string{"kustomization.yaml": "generators: [g.yaml]\n", "g.yaml": strings.NewReplacer("files", "literals: [a=b]\n#", "leak", "other").Replace(generator) + "---\n" + generator}, noFetch},
		"folder":    {map[string]string{"kustomization.yaml": "generators: [g]\n", "g/kustomization.yaml": "resources: [g.yaml]\n", "g/g.yaml": generator}, noFetch},
		"component": {one("Components: [\"" + url + "/org/repo.git\"]\n"), noFetch},
		"outside":   {one("resources: [\"../../../../../../../../.." + outside + "\"]\n"), "leads out of the repository"},
		"device":    {one("resources: [cm.yaml]\ngenerators: [\"../../../../../../../../../dev/zero\"]\n"), "leads out of the repository"},
		"aliases":   {map[string]string{"kustomization.yaml": "resources: [b.yaml]\n", "b.yaml": fmt.Sprintf(boxConfigMap, "y") + "spec:\n" + bomb.String()}, endless},
		"doubled":   {doubled, endless},
	}
}

// A boxed is a folder with hostile declarations, and a good one with a difference.
type boxed struct {
	t   *testing.T
	dir string
	// want has the reason for which a declaration is unchecked, by its name.
	want map[string]string
	hits atomic.Int64
}

func newBoxed(t *testing.T) *boxed {
	b := &boxed{t: t, dir: t.TempDir(), want: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { b.hits.Add(1) }))
	t.Cleanup(server.Close)
	b.write("outside/kustomization.yaml", "resources: [cm.yaml]\n")
	b.write("outside/cm.yaml", fmt.Sprintf(boxConfigMap, "secret"))
	b.write("live.json", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"shop"},"data":{"a":"CHANGED"}}]}`)
	var config strings.Builder
	fmt.Fprintf(&config, "state_dir: state\nserver: {listen: \"\"}\nschedule: {every: 2s, jitter: 0s}\n"+
		"sources: [{name: c, type: kubernetes, settings: {dump: live.json, dump_complete: true}}]\ndeclarations:\n")
	declare := func(name, place string) {
		// Only the builds that do not end need a short timeout: on a busy machine it would
		// replace the reasons of the others.
		timeout := "1m"
		if b.want[name] == endless {
			timeout = "4s"
		}
		fmt.Fprintf(&config, "- {name: %s, type: manifests, governs: [c], max_memory: 128MiB, settings: {%s, timeout: %s}}\n", name, place, timeout)
	}
	for name, h := range hostileDeclarations(filepath.Join(b.dir, "outside"), server.URL) {
		for file, text := range h.files {
			b.write(filepath.Join(name, file), text)
		}
		b.commit(name)
		b.want[name] = h.reason
		declare(name, "git: "+filepath.Join(b.dir, name))
	}
	for _, name := range []string{"pipe", "pipek", "zero"} {
		b.write(name+"/README", "")
	}
	for _, err := range []error{
		syscall.Mkfifo(filepath.Join(b.dir, "pipe/f.yaml"), 0o600), syscall.Mkfifo(filepath.Join(b.dir, "pipek/kustomization.yaml"), 0o600),
		os.Symlink("/dev/zero", filepath.Join(b.dir, "zero/z.yaml")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, reason := range map[string]string{"pipe": "not a regular file", "pipek": "not a regular file", "zero": "leads out of the folder"} {
		b.want[name] = reason
		declare(name, "dir: "+name)
	}
	b.write("good/cm.yaml", fmt.Sprintf(boxConfigMap, "x"))
	b.write("good/kustomization.yaml", "resources: [cm.yaml]\n")
	b.commit("good")
	declare("good", "git: "+filepath.Join(b.dir, "good"))
	b.write("driftd.yaml", config.String())
	return b
}

func (b *boxed) write(name, text string) {
	b.t.Helper()
	file := filepath.Join(b.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *boxed) commit(name string) {
	b.t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "x"}} {
		cmd := exec.Command("git", append([]string{"-C", filepath.Join(b.dir, name)}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

func (b *boxed) driftd(args ...string) *exec.Cmd {
	cmd := exec.Command(driftdPath(b.t), append(args, "--config", "driftd.yaml")...)
	cmd.Dir = b.dir
	return cmd
}

// missing returns the declarations without a finding in a list.
func (b *boxed) missing(findings []model.Finding) []string {
	var lacks []string
	for name, reason := range b.want {
		found := false
		for _, f := range findings {
			found = found || f.Declaration == name && f.Verdict == model.Unchecked && strings.Contains(f.Reason, reason)
		}
		if !found {
			lacks = append(lacks, name+": "+reason)
		}
	}
	drifted := false
	for _, f := range findings {
		drifted = drifted || f.Name == "x" && f.Verdict.IsDrift()
	}
	if !drifted {
		lacks = append(lacks, "good: the changed ConfigMap")
	}
	return lacks
}

// TestBoxScan checks that a scan reports each hostile declaration as unchecked, with the
// reason, and the drift of the others.
func TestBoxScan(t *testing.T) {
	t.Parallel()
	b := newBoxed(t)
	cmd := b.driftd("scan", "-o", "json")
	out, err := cmd.Output()
	var report model.Report
	if decodeErr := json.Unmarshal(out, &report); decodeErr != nil {
		t.Fatal(err, decodeErr)
	}
	if lacks := b.missing(report.Findings); len(lacks) > 0 {
		t.Errorf("missing %q in %s", lacks, summarize(report))
	}
	if used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; used > maxHighWater {
		t.Errorf("took %d KiB", used)
	}
	if n := b.hits.Load(); n > 0 || bytes.Contains(out, []byte("shop/secret")) {
		t.Errorf("fetched %d times; report %s", n, out)
	}
	if left := survivors(b.dir); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// TestBoxServe checks that a daemon survives hostile declarations in bounded memory, and stops
// in time with all of its processes, also when it is killed.
func TestBoxServe(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			b := newBoxed(t)
			var log bytes.Buffer
			daemon := b.driftd("serve")
			daemon.Stderr = &log
			if err := daemon.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- daemon.Wait() }()
			defer func() { _ = daemon.Process.Kill() }()
			lacks := b.await(ended)
			if len(lacks) > 0 {
				t.Errorf("missing %q", lacks)
			}
			if out, err := b.driftd("status").CombinedOutput(); !bytes.Contains(out, []byte("\nbox  ")) {
				t.Errorf("status shows no line of the box: %v: %s", err, out)
			}
			if high := highWater(t, daemon.Process.Pid); high > maxHighWater {
				t.Errorf("took %d KiB", high)
			}
			if err := daemon.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			select {
			case <-ended:
			case <-time.After(maxEnd):
				t.Errorf("did not end within %s", maxEnd)
			}
			if left := survivors(b.dir); left != "" {
				t.Errorf("left behind: %s\n%s", left, log.String())
			}
			if n := b.hits.Load(); n > 0 {
				t.Errorf("fetched %d times", n)
			}
		})
	}
}

// await waits until the daemon has findings of all declarations, it ends, or a minute has
// passed. It returns the missing declarations.
func (b *boxed) await(ended chan error) (lacks []string) {
	over := time.After(time.Minute)
	for {
		var list struct {
			Findings []model.Finding `json:"findings"`
		}
		out, _ := b.driftd("findings", "-o", "json").Output()
		// Before the first scan there are no findings.
		_ = json.Unmarshal(out, &list)
		if lacks = b.missing(list.Findings); len(lacks) == 0 {
			return nil
		}
		select {
		case err := <-ended:
			ended <- err
			return append(lacks, fmt.Sprint("the daemon ended: ", err))
		case <-over:
			return append(lacks, string(out[:min(len(out), 2000)]))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// highWater returns the maximum memory of a process, in KiB.
func highWater(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	size, err := strconv.Atoi(strings.Fields(after + " 0")[0])
	if err != nil {
		t.Fatal(err)
	}
	return size
}
