package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
)

func (c *command) scan() *cobra.Command {
	var live liveFlags
	cmd := &cobra.Command{
		Use:   "scan [PATH…]",
		Short: "Scan once and print what differs",
		Long: `Compare the declarations below PATH with the live systems. A Terraform or OpenTofu
root is compared by a plan, made on a private copy with the terraform or tofu on
PATH. Anything else is read as Kubernetes manifests, and compared with the
cluster of the current kubeconfig context, or with a dump of it (--live). Roots
below such a folder are planned, too: those with a lock file, a backend or a
provider. A folder with roots, or with more than plain manifests, is described
first: its roots, kustomizations, Helm charts, and files of Flux and Argo CD. What
Flux or Argo CD applies from one folder of it is built as they do. Charts that they
do not apply are not rendered, and are unchecked. Without PATH, scan the sources of
the configuration file.

Manifests without a namespace are compared with the namespace of the kubeconfig
context, as with kubectl apply. --namespace sets another one; manifests with a
different namespace are then unchecked.

scan only reads from the systems. It stores the results in the state folder, for
report, findings and history.

` + exitCodes,
		Example: `  driftd scan ./deploy
  driftd scan ./infra
  driftd scan ./deploy --context staging -o json
  driftd scan ./deploy -n shop --fail-on high
  driftd scan ./deploy --fail-on high --format github
  driftd scan ./deploy --format sarif=drift.sarif --format comment=drift.md
  kubectl get all,cm,secret,ingress -A -o yaml --show-managed-fields > cluster.yaml
  driftd scan ./deploy --live cluster.yaml
  driftd scan --config driftd.yaml`,
		RunE: func(cmd *cobra.Command, paths []string) (err error) {
			if err := errors.Join(c.failOn.check(), c.openFormats(cmd)); err != nil {
				return errors.Join(err, c.closeFormats())
			}
			defer func() { err = errors.Join(err, c.closeFormats()) }()
			ctx, stop := untilHangup(cmd.Context())
			defer stop()
			if len(paths) == 0 {
				return c.scanConfigured(ctx, cmd, live)
			}
			return c.scanPaths(ctx, cmd, paths, live)
		},
	}
	live.add(cmd)
	c.failOn.add(cmd)
	c.outputFlag(cmd, report.Formats()...)
	c.formatFlag(cmd)
	return cmd
}

// untilHangup returns a context that ends on SIGHUP, so that plans end with the terminal;
// under nohup the signal stays ignored.
func untilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return ctx, func() {}
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}

// scanPaths scans folders without a configuration.
func (c *command) scanPaths(ctx context.Context, cmd *cobra.Command, paths []string, live liveFlags) error {
	if c.configFile != "" {
		return errors.New("give either paths or --config, not both")
	}
	dir, err := c.userStateDir()
	if err != nil {
		return err
	}
	cfg := config.Default()
	cfg.StateDir = dir
	defer limitScan(cfg.MaxMemory)()
	around, err := c.around(cfg)
	if err != nil {
		return err
	}
	sorted, err := sortPaths(ctx, paths)
	if err != nil {
		return err
	}
	if c.checkout, err = checkoutOfPaths(sorted.roots); err != nil {
		return err
	}
	if len(sorted.manifests) == 0 && live.used(cmd) {
		return errors.New("--live, --context, --kubeconfig and --namespace are for manifests, and every path is a Terraform root")
	}
	for _, found := range sorted.found {
		fmt.Fprintln(c.streams.Err, "driftd: found "+phrase.Visible(found))
	}
	cfg.Declarations = sorted.roots
	var opened []daemon.Declaration
	if len(sorted.manifests) > 0 {
		opened, err = readManifests(ctx, cfg, sorted.manifests, live, around)
		if err != nil && (len(sorted.roots) == 0 || live.used(cmd)) {
			return err
		}
		if err != nil { // the roots that were found are compared nevertheless
			opened, cfg.Sources = uncompared(sorted.manifests, err), nil
		}
	}
	estate, err := newEstate(cfg, around)
	if err != nil {
		return err
	}
	estate.Declarations = append(opened, estate.Declarations...)
	return c.scanOnce(ctx, cfg, estate)
}

// uncompared returns declarations of manifests that are unchecked because of an error.
func uncompared(list []config.Declaration, err error) []daemon.Declaration {
	all := make([]daemon.Declaration, len(list))
	for i, d := range list {
		all[i] = daemon.Declaration{Name: d.Name, Type: d.Type, Timeout: d.Timeout, MaxMemory: d.MaxMemory, Loader: unlisted{err}}
	}
	return all
}

