package openstacklab

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
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/test/process"
)

const (
	readyTimeout = 2 * time.Minute
	askInterval  = 50 * time.Millisecond
	askTimeout   = 5 * time.Second
	// callTimeout bounds a call that a service forwards over the bus.
	callTimeout = 30 * time.Second
)

// await calls a function until it succeeds, or a process has ended.
func await(ctx context.Context, p *process.Process, name string, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("it is not ready after %s", readyTimeout))
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		if p.Exited() {
			return fmt.Errorf("start %s: it ended: %s", name, p.Log())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("start %s: %w: %w: %s", name, context.Cause(ctx), err, p.Log())
		case <-time.After(askInterval):
		}
	}
}

// awaitReady waits until a server is ready.
func (p place) awaitReady(ctx context.Context, running *process.Process, s server) error {
	return await(ctx, running, s.name, func(ctx context.Context) error { return s.asks(ctx, p) })
}

// answers returns a check that a service responds at a path.
func answers(service, path string) asking {
	client := &http.Client{Timeout: askTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context, p place) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL(service)+path, http.NoBody)
		if err != nil {
			return fmt.Errorf("ask %s: %w", service, err)
		}
		response, err := client.Do(request)
		if err != nil {
			return fmt.Errorf("ask %s: %w", service, err)
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode >= http.StatusInternalServerError {
			return fmt.Errorf("ask %s: %s", service, response.Status)
		}
		return nil
	}
}

// listens returns a check that a server accepts a connection.
func listens(service string) asking {
	return func(ctx context.Context, p place) error {
		c, err := p.dial(ctx, service)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

func (p place) dial(ctx context.Context, service string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: askTimeout}
	c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Port(service))))
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", service, err)
	}
	return c, nil
}

// speaks checks that the bus starts an AMQP 0-9-1 connection.
func speaks(ctx context.Context, p place) (err error) {
	c, err := p.dial(ctx, "rabbit")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.SetDeadline(time.Now().Add(askTimeout)); err != nil {
		return fmt.Errorf("ask rabbit: %w", err)
	}
	if _, err := io.WriteString(c, "AMQP\x00\x00\x09\x01"); err != nil {
		return fmt.Errorf("ask rabbit: %w", err)
	}
	if _, err := bufio.NewReader(c).ReadByte(); err != nil {
		return fmt.Errorf("ask rabbit: %w", err)
	}
	return nil
}

// works returns an error unless Nova and Cinder accept work: their workers have reported since
// a time, and Cinder's scheduler has pools for volumes.
func (p place) works(ctx context.Context, since time.Time) error {
	const workers = `select
 (select count(*) from nova.services where topic = 'compute' and last_seen_up >= '%[1]s')
 * (select count(*) from nova.compute_nodes where updated_at >= '%[1]s' or created_at >= '%[1]s')
 * (select count(*) from cinder.services where topic = 'cinder-volume' and updated_at >= '%[1]s');`
	out, err := p.query(ctx, fmt.Sprintf(workers, since.UTC().Format(time.DateTime)))
	if err != nil {
		return err
	}
	if out == "0" {
		return errors.New("nova-compute and cinder-volume have not reported yet")
	}
	return p.hasPools(ctx)
}

// hasPools returns an error unless Cinder's scheduler has a pool. Without one, new volumes get
// the status error.
func (p place) hasPools(ctx context.Context) error {
	domain := map[string]string{"id": "default"}
	login, err := json.Marshal(map[string]any{"auth": map[string]any{
		"identity": map[string]any{"methods": []string{"password"},
			"password": map[string]any{"user": map[string]any{"name": Admin, "password": Admin, "domain": domain}}},
		"scope": map[string]any{"project": map[string]any{"name": Admin, "domain": domain}},
	}})
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	var token struct {
		Token struct{ Project struct{ ID string } }
	}
	header, err := call(ctx, http.MethodPost, p.URL("keystone")+"/v3/auth/tokens", "", bytes.NewReader(login), &token)
	if err != nil {
		return err
	}
	var known struct{ Pools []struct{ Name string } }
	url := p.URL("cinder") + "/v3/" + token.Token.Project.ID + "/scheduler-stats/get_pools"
	if _, err := call(ctx, http.MethodGet, url, header.Get("X-Subject-Token"), http.NoBody, &known); err != nil {
		return err
	}
	if len(known.Pools) == 0 {
		return errors.New("the scheduler of cinder knows no pools yet")
	}
	return nil
}

// call sends a request, and decodes the JSON response.
func call(ctx context.Context, method, url, token string, body io.Reader, into any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, fmt.Errorf("ask OpenStack: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("X-Auth-Token", token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask OpenStack: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s", method, url, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, url, err)
	}
	return response.Header, nil
}

// sql runs statements.
func (p place) sql(ctx context.Context, statements string) error {
	_, err := p.query(ctx, statements)
	return err
}

// query runs statements, and returns the rows of their output.
func (p place) query(ctx context.Context, statements string) (string, error) {
	cmd := exec.CommandContext(ctx, "mariadb", "--no-defaults", "--user=root", "--socket="+p.Socket(), "--batch", "--skip-column-names")
	cmd.Stdin, cmd.Env = strings.NewReader(statements), environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ask mariadb: %w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
