package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/filter"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/secret"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
)

// ask calls use with a client of the daemon, or of the database if no daemon runs. It opens
// the database read-only.
func (c *command) ask(cmd *cobra.Command, use func(context.Context, *server.Client) error) error {
	return c.connect(cmd.Context(), cmd, true, use)
}

// change is ask for commands that make decisions. It opens the database for writing.
func (c *command) change(cmd *cobra.Command, use func(context.Context, *server.Client) error) error {
	return c.connect(cmd.Context(), cmd, false, use)
}

func (c *command) connect(ctx context.Context, cmd *cobra.Command, readOnly bool, use func(context.Context, *server.Client) error) error {
	cfg, unread := c.loadConfig(cmd.Flags())
	stateDir := cmp.Or(c.stateDir, os.Getenv("DRIFTD_STATE_DIR"), config.Default().StateDir)
	if cfg != nil {
		stateDir = cfg.StateDir
	}
	client, err := server.Dial(ctx, socketPath(stateDir))
	switch {
	case err == nil:
		if unread != nil {
			fmt.Fprintf(c.streams.Err, "driftd: the configuration cannot be read: %s; this output is that of the running daemon, which uses an earlier configuration\n", visible(unread.Error()))
		}
		return use(ctx, client)
	case unread != nil:
		return unread
	case !errors.Is(err, server.ErrNoDaemon):
		return err
	}
	log := c.quietLogger()
	st, err := openExisting(cfg, readOnly, c.wait, log)
	if err != nil {
		return err
	}
	people := newPeople(cfg)
	api := server.API{Store: st, Compare: newCompare(), Imports: newImports(), Receivers: func() []model.ReceiverStatus { return waiting(cfg, st, log) },
		AuditLog: auditor{st, func() *config.Config { return cfg }, c.build.Version, log}, People: func() *access.People { return people },
		Version: c.build.Version, Now: time.Now, Log: log}
	api.Problems = func() []string { return doubts(st) }
	windows, err := cfg.Reconcile.Windows()
	if err != nil {
		return errors.Join(err, st.Close())
	}
	engine := daemon.New(daemon.Estate{}, daemon.Options{Store: st, Acting: daemon.Acting{Store: st.Announcing(nil), Rules: reconcileRules(cfg), Windows: windows}, Now: time.Now, Log: log, Version: c.build.Version})
	api.Acting = idle{engine}
	if !readOnly {
		api.Decider = engine
	}
	return errors.Join(use(ctx, server.NewLocalClient(api)), st.Close())
}

// errNoScan is returned if there is neither a daemon nor a database.
var errNoScan = errors.New("no scan is stored")

// openExisting opens a database that an earlier scan created. It waits for a scan that is writing
// to it.
func openExisting(cfg *config.Config, readOnly bool, wait time.Duration, log *slog.Logger) (*store.Store, error) {
	options := storeOptions(cfg, log)
	options.ReadOnly, options.Wait = true, wait
	key, err := readerKey(cfg)
	if err != nil {
		return nil, err
	}
	options.Audit, options.KeyFound = key, true
	st, err := store.Open(cfg.StateDir, options)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s: run driftd scan, or name another folder with --state-dir or --config", errNoScan, cfg.StateDir)
	}
	if err != nil {
		return nil, err
	}
	seal, err := sealOf(cfg)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	sealed, err := st.Sealed(seal.Rules)
	if err != nil || sealed && readOnly {
		return st, err
	}
	if err := st.Close(); err != nil {
		return nil, err
	}
	options.ReadOnly = false
	return openSealed(cfg, options, seal)
}

// sealOf returns the rules for sealing the database of a configuration.
func sealOf(cfg *config.Config) (store.Seal, error) {
	key, err := store.Sealer(cfg.StateDir)
	if err != nil {
		return store.Seal{}, err
	}
	return daemon.Reseal(secret.New(key, secret.Options(cfg.Secrets))), nil
}