// readManifests reads folders of manifests, and sets the cluster that they govern as cfg's
// source.
func readManifests(ctx context.Context, cfg *config.Config, list []config.Declaration, live liveFlags, around surroundings) ([]daemon.Declaration, error) {
	source, err := live.source(declaredScope{})
	if err != nil {
		// Report a folder without manifests before an unreachable cluster.
		if opened, openErr := openAll(governing(list, ""), around.openDeclaration); openErr == nil {
			if _, unread := preload(ctx, opened); unread != nil {
				return nil, unread
			}
		}
		return nil, err
	}
	if err := live.place(list); err != nil {
		return nil, err
	}
	opened, err := openAll(governing(list, source.Name), around.openDeclaration)
	if err != nil {
		return nil, err
	}
	spoken, err := preload(ctx, opened)
	if err != nil {
		return nil, err
	}
	source, err = live.source(spoken)
	cfg.Sources = []config.Source{source}
	return opened, err
}

// around returns the dependencies of collectors and loaders for a scan in this process.
func (c *command) around(cfg *config.Config) (surroundings, error) {
	sealer, err := store.Sealer(cfg.StateDir)
	return newSurroundings(sealer, cfg, box.NewPool(), cacheDir(cfg.StateDir), slog.New(slog.DiscardHandler)), err
}

// scanConfigured scans the sources of the configuration: in the daemon if one runs, otherwise
// in this process.
func (c *command) scanConfigured(ctx context.Context, cmd *cobra.Command, live liveFlags) error {
	if live.used(cmd) {
		return errors.New("--live, --context, --kubeconfig and --namespace need a PATH to compare with")
	}
	cfg, err := c.loadConfig(cmd.Flags())
	if err != nil {
		return err
	}
	if cfg.File == "" {
		return errors.New("nothing to scan: give a folder (driftd scan ./deploy) or a configuration (driftd scan --config driftd.yaml)")
	}
	if c.checkout, err = checkoutOf(cfg.Declarations); err != nil {
		return err
	}
	client, err := server.Dial(ctx, socketPath(cfg.StateDir))
	switch {
	case err == nil:
		return c.scanInDaemon(ctx, client)
	case !errors.Is(err, server.ErrNoDaemon):
		return err
	}
	defer limitScan(cfg.MaxMemory)()
	around, err := c.around(cfg)
	if err != nil {
		return err
	}
	cfg = around.expand(ctx, cfg)
	around.remember(cfg.StateDir)
	estate, err := newEstate(cfg, around)
	if err != nil {
		return err
	}
	estate.Whole = true
	return c.scanOnce(ctx, cfg, estate)
}

func (c *command) scanInDaemon(ctx context.Context, client *server.Client) error {
	stop := c.progress("the daemon is scanning")
	found, err := client.Scan(ctx, nil)
	stop()
	if err != nil {
		return err
	}
	return c.printReport(found, c.reportOptions())
}

// scanOnce runs one scan in this process.
func (c *command) scanOnce(ctx context.Context, cfg *config.Config, estate daemon.Estate) error {
	// Results that cannot be recorded are known to be so before the sources are read.
	if err := checkAuditKey(cfg); err != nil {
		return err
	}
	kubernetes.RedirectLogs(slog.New(slog.DiscardHandler))
	estate.ConfirmAtOnce = true
	options := storeOptions(cfg, c.quietLogger())
	options.Wait = scanWait
	st := &lateStore{open: func() (*store.Store, error) { return openSealed(cfg, options, daemon.Reseal(estate.Secrets)) }}
	reading := newReads(&estate)
	stop := c.progressOf(reading.String)
	// The report lists unreadable sources with their reasons.
	engine := daemon.New(estate, daemon.Options{Store: st, Observer: reading, Now: time.Now, Log: slog.New(slog.DiscardHandler), Version: c.build.Version})
	found, err := engine.Cycle(ctx, engine.Everything())
	stop()
	if err := errors.Join(err, st.close()); err != nil {
		return err
	}
	return c.printReport(found, c.reportOptions())
}

// scanWait is how long a scan waits for another one that is writing to the database.
const scanWait = 20 * time.Second

// printReport writes the report and returns its exit code as an error.
func (c *command) printReport(r model.Report, o report.Options) error {
	if err := errors.Join(report.Write(c.streams.Out, c.output, r, o), c.writeFormats(r, o)); err != nil {
		return err
	}
	return c.failOn.status(&r)
}

func (c *command) reportOptions() report.Options {
	o := report.Options{Now: time.Now(), Flags: remedy.Quote(c.placeFlags()...)}
	if c.checkout != nil {
		o.Files = c.checkout.file
	}
	if width, ok := terminalWidth(c.streams.Out); ok {
		o.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		o.Width, o.RelativeTime = width, true
	}
	return o
}
