package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/test/netboxlab"
)

const hookConfig = `
state_dir: state
server: {listen: %q}
schedule: {every: 24h, jitter: 0s}
sources:
  - {name: netbox, type: netbox, settings: {url: %q, token_file: token}}
declarations:
  - {name: infra, type: terraform, governs: [netbox], settings: {state: [machines.tfstate], unmanaged: []}}
triggers:
  - {name: netbox, type: netbox, secret_file: hook-secret, sources: [netbox], min_interval: 0s}
`

const (
	hookSecret = "bench"
	// minHookGain is how many times faster a finding has to be if the webhook names its object.
	minHookGain = 5
)

// A hookBench measures the time from a webhook of NetBox to a finding.
type hookBench struct {
	*netboxBench
	lab    *netboxlab.Lab
	replay *replay
	daemon *pages
	// edits is the number of machines that were edited.
	edits int
}

// measureHooks measures webhooks that name an object, and webhooks that do not and make driftd
// read everything.
func (b *netboxBench) measureHooks(ctx context.Context, machines int) (results []result, err error) {
	lab, err := newNetBox(machines)
	if err != nil {
		return nil, err
	}
	h := &hookBench{netboxBench: b, lab: lab, replay: &replay{server: lab, delay: netboxDelay, perRow: netboxRow, answers: map[string]*httptest.ResponseRecorder{}}}
	server := serve(h.replay)
	defer server.Close()
	if err := h.start(ctx, server.URL); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.daemon.stop()) }()
	whole, err := h.medianOf(ctx, `{"event": "updated", "edit": %d}`)
	if err != nil {
		return nil, err
	}
	one, err := h.medianOf(ctx, `{"event": "updated", "object_type": "virtualization.virtualmachine", "data": {"id": %d}}`)
	if err != nil {
		return nil, err
	}
	gain := whole.Seconds() / one.Seconds()
	what := fmt.Sprintf("from a NetBox webhook to the finding, %d objects, 5 ms an answer and 1 ms a row", 4*machines+11)
	return []result{
		{what: what + ": all lists", measured: ms(whole)},
		judged("  the object that it names", fmt.Sprintf("%s, %.1f times faster", ms(one), gain), fmt.Sprintf("at least %d times faster", minHookGain), gain >= minHookGain),
	}, nil
}

// start starts driftd, and waits for its first scan.
func (h *hookBench) start(ctx context.Context, url string) error {
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	state, err := h.state() //nolint:contextcheck // requests to the fake take no context
	if err != nil {
		return err
	}
	err = h.write(map[string]string{"machines.tfstate": state, "hook-secret": hookSecret + "\n", "hooks.yaml": fmt.Sprintf(hookConfig, address, url)})
	if err != nil {
		return err
	}
	h.daemon = newPages(ctx, address, h.driftd, "serve", "--config", filepath.Join(h.dir, "hooks.yaml"))
	if err := h.daemon.cmd.Start(); err != nil {
		return fmt.Errorf("start driftd: %w", err)
	}
	// Until NetBox was read, the machines are unchecked.
	if err := h.awaitFindings(ctx, 0); err != nil {
		return errors.Join(err, h.daemon.stop())
	}
	return nil
}

// state returns a Terraform state with the machines that are edited.
func (h *hookBench) state() (string, error) {
	var resources []map[string]any
	for n := range 2 * h.runs {
		id, name := n+1, fmt.Sprintf("vm%05d", n)
		vm, err := h.lab.Do("admin", http.MethodGet, fmt.Sprintf("virtualization/virtual-machines/%d", id), nil)
		if err != nil || vm["name"] != name {
			return "", errors.Join(fmt.Errorf("find machine %s by the id %d", name, id), err)
		}
		attributes := map[string]any{"id": strconv.Itoa(id), "name": name, "memory_mb": vm["memory"], "comments": vm["comments"]}
		resources = append(resources, map[string]any{"mode": "managed", "type": "netbox_virtual_machine", "name": name,
			"provider":  `provider["registry.terraform.io/e-breuninger/netbox"]`,
			"instances": []any{map[string]any{"schema_version": 0, "attributes": attributes, "sensitive_attributes": []any{}}}})
	}
	state, err := json.Marshal(map[string]any{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "bench", "outputs": map[string]any{}, "resources": resources})
	return string(state), err
}

// medianOf returns the median time of several edits, each with a webhook whose body has the id.
func (h *hookBench) medianOf(ctx context.Context, body string) (time.Duration, error) {
	took := make([]time.Duration, 0, h.runs)
	for range h.runs {
		h.edits++
		path := fmt.Sprintf("virtualization/virtual-machines/%d", h.edits)
		if _, err := h.lab.Do("mara", http.MethodPatch, path, netboxlab.Object{"memory": 999}); err != nil { //nolint:contextcheck // requests to the fake take no context
			return 0, fmt.Errorf("edit a machine: %w", err)
		}
		h.replay.renew(ctx, "/virtual-machines/", "/object-changes/")
		began := time.Now()
		if err := h.send(ctx, fmt.Sprintf(body, h.edits)); err != nil {
			return 0, err
		}
		if err := h.awaitFindings(ctx, h.edits); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

func (h *hookBench) send(ctx context.Context, body string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.daemon.url+"/hooks/netbox", strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("send a webhook: %w", err)
	}
	mac := hmac.New(sha512.New, []byte(hookSecret))
	mac.Write([]byte(body))
	r.Header.Set("X-Hook-Signature", hex.EncodeToString(mac.Sum(nil)))
	answer, err := h.daemon.client.Do(r)
	if err != nil {
		return fmt.Errorf("send a webhook: %w", err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusAccepted {
		return errors.Join(fmt.Errorf("send a webhook: %s", answer.Status), err)
	}
	return nil
}

// awaitFindings waits until a number of findings are open, and nothing is unchecked.
func (h *hookBench) awaitFindings(ctx context.Context, want int) error {
	return h.daemon.until(ctx, func() (bool, error) {
		body, err := h.daemon.body(ctx, "/api/v1/status", "")
		if err != nil {
			return false, err
		}
		var status struct {
			Open *struct{ Findings, Unchecked int }
		}
		if err := json.Unmarshal(body, &status); err != nil {
			return false, fmt.Errorf("read the status: %w", err)
		}
		if status.Open == nil || status.Open.Findings != want || status.Open.Unchecked > 0 {
			return false, fmt.Errorf("%+v are open, want %d findings", status.Open, want)
		}
		return true, nil
	})
}
