package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/demo"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/server"
)

// demoFlags are the flags of driftd demo.
type demoFlags struct {
	listen, keep string
	verbose      bool
}

func (c *command) demo() *cobra.Command {
	var flags demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a demonstration with simulated systems on this machine",
		Long: `Start a demonstration of a small shop with drift: simulated APIs
of a Proxmox cluster, a NetBox, a Kubernetes API server and a Slack workspace on
loopback, a git repository and a Terraform state, watched by a real driftd. Its
page has a list of changes to make, and shows the Slack messages.

It needs only this program, makes no connections outside of this machine, and
removes its files at the end. Ctrl-C stops it.`,
		Example: "  driftd demo\n  driftd demo --listen 127.0.0.1:8080 --keep ./demo",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.runDemo(cmd, flags)
		},
	}
	cmd.Flags().StringVar(&flags.listen, "listen", demoAddress, "loopback address of the page (if the default is in use, a free port)")
	cmd.Flags().StringVar(&flags.keep, "keep", "", "keep all files in this folder, which must be new or empty")
	cmd.Flags().BoolVar(&flags.verbose, "verbose", false, "print the daemon's log instead of writing it to a file")
	// Settings in the environment are those of a real daemon.
	cmd.Flags().String("server-listen", "", "")
	_ = cmd.Flags().MarkHidden("server-listen") // the flag exists
	return cmd
}

// demoAddress is the default address of the page.
const demoAddress = "127.0.0.1:9797"

func (c *command) runDemo(cmd *cobra.Command, flags demoFlags) (err error) {
	if c.configFile != "" || c.stateDir != "" {
		return errors.New("the demonstration uses its own configuration and database: remove --config and --state-dir; --keep sets the folder for both")
	}
	ctx, stop := untilHangup(cmd.Context())
	defer stop()
	listen, err := flags.address(ctx, cmd.Flags().Changed("listen"))
	if err != nil {
		return err
	}
	dir, remove, err := flags.folder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	stage, err := demo.Start(ctx, dir, listen)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	log, err := os.OpenFile(filepath.Join(dir, demoLog), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := errors.Join(cmd.Flags().Set("state-dir", stage.StateDir()), cmd.Flags().Set("server-listen", listen)); err != nil {
		return fmt.Errorf("set flags: %w", err)
	}
	shown := *c
	shown.configFile, shown.streams.Err = stage.ConfigFile(), log
	if flags.verbose {
		shown.streams.Err = c.streams.Err
	}
	return shown.present(ctx, &service{command: &shown, cmd: cmd, stage: stage}, demoPlace{listen: listen, dir: dir, kept: flags.keep != ""})
}

// demoLog is the name of the daemon's log in the demonstration's folder.
const demoLog = "driftd.log"

// present runs the daemon, and prints its address as soon as it answers.
func (c *command) present(ctx context.Context, s *service, place demoPlace) error {
	cfg, err := c.checkConfigured(s.cmd)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var announcing sync.WaitGroup
	defer announcing.Wait()
	defer stop()
	announcing.Go(func() {
		if place.awaited(ctx) {
			place.announce(c.streams.Out)
		}
	})
	return s.run(ctx, cfg)
}

// address returns an address on this host with a free port: the requested one, or any if the
// default is in use and none was requested.
func (f demoFlags) address(ctx context.Context, asked bool) (string, error) {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil || !httpclient.Loopback(host) {
		return "", fmt.Errorf("--listen %s: want a loopback address, such as %s: the demonstration has no authentication", f.listen, demoAddress)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", f.listen)
	if err != nil && !asked {
		listener, err = config.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", fmt.Errorf("--listen %s: %w; name another one", f.listen, err)
	}
	return listener.Addr().String(), listener.Close()
}

// folder creates the demonstration's folder; remove removes it, unless it is to be kept.
func (f demoFlags) folder() (dir string, remove func() error, err error) {
	if f.keep == "" {
		if dir, err = os.MkdirTemp("", "driftd-demo-"); err != nil {
			return "", nil, fmt.Errorf("make folder: %w", err)
		}
		return dir, func() error { return os.RemoveAll(dir) }, nil
	}
	if err := os.MkdirAll(f.keep, 0o700); err != nil {
		return "", nil, fmt.Errorf("--keep: %w", err)
	}
	entries, err := os.ReadDir(f.keep)
	switch {
	case err != nil:
		return "", nil, fmt.Errorf("--keep: %w", err)
	case len(entries) > 0:
		return "", nil, fmt.Errorf("--keep: %s is not empty: name a new or an empty folder", f.keep)
	}
	return f.keep, func() error { return nil }, nil
}

// A demoPlace is the address and the folder of a demonstration.
type demoPlace struct {
	listen, dir string
	kept        bool
}

const (
	// demoTimeout is how long driftd waits for the demonstration's first findings before it
	// prints the address anyway.
	demoTimeout = time.Minute
	demoPause   = 50 * time.Millisecond
)

// awaited waits until driftd has found the initial drift; it returns false if ctx ends first.
func (p demoPlace) awaited(ctx context.Context) bool {
	within, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	ticker := time.NewTicker(demoPause)
	defer ticker.Stop()
	for !p.ready(within) {
		select {
		case <-within.Done():
			return ctx.Err() == nil
		case <-ticker.C:
		}
	}
	return true
}

// ready reports whether the page shows the initial drift, with the actors.
func (p demoPlace) ready(ctx context.Context) bool {
	var found server.Findings
	if body, err := p.get(ctx, "/api/v1/findings"); err != nil || json.Unmarshal(body, &found) != nil || len(found.Findings) < demo.Drifting {
		return false
	}
	if slices.ContainsFunc(found.Findings, func(f model.Finding) bool { return f.Actor.Confidence == model.Unknown }) {
		return false // the logs of the simulated systems are not read yet
	}
	// A page with a notice is built anew, and so are the ones after it. It may still be older than the findings.
	page, err := p.get(ctx, "/?notice=scanned")
	return err == nil && !slices.ContainsFunc(found.Findings, func(f model.Finding) bool { return !bytes.Contains(page, []byte(f.ID)) })
}

// get returns the body of the response to a request.
func (p demoPlace) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.listen+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := bounded.ReadAll(answer.Body, maxDemoAnswer)
	return body, errors.Join(err, answer.Body.Close())
}

// maxDemoAnswer bounds the size of a response of the demonstration, in bytes.
const maxDemoAnswer = 64 << 20

func (p demoPlace) announce(out io.Writer) {
	end := "Ctrl-C ends it and removes all files."
	if p.kept {
		end = "Ctrl-C ends it; " + p.dir + " is kept."
	}
	fmt.Fprintf(out, `A demonstration: a small shop on Proxmox and Kubernetes, with a NetBox. All
systems are simulated on this machine; driftd itself is real.

    http://%s/

Two resources have drifted already. Open one to see who changed it, then make a
change yourself: the page has a list. To approve an action, which puts a Deployment
back, log in as %s with the password %s. %s
The daemon's log is in %s.
`, p.listen, demo.Person, demo.Password, end, filepath.Join(p.dir, demoLog))
}