// openSealed opens the database for writing, and reseals its content with the current rules.
func openSealed(cfg *config.Config, options store.Options, seal store.Seal) (*store.Store, error) {
	st, err := openStore(cfg, options)
	if err != nil {
		return nil, err
	}
	if err := st.Reseal(seal); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

// waiting returns the queued messages of a configuration's receivers while no daemon runs.
func waiting(cfg *config.Config, st *store.Store, log *slog.Logger) []model.ReceiverStatus {
	queues, err := st.Queues()
	if err != nil {
		log.Warn("read the queued notifications", "err", err)
	}
	list := make([]model.ReceiverStatus, 0, len(cfg.Notify.Receivers))
	for _, r := range cfg.Notify.Receivers {
		list = append(list, model.ReceiverStatus{Name: r.Name, Type: r.Type, Queued: queues[r.Name].Length,
			Oldest: queues[r.Name].Oldest, Untold: queues[r.Name].Untold})
	}
	return list
}

// queryWait is how long a query waits for a scan that is writing to the database.
const queryWait = 5 * time.Second

// newCompare returns a function that compares values with the merge keys of a Kubernetes API
// server without custom resources.
func newCompare() func(key model.Key, before, after model.Value) []model.Change {
	kinds := sync.OnceValues(kube.Builtin)
	return func(key model.Key, before, after model.Value) []model.Change {
		var schema *model.Schema
		if known, err := kinds(); err == nil && known[key.Kind] != nil {
			schema = known[key.Kind].Schema
		}
		return diff.Fields(schema, before, after)
	}
}

func (c *command) report() *cobra.Command {
	var q queryFlags
	var all bool
	cmd := &cobra.Command{
		Use:   "report [RESOURCE…]",
		Short: "Print the open findings of the last scans",
		Long: `Print the open findings of the last scans. A source whose last read failed, is
held back, or is older than three of its intervals is not checked.

A table shows 20 findings in full: those with the worst severity, the newest first.
Of the others it has the numbers, with the commands that list them. The other formats
are always complete.

` + filterHelp + `
Only the findings that the filters select are printed, and only they give exit
code 2. What was not checked is printed and gives exit code 3 whatever the filters
select; --source limits it to the sources.

` + exitCodes,
		Example: `  driftd report
  driftd report --fail-on high
  driftd report -o html > drift.html
  driftd report --since 24h --verdict changed,missing
  driftd report --severity high,critical --namespace 'shop-*'
  driftd report deploy/shop/api`,
		ValidArgsFunction: c.completeResources,
		RunE: func(cmd *cobra.Command, resources []string) (err error) {
			if err := errors.Join(c.failOn.check(), q.check(resources), c.openFormats(cmd)); err != nil {
				return errors.Join(err, c.closeFormats())
			}
			defer func() { err = errors.Join(err, c.closeFormats()) }()
			return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
				r, err := client.Report(ctx, q.query())
				if err != nil {
					return err
				}
				if r.Findings, err = q.pickDrift(r.Findings, resources); err != nil {
					return err
				}
				drifted := func(f model.Finding) bool { return f.Verdict.IsDrift() }
				if c.output != "table" && filters(cmd, resources) && !slices.ContainsFunc(r.Findings, drifted) {
					c.noMatch(r.Summary.Findings)
				}
				o := c.reportOptions()
				if !all {
					o.Most, o.List = mostShown, func(s model.Severity, v model.Verdict) string { return c.listCommand(cmd, resources, s, v) }
				}
				return c.printReport(r, o)
			})
		},
	}
	q.add(c, cmd)
	cmd.Flags().BoolVar(&all, "all", false, "show all findings in full, also in a table")
	c.failOn.add(cmd)
	c.outputFlag(cmd, report.Formats()...)
	c.formatFlag(cmd)
	return cmd
}

// mostShown is the number of findings that driftd report shows in full in a table.
const mostShown = 20

// listCommand returns the command that lists the findings of a report with a severity and a verdict.
func (c *command) listCommand(cmd *cobra.Command, resources []string, s model.Severity, v model.Verdict) string {
	words := slices.Concat([]string{"driftd", "findings", "list"}, filterWords(cmd, resources, "severity", "verdict"), c.placeFlags(),
		[]string{"--severity=" + string(s), "--verdict=" + string(v)})
	return cmp.Or(remedy.Quote(words...), "driftd findings list")
}

func (c *command) history() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history KEY",
		Short: "Show every value that a resource had, with times and actors",
		Long: `Show every value that a resource had. KEY is source/type/kind/id. Parts may be
omitted from the left if the rest names one resource. A kind may be given as kubectl
accepts it: deploy/shop/web.`,
		Example:           "  driftd history Deployment.apps/shop/web\n  driftd history deploy/shop/web\n  driftd history prod/kubernetes/ConfigMap/shop/settings",
		Args:              one("resource"),
		ValidArgsFunction: c.completeResources,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
				h, err := historyOf(ctx, client, args[0])
				if err != nil {
					return err
				}
				entries := make([]report.HistoryEntry, len(h.Versions))
				for i, v := range h.Versions {
					entries[i] = report.HistoryEntry{At: v.At, Actor: v.Actor, Gone: v.Gone, Changes: v.Changes, Value: v.Value}
				}
				return report.WriteHistory(c.streams.Out, c.output, h.Key, entries, c.reportOptions())
			})
		},
	}
	c.outputFlag(cmd, "table", "json")
	return cmd
}

// historyOf returns the history of the resource with a key. If no resource has it, the kind in it
// is read as a name that kubectl accepts.
func historyOf(ctx context.Context, client *server.Client, key string) (server.History, error) {
	h, err := client.History(ctx, key)
	var absent *server.Error
	if !errors.As(err, &absent) || absent.Status != http.StatusNotFound {
		return h, err
	}
	name, id, ok := strings.Cut(key, "/")
	kind, ambiguous := filter.NewKindNames().One(name)
	if !ok || ambiguous != nil || kind == "" {
		return h, errors.Join(err, ambiguous)
	}
	return client.History(ctx, kind+"/"+id)
}

func (c *command) diff() *cobra.Command {
	var source, from, to string
	cmd := &cobra.Command{
		Use:     "diff",
		Short:   "Show what changed in a source between two times",
		Example: "  driftd diff --from 2h --to now\n  driftd diff --source prod --from 2026-01-31T14:00:00Z --to 1h",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
				d, err := client.Diff(ctx, source, from, to)
				if err != nil {
					return err
				}
				diffs := make([]report.ResourceDiff, len(d.Resources))
				for i, r := range d.Resources {
					diffs[i] = report.ResourceDiff{Key: r.Key, Kind: r.Difference, At: r.At, Actor: r.Actor, Changes: r.Changes}
				}
				return report.WriteDiff(c.streams.Out, c.output, diffs, c.reportOptions())
			})
		},
	}
	cmd.Flags().StringVar(&source, "source", "", "only this source, or those that a pattern matches")
	completeFlag(cmd, "source", c.ofLastRun(sourceNames))
	cmd.Flags().StringVar(&from, "from", "24h", "the earlier time: a time, or how long ago")
	cmd.Flags().StringVar(&to, "to", "now", "the later time")
	c.outputFlag(cmd, "table", "json")
	return cmd
}
