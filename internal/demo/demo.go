// Package demo implements the simulated systems of `driftd demo`: a Proxmox cluster, a NetBox,
// a Kubernetes API server and a Slack workspace on loopback, a git repository, a Terraform
// state, and changes that people make to them. Only driftd itself is real.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/demo/cluster"
	"github.com/driftd/driftd/internal/demo/slack"
	"github.com/driftd/driftd/internal/web"
)

// A Demo is a running simulation. It implements web.Stage.
type Demo struct {
	dir     string
	repo    *repository
	cluster *cluster.Cluster
	proxmox *pvetest.Server
	netbox  *netboxtest.Server
	slack   *slack.Workspace
	audit   *os.File

	servers []*http.Server
	serving sync.WaitGroup
	hangUp  context.CancelFunc

	mu   sync.Mutex
	acts []act
	done map[string]bool
	log  changelog
}

var _ web.Stage = (*Demo)(nil)

// Start creates the simulated systems and driftd's configuration for them in an empty folder,
// and starts the servers. listen is the address host:port of driftd. Close stops the servers
// and keeps the folder.
func Start(ctx context.Context, dir, listen string) (*Demo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find folder: %w", err)
	}
	d := &Demo{dir: dir, slack: &slack.Workspace{Channels: map[string]string{channelID: "#ops"}}, done: map[string]bool{}}
	d.acts = d.newActs()
	if err = d.build(time.Now()); err == nil {
		err = d.serve(ctx, listen)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// ConfigFile returns the path of driftd's configuration file.
func (d *Demo) ConfigFile() string { return filepath.Join(d.dir, "driftd.yaml") }

// StateDir returns the folder of driftd's database.
func (d *Demo) StateDir() string { return filepath.Join(d.dir, "state") }

// build creates the simulated systems.
func (d *Demo) build(now time.Time) (err error) {
	if d.audit, err = os.OpenFile(filepath.Join(d.dir, "audit.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return fmt.Errorf("create audit log: %w", err)
	}
	d.cluster, d.proxmox, d.netbox = cluster.New(d.audit), newProxmox(now), newNetBox(now)
	if d.repo, err = newRepository(filepath.Join(d.dir, "shop")); err != nil {
		return err
	}
	if err := createHistory(d.repo, d.cluster, now); err != nil {
		return err
	}
	state, err := newState()
	if err != nil {
		return err
	}
	return d.write("infra/terraform.tfstate", state)
}

// write writes a file below the folder of the simulation.
func (d *Demo) write(name string, content []byte) error {
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// serve starts the servers and writes driftd's configuration for them.
func (d *Demo) serve(ctx context.Context, listen string) (err error) {
	base, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	d.hangUp = hangUp
	d.netbox.Forgets = true
	// The tokens prevent web pages in a browser on this machine from writing to the servers.
	netboxToken := rand.Text()
	d.netbox.Token, d.slack.Token, d.slack.AppToken = "Token "+netboxToken, "xoxb-"+rand.Text(), "xapp-"+rand.Text()
	d.cluster.Token = rand.Text()
	a := addresses{listen: listen, git: d.repo.dir}
	for _, s := range []struct {
		handler http.Handler
		at      *string
	}{{d.cluster, &a.kubernetes}, {d.proxmox, &a.proxmox}, {d.netbox, &a.netbox}, {d.slack, &a.slack}} {
		if *s.at, err = d.listen(base, s.handler); err != nil {
			return err
		}
	}
	for name, token := range map[string]string{"pve-token": rand.Text(), "netbox-token": netboxToken,
		"writer-token": d.cluster.Token, "slack-token": d.slack.Token, "slack-app-token": d.slack.AppToken} {
		if err := d.write(name, []byte(token+"\n")); err != nil {
			return err
		}
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(Password), bcrypt.MinCost)
	if err != nil {
		return fmt.Errorf("hash the password: %w", err)
	}
	if err := d.write("users", fmt.Appendf(nil, "%s:%s\n", Person, hash)); err != nil {
		return err
	}
	return d.write("driftd.yaml", []byte(a.config()))
}

// Person is the person of the demonstration, who logs in with Password to approve actions.
const (
	Person   = "alice"
	Password = "demo"
)

// headerTimeout is the maximum duration of reading the headers of a request.
const headerTimeout = 10 * time.Second

// listen serves a handler on a free port on loopback, and returns its URL.
func (d *Demo) listen(ctx context.Context, handler http.Handler) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen on loopback: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerTimeout, BaseContext: func(net.Listener) context.Context { return ctx }}
	d.servers = append(d.servers, server)
	// Serve always returns an error; after Close it is http.ErrServerClosed.
	d.serving.Go(func() { _ = server.Serve(listener) })
	return "http://" + listener.Addr().String(), nil
}

// Close stops the servers.
func (d *Demo) Close() error {
	var problems []error
	if d.hangUp != nil {
		d.hangUp()
	}
	for _, s := range d.servers {
		problems = append(problems, s.Close())
	}
	d.serving.Wait()
	if d.audit != nil {
		problems = append(problems, d.audit.Close())
	}
	return errors.Join(problems...)
}

// Messages returns the messages in the Slack workspace, the newest first. It implements web.Stage.
func (d *Demo) Messages() []web.Message { return d.slack.Messages() }

func sortedNames(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }
