package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors/openstack/openstacktest"
)

// openstackBench measures driftd with the fake cloud of package openstacktest.
type openstackBench struct {
	netboxBench
}

const (
	maxTown = 3 * time.Second
	maxCity = 6 * time.Second
	// maxActions bounds the requests for actions of servers, for any number of them.
	maxActions = 20
	// cloudPage is the number of objects in a page of the services.
	cloudPage = 1000
)

const openstackConfig = `
sources:
  - {name: cloud, type: openstack, settings: {clouds_file: clouds.yaml, cloud: bench}}
declarations:
  - {name: bench, type: terraform, governs: [cloud], settings: {state: [empty.tfstate], unmanaged: []}}
`

const cloudsFile = `
clouds:
  bench:
    auth_type: v3applicationcredential
    auth: {auth_url: %q, application_credential_id: %s, application_credential_secret: %s}
`

// measureOpenStack measures reading clouds of three sizes, and the growth of the number of
// requests.
func measureOpenStack(ctx context.Context, s scale, driftd, dir string) ([]result, error) {
	b := &openstackBench{netboxBench{runner{filepath.Join(dir, "openstack"), s.runs}, driftd}}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	village, err := b.visit(ctx, "village", openstacktest.Sized(openstacktest.Size{Servers: 10, Ports: 20, Groups: 5, Rules: 100, Networks: 1, Volumes: 5, Images: 2}))
	if err != nil {
		return nil, err
	}
	town, err := b.visit(ctx, "town", openstacktest.Town())
	if err != nil {
		return nil, err
	}
	city, err := b.visit(ctx, "city", openstacktest.City())
	if err != nil {
		return nil, err
	}
	return []result{
		judged("driftd scan, OpenStack, 1,000 rules, 200 ports, 100 servers, 100 ms an answer", town.cost.String(), "under 3 s", town.cost.wall < maxTown),
		judged("  requests for the actions of a server", fmt.Sprintf("%d, and %d of a tenth of it", town.actions, village.actions), "at most 20", town.actions <= maxActions),
		town.compare(village, "a tenth of it"),
		judged("driftd scan, OpenStack, 10,000 rules, 1,000 ports, 500 servers, 100 ms an answer", city.cost.String(), "under 6 s", city.cost.wall < maxCity),
		city.compare(town, "the 1,000 rules"),
	}, nil
}

// A visit is the cost of reading one cloud.
type visit struct {
	cost cost
	// requests counts the requests of one scan, except for the actions of servers; full counts
	// the full pages, after each of which another one may follow.
	requests, actions, full int
}

// visit scans a cloud.
func (b *openstackBench) visit(ctx context.Context, name string, estate openstacktest.Estate) (visit, error) {
	var v visit
	for _, rows := range estate.Lists {
		v.full += len(rows) / cloudPage
	}
	cloud := openstacktest.New(estate, rand.New(rand.NewPCG(1, 2)))
	cloud.Delay = slowAnswer
	server := serve(cloud)
	defer server.Close()
	if err := b.write(map[string]string{
		"clouds.yaml":   fmt.Sprintf(cloudsFile, server.URL+"/v3", openstacktest.Credential, openstacktest.Secret),
		"driftd.yaml":   openstackConfig,
		"empty.tfstate": emptyState,
	}); err != nil {
		return v, err
	}
	var err error
	if v.cost, err = b.scan(ctx, name, b.runs); err != nil {
		return v, err
	}
	for _, address := range cloud.Requests("/") {
		if strings.HasSuffix(address.Path, "/os-instance-actions") {
			v.actions++
		} else {
			v.requests++
		}
	}
	v.requests, v.actions = v.requests/b.runs, v.actions/b.runs
	return v, nil
}

// compare compares the requests for a cloud with those for a smaller one.
func (v visit) compare(smaller visit, what string) result {
	return judged("  its requests for lists, by those of "+what,
		fmt.Sprintf("%.2f (%d by %d)", float64(v.requests)/float64(smaller.requests), v.requests, smaller.requests),
		"as many, but for pages", v.requests-smaller.requests <= v.full-smaller.full)
}
