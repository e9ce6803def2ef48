package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/test/pvelab"
	"github.com/driftd/driftd/test/tftest"
)

// proxmoxBench measures driftd with the fake Proxmox cluster of package pvetest.
type proxmoxBench struct {
	runner
	cli    tftest.CLI
	driftd string
}

// measureProxmox compares the state engine with the CLI on the same state, and measures reading
// a large cluster.
func measureProxmox(ctx context.Context, s scale, driftd, dir string) ([]result, error) {
	dir = filepath.Join(dir, "proxmox")
	for _, name := range []string{"root", "tables"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("make folder: %w", err)
		}
	}
	tools, err := tftest.Find()
	if err != nil {
		return nil, err
	}
	clis, err := tools.CLIs(dir)
	if err != nil {
		return nil, err
	}
	b := &proxmoxBench{runner{dir, s.runs}, clis[0], driftd}
	state, err := b.measureState(ctx, s.recorded)
	if err != nil {
		return nil, err
	}
	guests, err := b.measureGuests(ctx, s.guests)
	return append(state, guests...), err
}

// serve serves a cluster until it is closed.
func serve(handler http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(handler)
	// A closed connection is not logged.
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	return server
}

// first is a number that occurs nowhere else in a state.
const first = 700_000

const stateRoot = `
terraform {
  required_providers {
    lab = { source = "driftd/lab" }
  }
}
provider "lab" {
  endpoint = %q
  token    = %q
}
resource "lab_server" "web" {
  count    = %d
  name     = "web-${%d + count.index}"
  size     = 2
  notes    = "a server of the shop"
  zone     = "shop@example.org"
  tags     = ["shop", "web"]
  labels   = { team = "shop", part = "front" }
  password = "secret"
  disk {
    slot = "root"
    size = 20
  }
}
`

// stateTable maps a server of the Lab to a user of the cluster. One list has all users for the
// state engine, and the Lab, which the CLI reads, responds without delay.
const stateTable = `
provider: driftd/lab
types:
  lab_server:
    kind: proxmox/user
    id: "{name}@pve"
    local: [address, backup, config, disk, id, labels, name, password, public, ratio, size, status, steps, tier]
    attributes:
      notes: {live: comment, default: ""}
      zone: {live: email, default: ""}
      tags: {live: groups, default: [], order: any}
`

const stateConfig = `
sources:
  - {name: pve, type: proxmox, settings: {url: %q, token_id: "driftd@pve!ro", token_file: token}}
declarations:
  - name: bench
    type: terraform
    governs: [pve]
    settings: {state: [root/terraform.tfstate], mappings: [tables]}
`

// measureState measures with resources of the tests' own provider.
func (b *proxmoxBench) measureState(ctx context.Context, resources int) ([]result, error) {
	lab := tftest.NewLab()
	defer lab.Close()
	server := serve(pvetest.New(manyUsers(resources), rand.New(rand.NewPCG(1, 2))))
	defer server.Close()
	if err := b.write(map[string]string{
		"token":           "0123\n",
		"driftd.yaml":     fmt.Sprintf(stateConfig, server.URL),
		"tables/lab.yaml": stateTable,
		"root/main.tf":    fmt.Sprintf(stateRoot, lab.URL(), tftest.Token, 1, first),
	}); err != nil {
		return nil, err
	}
	if err := b.cli.Apply(ctx, b.path("root")); err != nil {
		return nil, err
	}
	if err := b.multiply(lab, resources); err != nil {
		return nil, err
	}
	if err := b.write(map[string]string{"root/main.tf": fmt.Sprintf(stateRoot, lab.URL(), tftest.Token, resources, first)}); err != nil {
		return nil, err
	}
	plan, err := measure(b.cli.Command(ctx, b.path("root"), "plan", "-refresh-only", "-lock=false", "-input=false"), []int{0})
	if err != nil {
		return nil, err
	}
	scan, err := b.scan(ctx, "state")
	if err != nil {
		return nil, err
	}
	speedup := plan.wall.Seconds() / scan.wall.Seconds()
	lighter := float64(plan.memory) / float64(scan.memory)
	return []result{
		{what: fmt.Sprintf("%s plan -refresh-only, %d resources", b.cli.Name, resources), measured: plan.String()},
		{what: "driftd scan, state engine, the same", measured: scan.String()},
		judged("  times faster", fmt.Sprintf("%.0f", speedup), fmt.Sprintf("at least %d", minSpeedup), speedup >= minSpeedup),
		judged("  times less memory", fmt.Sprintf("%.1f", lighter), fmt.Sprintf("at least %d", minLighter), lighter >= minLighter),
	}, nil
}

