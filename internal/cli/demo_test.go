package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/demo"
	"github.com/driftd/driftd/internal/server"
)

// A showing is a demonstration in a process of its own, with an empty PATH.
type showing struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Scanner
	// temporary is the folder for the demonstration's folder.
	temporary, url string
}

// show starts a demonstration and waits until it prints its address.
func show(t *testing.T, args ...string) *showing {
	t.Helper()
	driftd, err := exec.LookPath("driftd")
	if err != nil {
		t.Fatal(err)
	}
	s := &showing{t: t, temporary: t.TempDir()}
	s.cmd = exec.Command(driftd, append([]string{"demo", "--listen", "127.0.0.1:0"}, args...)...)
	s.cmd.Env = []string{"TMPDIR=" + s.temporary, "PATH=" + s.temporary, "HOME=" + s.temporary, "DRIFTD_STATE_DIR=/nowhere", "DRIFTD_SERVER_LISTEN=nowhere"}
	s.cmd.Stderr = t.Output()
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewScanner(out)
	started := time.Now()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = s.cmd.Process.Kill() })
	t.Cleanup(func() { late.Stop(); _ = s.cmd.Process.Kill() }) // it has ended already, unless the test failed
	address := regexp.MustCompile(`^\s+(http://127\.0\.0\.1:\d+)/$`)
	for s.out.Scan() {
		if found := address.FindStringSubmatch(s.out.Text()); found != nil {
			s.url = found[1]
			t.Logf("the address was told %s after the start", time.Since(started).Round(time.Millisecond))
			return s
		}
	}
	t.Fatalf("it says nothing of its address: %v", s.cmd.Wait())
	return nil
}

// end ends it with a signal, and returns the rest of its output.
func (s *showing) end(signal syscall.Signal) string {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	var rest strings.Builder
	for s.out.Scan() {
		rest.WriteString(s.out.Text() + "\n")
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("it ends with %v", err)
	}
	left, err := os.ReadDir(s.temporary)
	if err != nil || len(left) > 0 {
		s.t.Errorf("it leaves %v, %v", left, err)
	}
	if connection, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.url, "http://")); err == nil {
		_ = connection.Close()
		s.t.Error("it still answers")
	}
	return rest.String()
}

func (s *showing) get(path string) []byte {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	return body(s.t, http.DefaultClient, request)
}

// TestDemo starts the demonstration without any other program. The page shows drift when the
// address is printed, and no files are left at the end.
func TestDemo(t *testing.T) {
	t.Parallel()
	s := show(t)
	var findings server.Findings
	if err := json.Unmarshal(s.get("/api/v1/findings"), &findings); err != nil || len(findings.Findings) != demo.Drifting {
		t.Errorf("findings: %+v, %v", findings, err)
	}
	for _, want := range []string{"anna@example.org", "carol@pve", "305"} {
		if page := s.get("/"); !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if rest := s.end(syscall.SIGTERM); !strings.Contains(rest, "removes all files") {
		t.Errorf("it says %s", rest)
	}
}

// TestDemoKept checks that other commands can use the folder of --keep.
func TestDemoKept(t *testing.T) {
	t.Parallel()
	kept := filepath.Join(t.TempDir(), "kept")
	s := show(t, "--keep", kept, "--verbose")
	if rest := s.end(syscall.SIGINT); !strings.Contains(rest, kept+" is kept") {
		t.Errorf("it says %s", rest)
	}
	for _, name := range []string{"driftd.yaml", "driftd.log", "audit.log", "shop/.git", "infra/terraform.tfstate", "state/driftd.db"} {
		if _, err := os.Stat(filepath.Join(kept, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestDemoTaken checks the error if the requested address is in use.
func TestDemoTaken(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	out, err := exec.CommandContext(t.Context(), "driftd", "demo", "--listen", taken.Addr().String()).CombinedOutput()
	if err == nil || !strings.Contains(string(out), fmt.Sprintf("--listen %s: ", taken.Addr())) || !strings.Contains(string(out), "name another one") {
		t.Errorf("it says %s, %v", out, err)
	}
}
