//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/netboxlab"
	"github.com/driftd/driftd/test/tftest"
)

// A desk is a folder with a driftd.yaml, from which the built program scans a fake NetBox.
type desk struct {
	t      *testing.T
	dir    string
	netbox *netboxlab.Lab
	url    string
	schema *jsonschema.Schema
	clock  *clock
}

// A clock is the clock of the fake servers. It advances by minutes with each action, and begins
// some hours ago.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(time.Minute)
}

// newDesk returns a desk with a NetBox of a version in which "driftd" may read everything and
// write nothing.
func newDesk(t *testing.T, version string) *desk {
	t.Helper()
	hands := &clock{at: time.Now().Add(-6 * time.Hour).Truncate(time.Second)}
	lab, err := netboxlab.New(netboxlab.Options{Version: version, Now: hands.now})
	if err != nil {
		t.Fatal(err)
	}
	lab.Grant("driftd", netboxlab.Permission{Models: lab.Models(), Actions: []string{"view"}})
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "report-schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: t.TempDir(), netbox: lab, schema: schema, clock: hands}
	d.url = d.serve(lab, (*httptest.Server).Start).URL
	d.write("netbox-token", netboxlab.Token("driftd"))
	return d
}

// serve serves a handler until the test ends.
func (d *desk) serve(answers http.Handler, start func(*httptest.Server)) *httptest.Server {
	server := httptest.NewUnstartedServer(answers)
	// A closed connection is not logged.
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(server)
	d.t.Cleanup(server.Close)
	return server
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		d.t.Fatal(err)
	}
}

// apply applies a root, ./root, whose configuration may use the variables in env.
func (d *desk) apply(cli tftest.CLI, main []byte, env ...string) {
	d.t.Helper()
	d.write("root/main.tf", string(main))
	cli.Env = env
	if err := cli.Apply(d.t.Context(), filepath.Join(d.dir, "root")); err != nil {
		d.t.Fatal(err)
	}
}

// by sends a request to NetBox as a user, and returns the ID of the last row of the changelog.
func (d *desk) by(user, method, path string, body any) int {
	d.t.Helper()
	d.clock.tick()
	if _, err := d.netbox.Do(user, method, path, body); err != nil {
		d.t.Fatalf("%s: %s %s: %v", user, method, path, err)
	}
	return d.netbox.LastChange()
}

// at returns the path of a NetBox object.
func (d *desk) at(endpoint, display string) string {
	d.t.Helper()
	id, err := d.netbox.Find(endpoint, display)
	if err != nil {
		d.t.Fatal(err)
	}
	return fmt.Sprintf("%s/%d", endpoint, id)
}

// id returns the ID of a NetBox object.
func (d *desk) id(endpoint, display string) int {
	d.t.Helper()
	id, err := d.netbox.Find(endpoint, display)
	if err != nil {
		d.t.Fatal(err)
	}
	return id
}

// scan runs driftd, and checks its exit code against its report, and that nothing was changed.
func (d *desk) scan() model.Report {
	d.t.Helper()
	writes := d.netbox.Writes()
	cmd := exec.CommandContext(d.t.Context(), driftdPath(d.t), "scan", "--config", "driftd.yaml", "-o", "json", "--state-dir", "state")
	cmd.Dir = d.dir
	cmd.Env = []string{"HOME=" + d.dir}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		d.t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err != nil {
		d.t.Fatalf("driftd scan: no report: %v: %s%s", err, out, stderr.String())
	}
	var report model.Report
	if err := errors.Join(d.schema.Validate(document), json.Unmarshal(out, &report)); err != nil {
		d.t.Fatalf("driftd scan: %v: %s", err, out)
	}
	if code := cmd.ProcessState.ExitCode(); code != wantedCode(report) {
		d.t.Errorf("driftd scan: exit code %d, but its report calls for %d: %s", code, wantedCode(report), stderr.String())
	}
	if n := d.netbox.Writes() - writes; n > 0 {
		d.t.Errorf("driftd made %d requests to change NetBox", n)
	}
	return report
}

// expect scans and compares the findings, one change a line.
func (d *desk) expect(reason string, want ...string) model.Report {
	d.t.Helper()
	report := d.scan()
	var got []string
	for _, f := range report.Findings {
		got = append(got, describeFinding(f)...)
	}
	for _, line := range without(want, got) {
		d.t.Errorf("%s: not found: %s", reason, line)
	}
	for _, line := range without(got, want) {
		d.t.Errorf("%s: found as well: %s", reason, line)
	}
	return report
}

// without returns the lines that the others lack, each as often as it is missing there.
func without(lines, others []string) []string {
	left := slices.Clone(lines)
	for _, line := range others {
		if i := slices.Index(left, line); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	return left
}

// describeFinding formats a finding, one line a change: its verdict, its subject, the value of each
// side, and the actor with the evidence.
func describeFinding(f model.Finding) []string {
	what := fmt.Sprintf("%s %s", f.Verdict, cmp.Or(f.Address, strings.TrimSpace(f.Kind+" "+f.Name)))
	if f.Verdict == model.Unchecked {
		return []string{what}
	}
	reason := ""
	if f.Reason != "" && (f.Verdict == model.Disputed || f.Verdict == model.Unmanaged) {
		reason = ", " + f.Reason
	}
	if len(f.Changes) == 0 {
		return []string{what + by(f.Actor) + reason}
	}
	var lines []string
	for _, c := range f.Changes {
		actor := f.Actor
		if c.Actor != nil {
			actor = *c.Actor
		}
		lines = append(lines, fmt.Sprintf("%s: %s %s%s%s", what, c.Path, sides(f.Verdict, c), by(actor), reason))
	}
	return lines
}

func by(a model.Actor) string {
	if a.Confidence == model.Unknown || a.Name == "" {
		return ""
	}
	evidence := a.Evidence
	// The name of a task has its time; its end has the action and the guest.
	if task := strings.Split(evidence, ":"); task[0] == "UPID" {
		evidence = task[5] + " " + task[6]
	}
	return fmt.Sprintf(" by %s (%s)", a.Name, evidence)
}

// reasons lists the reasons in a report.
func reasons(r model.Report) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.Address+" "+f.Name+": "+f.Reason)
	}
	return strings.Join(all, "\n")
}
