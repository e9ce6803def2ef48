package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// pages is a running daemon whose pages are requested.
type pages struct {
	running
	url    string
	client *http.Client
}

const pagesConfig = `state_dir: state
schedule: {every: 1h}
server: {listen: %q, access: {loopback: viewer}}
sources:
  - {name: bench, type: kubernetes, settings: {dump: cluster.json}}
declarations:
  - {name: git, type: manifests, governs: [bench], settings: {dir: manifests}}
`

// startPages starts driftd serve in a folder with an estate.
func startPages(ctx context.Context, driftd, dir string) (*pages, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	if err := (runner{dir: dir}).write(map[string]string{"driftd.yaml": fmt.Sprintf(pagesConfig, address)}); err != nil {
		return nil, err
	}
	d := newPages(ctx, address, driftd, "serve", "--config", filepath.Join(dir, "driftd.yaml"))
	d.dir = dir
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start driftd: %w", err)
	}
	return d, nil
}

func newPages(ctx context.Context, address, driftd string, args ...string) *pages {
	d := &pages{running: running{cmd: exec.CommandContext(ctx, driftd, args...), log: &strings.Builder{}, driftd: driftd}, url: "http://" + address,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}, Timeout: tooLate}}
	d.cmd.Stderr = d.log
	return d
}

// freeAddress returns a free address of this host.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return address, nil
}

// settled waits for the first scan, and checks the number of findings.
func (d *pages) settled(ctx context.Context, findings int) error {
	return d.until(ctx, func() (bool, error) {
		body, err := d.body(ctx, "/api/v1/status", "")
		if err != nil {
			return false, err
		}
		var status struct {
			Open *struct{ Findings, Unchecked int }
		}
		if err := json.Unmarshal(body, &status); err != nil {
			return false, fmt.Errorf("read the status: %w", err)
		}
		if status.Open != nil && (status.Open.Findings != findings || status.Open.Unchecked != 0) {
			return true, fmt.Errorf("the first scan ends with %+v, want %d findings", *status.Open, findings)
		}
		return status.Open != nil, nil
	})
}

// until calls a function until it returns true. An error counts if the time is up, or together
// with true.
func (d *pages) until(ctx context.Context, question func() (bool, error)) error {
	deadline := time.Now().Add(2 * tooLate)
	for {
		yes, err := question()
		if yes {
			return err
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("nothing came of %s within %s\n%s", d.cmd, 2*tooLate, d.log), err)
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// measureViewers has many clients open the page, changes something, and measures the time until
// each of them was notified and has read the page again.
func (d *pages) measureViewers(ctx context.Context, viewers int) (results []result, err error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	notified, failed := make(chan time.Time, viewers), make(chan error, viewers)
	var opened, group sync.WaitGroup
	defer group.Wait()
	defer leave()
	opened.Add(viewers)
	for range viewers {
		group.Go(func() {
			if err := d.watch(ctx, opened.Done, notified); err != nil && ctx.Err() == nil {
				failed <- err
			}
		})
	}
	opened.Wait()
	if err := pause(ctx, 2*time.Second); err != nil { // each stream pauses for a second after its first event
		return nil, err
	}
	finding, err := d.someFinding(ctx)
	if err != nil {
		return nil, err
	}
	pid := d.cmd.Process.Pid
	before, began := processorTime(pid), time.Now()
	if err := d.acknowledge(ctx, finding); err != nil {
		return nil, err
	}
	var last time.Time
	for range viewers {
		select {
		case at := <-notified:
			last = at
		case err := <-failed:
			return nil, err
		case <-time.After(tooLate):
			return nil, fmt.Errorf("not every viewer was notified within %s\n%s", tooLate, d.log)
		}
	}
	updated := time.Since(began)
	notifiedAfter := last.Sub(began)
	return []result{
		judged(fmt.Sprintf("%d viewers of the page: all are notified of a change", viewers), fmt.Sprintf("%s, %s", ms(notifiedAfter), ofTarget(notifiedAfter.Seconds(), maxNotified.Seconds())),
			"under 5 s", notifiedAfter < maxNotified),
		{what: "  all have updated the page", measured: fmt.Sprintf("%s, %s CPU", ms(updated), ms(processorTime(pid)-before))},
	}, nil
}

// watch opens the page like a browser: it requests the page, follows the event stream, and
// requests the page again at the second event. The time of that event is sent to notified.
func (d *pages) watch(ctx context.Context, opened func(), notified chan<- time.Time) error {
	done := sync.OnceFunc(opened)
	defer done()
	if _, err := d.body(ctx, "/", "gzip"); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/events", http.NoBody)
	if err != nil {
		return fmt.Errorf("follow the event stream: %w", err)
	}
	answer, err := (&http.Client{Transport: d.client.Transport}).Do(r)
	if err != nil {
		return fmt.Errorf("follow the event stream: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	lines, events := bufio.NewScanner(answer.Body), 0
	for lines.Scan() {
		if lines.Text() != "event: changed" {
			continue
		}
		done()
		if events++; events < 2 {
			continue // the first event is the present state
		}
		at := time.Now()
		if _, err := d.body(ctx, "/", "gzip"); err != nil {
			return err
		}
		notified <- at
		return nil
	}
	return errors.Join(fmt.Errorf("the event stream ended: %s", answer.Status), lines.Err())
}

// someFinding returns the ID of the worst finding.
func (d *pages) someFinding(ctx context.Context) (string, error) {
	body, err := d.body(ctx, "/api/v1/findings", "")
	if err != nil {
		return "", err
	}
	var list struct{ Findings []struct{ ID string } }
	if err := json.Unmarshal(body, &list); err != nil {
		return "", fmt.Errorf("read the findings: %w", err)
	}
	if len(list.Findings) == 0 {
		return "", errors.New("read the findings: there are none")
	}
	return list.Findings[0].ID, nil
}

// acknowledge makes a decision about a finding, over the socket.
func (d *pages) acknowledge(ctx context.Context, finding string) error {
	decision, err := json.Marshal(map[string]any{"kind": "acknowledge", "findings": []string{finding}})
	if err != nil {
		return fmt.Errorf("write a decision: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://driftd/api/v1/decisions", bytes.NewReader(decision))
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(d.dir, "state", "driftd.sock"))
	}}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport, Timeout: tooLate}).Do(r)
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	said, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("decide: %s: %.500s", answer.Status, said), err)
	}
	return nil
}

// processorTime returns the processor time of a process from proc_pid_stat(5): the fourteenth
// and fifteenth number, in hundredths of a second.
func processorTime(pid int) time.Duration {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // "" once it has ended
	fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
	if len(fields) < 13 {
		return 0
	}
	user, errUser := strconv.ParseInt(fields[11], 10, 64)
	system, errSystem := strconv.ParseInt(fields[12], 10, 64)
	if errUser != nil || errSystem != nil {
		return 0
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