func manyUsers(n int) pvetest.Cluster {
	c := pvelab.Cluster()
	for i := range n {
		c.Lists["/access/users"] = append(c.Lists["/access/users"], pvetest.Row{"userid": fmt.Sprintf("web-%d@pve", first+i),
			"comment": "a server of the shop", "email": "shop@example.org", "groups": "shop,web", "enable": 1, "expire": 0})
	}
	return c
}

// multiply copies the only applied resource many times, in the Lab and in the state, as if they
// were applied.
func (b *proxmoxBench) multiply(lab *tftest.Lab, n int) error {
	text, err := os.ReadFile(b.path("root/terraform.tfstate"))
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	var state map[string]any
	if err := json.Unmarshal(text, &state); err != nil {
		return fmt.Errorf("decode state: %w", err)
	}
	resources, _ := state["resources"].([]any)
	resource, _ := resources[0].(map[string]any)
	if resource["instances"], err = repeat(resource["instances"], n); err != nil {
		return err
	}
	if text, err = json.MarshalIndent(state, "", "  "); err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	one := lab.Get(fmt.Sprintf("server/web-%d", first))
	for i := range n {
		another := maps.Clone(one)
		another["name"] = fmt.Sprintf("web-%d", first+i)
		lab.Put(fmt.Sprintf("server/web-%d", first+i), another)
	}
	return b.write(map[string]string{"root/terraform.tfstate": string(text)})
}

// repeat returns n copies of the only instance of a resource.
func repeat(instances any, n int) ([]json.RawMessage, error) {
	one, err := json.Marshal(instances)
	if err != nil {
		return nil, fmt.Errorf("encode instance: %w", err)
	}
	text := strings.TrimSuffix(strings.TrimPrefix(string(one), "["), "]")
	many := make([]json.RawMessage, 0, n)
	for i := range n {
		indexed := strings.Replace(text, `"index_key":0`, `"index_key":`+strconv.Itoa(i), 1)
		many = append(many, json.RawMessage(strings.ReplaceAll(indexed, strconv.Itoa(first), strconv.Itoa(first+i))))
	}
	return many, nil
}

const guestsConfig = `
sources:
  - {name: pve, type: proxmox, settings: {url: %q, token_id: "driftd@pve!ro", token_file: token}}
declarations:
  - {name: bench, type: terraform, governs: [pve], settings: {state: [empty.tfstate], unmanaged: []}}
`

// answerDelay is the response time of a node.
const answerDelay = 2 * time.Millisecond

// measureGuests measures reading a cluster of thirty nodes.
func (b *proxmoxBench) measureGuests(ctx context.Context, guests int) ([]result, error) {
	cluster := pvetest.New(manyGuests(guests), rand.New(rand.NewPCG(1, 2)))
	cluster.Delay = answerDelay
	server := serve(cluster)
	defer server.Close()
	if err := b.write(map[string]string{
		"token":         "0123\n",
		"driftd.yaml":   fmt.Sprintf(guestsConfig, server.URL),
		"empty.tfstate": `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "bench", "outputs": {}, "resources": []}`,
	}); err != nil {
		return nil, err
	}
	scan, err := b.scan(ctx, "guests")
	if err != nil {
		return nil, err
	}
	each := float64(cluster.Count("/nodes/", "/pending")) / float64(guests*b.runs)
	return []result{
		judged(fmt.Sprintf("driftd scan, %d guests on 30 nodes, 2 ms an answer", guests), scan.String(), "under 6 s", scan.wall < maxGuests),
		judged("  readings of a guest's configuration", fmt.Sprintf("%.2f", each), "one", each == 1),
	}, nil
}

func manyGuests(n int) pvetest.Cluster {
	c := pvelab.Cluster()
	c.Nodes = nil
	for i := range 30 {
		c.Nodes = append(c.Nodes, pvetest.Node{Name: fmt.Sprintf("pve%02d", i)})
	}
	for i := range n {
		c.Guests = append(c.Guests, pvetest.Guest{ID: 1000 + i, Kind: "qemu", Node: c.Nodes[i%len(c.Nodes)].Name, Status: "running",
			Config: pvetest.Row{"name": fmt.Sprintf("web-%d", i), "cores": 2, "memory": "2048", "onboot": 1, "ostype": "l26",
				"net0":  fmt.Sprintf("virtio=BC:24:11:00:%02X:%02X,bridge=vmbr0,firewall=1", i>>8, i&255),
				"scsi0": fmt.Sprintf("local-lvm:vm-%d-disk-0,size=8G,ssd=1", 1000+i), "boot": "order=scsi0;net0", "tags": "shop;web"}})
	}
	return c
}

// scan measures scans with an empty state folder each.
func (b *proxmoxBench) scan(ctx context.Context, what string) (cost, error) {
	return b.median(b.runs, func(n int) (cost, error) {
		return b.process(ctx, []int{0}, b.driftd, "scan", "--config", b.path("driftd.yaml"),
			"--state-dir", b.path(fmt.Sprintf("%s-%d", what, n)))
	})
}
