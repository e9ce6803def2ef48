package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
)

// completionWait is how long the completion of a word waits for the daemon, or for a scan that
// is writing to the database.
const completionWait = 500 * time.Millisecond

// A completion returns the values for a word that is being typed.
type completion = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective)

// candidates returns a completion of the values that list returns. It prints nothing and
// completes nothing if list fails.
func (c *command) candidates(list func(context.Context, *server.Client) ([]cobra.Completion, error)) completion {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		quiet := *c
		quiet.streams, quiet.wait = Streams{io.Discard, io.Discard}, completionWait
		ctx, cancel := context.WithTimeout(cmd.Context(), completionWait)
		defer cancel()
		var values []cobra.Completion
		err := quiet.connect(ctx, cmd, true, func(ctx context.Context, client *server.Client) (err error) {
			values, err = list(ctx, client)
			return err
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return afterComma(values, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// fixed returns a completion of values that are always the same.
func fixed(values []string) completion {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return afterComma(values, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// afterComma returns completions of the last of the values that are typed with commas between
// them.
func afterComma(values []cobra.Completion, typed string) []cobra.Completion {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	all := make([]cobra.Completion, len(values))
	for i, v := range values {
		all[i] = before + v
	}
	return all
}

// ofFindings returns a completion of a property that open findings have.
func (c *command) ofFindings(property func(*model.Outline) string) completion {
	return c.candidates(func(ctx context.Context, client *server.Client) ([]cobra.Completion, error) {
		found, err := client.Outlines(ctx, server.Query{})
		var values []cobra.Completion
		for i := range found {
			// A value that is not one visible word cannot be typed as it is printed.
			if v := property(found[i]); v != "" && v == phrase.Visible(v) && !strings.ContainsAny(v, " ,") {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		return slices.Compact(values), err
	})
}

// ofLastRun returns a completion of names in the last scan.
func (c *command) ofLastRun(names func(*model.Run) []string) completion {
	return c.candidates(func(ctx context.Context, client *server.Client) ([]cobra.Completion, error) {
		status, err := client.Status(ctx)
		if err != nil || status.LastRun == nil {
			return nil, err
		}
		return names(status.LastRun), nil
	})
}

// completeFlag sets the completion of a flag that the command has.
func completeFlag(cmd *cobra.Command, name string, values completion) {
	_ = cmd.RegisterFlagCompletionFunc(name, values)
}

// completeFilters sets the completions of queryFlags.
func (c *command) completeFilters(cmd *cobra.Command) {
	completeFlag(cmd, "severity", fixed(severityWords()))
	completeFlag(cmd, "verdict", fixed(verdictWords()))
	completeFlag(cmd, "source", c.ofLastRun(sourceNames))
	completeFlag(cmd, "kind", c.completeKinds())
	completeFlag(cmd, "namespace", c.ofFindings(func(f *model.Outline) string { return f.Place }))
	completeFlag(cmd, "owner", c.ofFindings(func(f *model.Outline) string { return f.Owner }))
	completeFlag(cmd, "actor", c.ofFindings(func(f *model.Outline) string { return f.Actor.Label() }))
}

func sourceNames(run *model.Run) []string {
	var names []string
	for i := range run.Sources {
		names = append(names, run.Sources[i].Name)
	}
	return names
}

func declarationNames(run *model.Run) []string {
	var names []string
	for i := range run.Declarations {
		names = append(names, run.Declarations[i].Name)
	}
	return names
}

// completeKinds completes the kinds of open findings, and the names of the built-in kinds.
func (c *command) completeKinds() completion {
	found := c.ofFindings(func(f *model.Outline) string { return f.Kind })
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		kinds, directive := found(cmd, args, typed)
		return append(kinds, afterComma(kube.NewNames(nil).All(), typed)...), directive
	}
}

// completeSources completes the names of the sources of the configuration.
func (c *command) completeSources(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	cfg, err := c.loadConfig(cmd.Flags())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, s := range cfg.Sources {
		names = append(names, s.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeResources completes the keys of resources with open findings.
func (c *command) completeResources(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return c.ofFindings(func(f *model.Outline) string { return f.Key.String() })(cmd, args, typed)
}

// completeFindings completes the IDs of open findings.
func (c *command) completeFindings(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return c.candidates(func(ctx context.Context, client *server.Client) ([]cobra.Completion, error) {
		found, err := client.Outlines(ctx, server.Query{})
		var ids []cobra.Completion
		for i := range found {
			ids = append(ids, cobra.CompletionWithDesc(found[i].ID, phrase.Visible(string(found[i].Verdict)+" "+found[i].Key.String())))
		}
		return ids, err
	})(cmd, args, typed)
}
