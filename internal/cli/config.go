package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) config() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Check the configuration",
		Example: "  driftd config check --config driftd.yaml",
		Args:    known,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "check [FILE]",
		Short: "Check the configuration and report every error with its line",
		Long: `Check the configuration file: the syntax, every key, and the settings of sources,
declarations and receivers. Every error that driftd serve would report is printed
in the order of the file, as is a declaration whose folder or local git repository
does not exist, or whose file of env_files cannot be read, and a key of the audit log
that cannot be read.
Nothing is contacted over the network.`,
		Example: "  driftd config check driftd.yaml",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return one("file")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				c.configFile = args[0]
			}
			cfg, err := c.checkConfigured(cmd)
			if cfg != nil {
				err = config.Sorted(errors.Join(err, checkFolders(cmd.Context(), cfg)))
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.streams.Out, "%s: ok, %s, %s, %s, %s, %s\n", phrase.Visible(cfg.File), phrase.Count(len(cfg.Sources), "source"),
				phrase.Count(len(cfg.Declarations), "declaration"), phrase.Count(len(cfg.Notify.Receivers), "receiver"),
				phrase.Count(len(cfg.Notify.Routes), "route"), phrase.Count(len(cfg.Triggers), "trigger"))
			return errors.Join(err, c.printOverrides(cfg.Overrides), c.printSecrets(cfg.Secrets), c.printEndless(cfg.Ignore), c.warnControllers(cfg))
		},
	})
	return cmd
}

// printOverrides prints what the environment and the flags set.
func (c *command) printOverrides(overrides []string) error {
	for _, o := range overrides {
		if _, err := fmt.Fprintln(c.streams.Out, "overridden:", o); err != nil {
			return fmt.Errorf("write overrides: %w", err)
		}
	}
	return nil
}

// printSecrets prints the patterns of the configuration for secrets.
func (c *command) printSecrets(s config.Secrets) error {
	for _, rule := range []struct {
		what     string
		patterns []string
	}{
		{"sealed by name, besides driftd's own names and forms", s.Names},
		{"sealed by path, with all below", s.Paths},
		{"not sealed, unless a schema marks it as sensitive", s.Except},
	} {
		if len(rule.patterns) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(c.streams.Out, "secrets: %s: %s\n", rule.what, phrase.Visible(strings.Join(rule.patterns, ", "))); err != nil {
			return fmt.Errorf("write secrets: %w", err)
		}
	}
	return nil
}

// printEndless prints which ignore rules have no end, or one that is over five years away.
func (c *command) printEndless(rules []config.IgnoreRule) error {
	var endless []string
	for i := range rules {
		if !decide.HasEnd(rules[i].Expires, time.Now()) {
			endless = append(endless, fmt.Sprintf("ignore[%d]", i))
		}
	}
	if len(endless) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(c.streams.Out, "ignore: %d of %s without an end in the next five years: %s; give those that are for a time an end, as in expires: 2027-01-31\n",
		len(endless), phrase.Count(len(rules), "rule"), strings.Join(endless, ", "))
	if err != nil {
		return fmt.Errorf("write ignore rules: %w", err)
	}
	return nil
}

// warnControllers prints a warning for each controller of the configuration without fields.
func (c *command) warnControllers(cfg *config.Config) error {
	for i := range cfg.Kubernetes.Controllers {
		entry := &cfg.Kubernetes.Controllers[i]
		if len(entry.Fields) > 0 {
			continue
		}
		_, err := fmt.Fprintf(c.streams.Err, "warning: kubernetes.controllers: %s has no fields: anyone can write under this name, "+
			"and every field but the guarded ones is exempt; list the fields that it writes\n", phrase.Visible(entry.Writer))
		if err != nil {
			return fmt.Errorf("write warning: %w", err)
		}
	}
	return nil
}

// openConfigured loads a configuration file and opens its sources and declarations. It makes
// no network connections and does not use the state folder.
func (c *command) openConfigured(cmd *cobra.Command) (*config.Config, daemon.Estate, error) {
	cfg, err := c.loadConfig(cmd.Flags())
	if cfg == nil {
		return nil, daemon.Estate{}, err
	}
	if cfg.File == "" {
		return nil, daemon.Estate{}, errors.New("no configuration file: name one with --config")
	}
	estate, settingsErr := newEstate(cfg, newSurroundings(checkSealer(), cfg, box.NewPool(), "", slog.New(slog.DiscardHandler)))
	return cfg, estate, errors.Join(err, settingsErr, server.CheckWebConfig(cfg.Server.WebConfigFile))
}

// checkConfigured is openConfigured that opens the receivers too, without network
// connections.
func (c *command) checkConfigured(cmd *cobra.Command) (*config.Config, error) {
	cfg, estate, err := c.openConfigured(cmd)
	if cfg == nil {
		return nil, err
	}
	_, writersErr := openWriters(cfg, &estate)
	opened, openErr := c.openReceivers(cfg, slog.New(slog.DiscardHandler))
	_, gateErr := newGate(cfg, nil, slog.New(slog.DiscardHandler))
	if err = errors.Join(err, writersErr, openErr, gateErr, checkAuditKey(cfg)); err == nil {
		_, _, err = newPolicy(cfg, opened)
	}
	return cfg, config.Sorted(err)
}

// checkFolders returns an error for each declaration whose folder or local git repository
// does not exist, or whose file of variables cannot be read. These errors do not prevent a
// daemon from starting: the folder may be mounted later, and the declaration is unchecked
// until then.
func checkFolders(ctx context.Context, cfg *config.Config) error {
	var problems []error
	for i := range cfg.Declarations {
		problems = append(problems, checkFolder(ctx, &cfg.Declarations[i]))
	}
	return errors.Join(problems...)
}

