package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

func (c *command) notify() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "notify",
		Short:   "Test the receivers",
		Example: "  driftd notify test --config driftd.yaml",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "test [RECEIVER…]",
		Short: "Send a test message through each receiver, and say what happened",
		Long: `Send a test message through each receiver of the configuration, or through those
that are named, and say what happened. Receivers that are shown what is open, as
an Alertmanager is, are reached and shown nothing. Nothing is kept: what waits
for a receiver goes on waiting.`,
		Example: "  driftd notify test --config driftd.yaml\n  driftd notify test ops --config driftd.yaml",
		RunE: func(cmd *cobra.Command, names []string) error {
			cfg, err := c.loadConfig(cmd.Flags())
			if err != nil {
				return err
			}
			opened, err := c.openReceivers(cfg, c.quietLogger())
			if err != nil {
				return err
			}
			chosen, err := chooseReceivers(opened, names)
			if err != nil {
				return err
			}
			return c.testReceivers(cmd.Context(), chosen, cfg.Notify.URL)
		},
	})
	return cmd
}

// chooseReceivers returns the named receivers, or all.
func chooseReceivers(opened []notify.Opened, names []string) ([]notify.Opened, error) {
	if len(opened) == 0 {
		return nil, errors.New("no receiver is configured: name some under notify.receivers")
	}
	known := make([]string, len(opened))
	for i, o := range opened {
		known[i] = o.Name
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no receiver is named %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(opened), func(o notify.Opened) bool { return len(names) > 0 && !slices.Contains(names, o.Name) }), nil
}

// testTimeout is how long one receiver gets.
const testTimeout = 30 * time.Second

func (c *command) testReceivers(ctx context.Context, receivers []notify.Opened, url string) error {
	code := exitInSync
	for _, r := range receivers {
		stop := c.progress("telling " + r.Name)
		err := testReceiver(ctx, r, url)
		stop()
		if err != nil {
			fmt.Fprintf(c.streams.Out, "%s (%s): FAILED: %s\n", r.Name, r.Type, printable(err.Error()))
			code = exitError
			continue
		}
		fmt.Fprintf(c.streams.Out, "%s (%s): ok\n", r.Name, r.Type)
	}
	if code == exitInSync {
		return nil
	}
	return exitStatus(code)
}

func testReceiver(ctx context.Context, r notify.Opened, url string) error {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	if r.Mirror != nil {
		return r.Mirror.Show(ctx, nil)
	}
	key := "test-" + rand.Text()
	_, err := r.Notifier.Notify(ctx, model.Parcel{Message: model.Message{Key: key, Receiver: r.Name, Kind: model.TestMessage, At: time.Now(),
		Thread: key, First: true, Title: "This is a test: driftd can tell you of drift here.", Severity: model.Info, URL: url}})
	return err
}