// checkFolder returns the error of checkFolders for one declaration.
func checkFolder(ctx context.Context, d *config.Declaration) error {
	within, cancel := context.WithTimeout(ctx, folderTimeout)
	defer cancel()
	_, err := await.Call(within, func() (struct{}, error) {
		return struct{}{}, errors.Join(d.CheckExists("dir"), d.CheckText("dir", func(string) error { return checkMembers(within, d) }), d.CheckText("git", gitrepo.CheckLocal), d.CheckFiles("env_files", checkEnvFile))
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return d.Problem("its folder or repository did not answer within %s: is the file system hung?", folderTimeout)
	}
	return err
}

// checkEnvFile returns an error if a plan would reject a file of env_files.
func checkEnvFile(file string) error {
	_, err := plan.ReadEnvFile(file)
	return err
}

// folderTimeout bounds the check of one declaration's folder.
const folderTimeout = 10 * time.Second

// checkSealer returns the sealer of checks whose values are neither stored nor compared.
func checkSealer() model.Sealer { return model.NewSealer([]byte("driftd check")) }

func (c *command) sources() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sources",
		Short:   "Test and record the sources",
		Example: "  driftd sources test --config driftd.yaml\n  driftd sources record prod -o recording --config driftd.yaml",
		Args:    known,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "test [SOURCE…]",
		Short: "Connect to each source and report its version, the identity, and what cannot be read",
		Long: `Connect to each source, or to those that are named, and print its version, the identity
that it knows, and the permissions that are missing.

Exit codes:
  0  all sources can be read
  1  usage or configuration, or a source cannot be reached
  3  a part of a source cannot be read`,
		ValidArgsFunction: c.completeSources,
		Example:           "  driftd sources test --config driftd.yaml\n  driftd sources test prod --config driftd.yaml",
		RunE: func(cmd *cobra.Command, names []string) error {
			_, estate, err := c.openConfigured(cmd)
			if err != nil {
				return err
			}
			return c.testSources(cmd.Context(), estate, names, config.Default().Schedule.Timeout)
		},
	}, c.recordSource())
	return cmd
}

// testSources connects to the sources with some names, or to all, each for a limited time.
func (c *command) testSources(ctx context.Context, estate daemon.Estate, names []string, within time.Duration) error {
	code := exitInSync
	tested := map[string]bool{}
	for _, s := range estate.Sources {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		tested[s.Name] = true
		stop := c.progress("testing " + s.Name)
		probe, err := s.Probe(ctx, within)
		stop()
		if err != nil {
			fmt.Fprintf(c.streams.Out, "%s (%s): FAILED: %s\n", s.Name, s.Type, visible(estate.Secrets.Error(err).Error()))
			code = exitError
			continue
		}
		if c.printProbe(s, probe) && code == exitInSync {
			code = exitUnchecked
		}
	}
	for _, name := range names {
		if !tested[name] {
			return fmt.Errorf("no source is named %q", name)
		}
	}
	if code == exitInSync {
		return nil
	}
	return exitStatus(code)
}

// printProbe prints the result of a test, and reports whether some scopes cannot be read.
func (c *command) printProbe(s daemon.Source, p collectors.Probe) (narrow bool) {
	readable, skipped := 0, 0
	for _, scope := range p.Coverage {
		switch {
		case scope.Complete:
			readable++
		case scope.Skipped:
			skipped++
		}
	}
	narrow = readable < len(p.Coverage)-skipped
	state := "ok"
	if narrow {
		state = "reached, but not all of it can be read"
	}
	fmt.Fprintf(c.streams.Out, "%s (%s): %s\n", s.Name, s.Type, state)
	table := tabwriter.NewWriter(c.streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  endpoint\t%s\n  version\t%s\n  identity\t%s\n  readable\t%d of %d scopes, %d more left out on purpose\n",
		visible(cmp.Or(p.Endpoint, "unknown")), visible(cmp.Or(p.Version, "unknown")), visible(cmp.Or(p.Identity, "unknown")),
		readable, len(p.Coverage)-skipped, skipped)
	for _, g := range unreadable(p.Coverage) {
		fmt.Fprintf(table, "  cannot read\t%s\t%s\n", phrase.Visible(g.scopes), phrase.Visible(g.reason))
	}
	_ = table.Flush() // the stream's own error shows at the next write
	return narrow
}

// An unread lists the scopes that cannot be read for one reason.
type unread struct{ scopes, reason string }

// unreadable lists the scopes that cannot be read, grouped by reason, in the order of the
// coverage.
func unreadable(coverage []model.Coverage) []unread {
	byReason := map[string][]string{}
	var reasons []string
	for _, scope := range coverage {
		if !scope.Failed() {
			continue
		}
		if byReason[scope.Reason] == nil {
			reasons = append(reasons, scope.Reason)
		}
		byReason[scope.Reason] = append(byReason[scope.Reason], strings.TrimSpace(scope.Kind+" "+scope.Place))
	}
	var all []unread
	for _, reason := range reasons {
		const few, named = 5, 2
		scopes := byReason[reason]
		if len(scopes) > few {
			all = append(all, unread{fmt.Sprintf("%s and %d more", strings.Join(scopes[:named], ", "), len(scopes)-named), reason})
			continue
		}
		for _, scope := range scopes {
			all = append(all, unread{scope, reason})
		}
	}
	return all
}
