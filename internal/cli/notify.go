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

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/phrase"
)

func (c *command) notify() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "notify",
		Short:   "Test the receivers",
		Example: "  driftd notify test --config driftd.yaml",
		Args:    known,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "test [RECEIVER…]",
		Short: "Send a test message to each receiver and report the result",
		Long: `Send a test message to each receiver of the configuration, or to the named ones,
and print the result. Receivers that hold the list of open findings, such as an
Alertmanager, are only contacted. Waiting messages stay in the queue.`,
		Example: "  driftd notify test --config driftd.yaml\n  driftd notify test ops --config driftd.yaml",
		RunE: func(cmd *cobra.Command, names []string) error {
			cfg, err := c.loadConfig(cmd.Flags())
			if err != nil {
				return err
			}
			chosen, err := chooseReceivers(cfg.Notify.Receivers, names)
			if err != nil {
				return err
			}
			return c.testReceivers(cmd.Context(), cfg, chosen)
		},
	})
	return cmd
}

// chooseReceivers returns the named receivers, or all.
func chooseReceivers(all []config.Receiver, names []string) ([]config.Receiver, error) {
	if len(all) == 0 {
		return nil, errors.New("no receiver is configured: name some under notify.receivers")
	}
	known := make([]string, len(all))
	for i := range all {
		known[i] = all[i].Name
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no receiver is named %q: want one of %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r config.Receiver) bool { return len(names) > 0 && !slices.Contains(names, r.Name) }), nil
}

// testTimeout is the timeout of one receiver.
const testTimeout = 30 * time.Second

// testReceivers tests each receiver, also after one that cannot be opened.
func (c *command) testReceivers(ctx context.Context, cfg *config.Config, receivers []config.Receiver) error {
	code, open := exitInSync, c.receiverOpener(cfg, c.quietLogger())
	for _, r := range receivers {
		stop := c.progress("telling " + r.Name)
		opened, err := open(r)
		if err == nil {
			err = testReceiver(ctx, opened, cfg.Notify.URL)
		}
		stop()
		if err != nil {
			fmt.Fprintf(c.streams.Out, "%s (%s): FAILED: %s\n", phrase.Visible(r.Name), phrase.Visible(r.Type), visible(err.Error()))
			code = exitError
			continue
		}
		fmt.Fprintf(c.streams.Out, "%s (%s): ok\n", phrase.Visible(r.Name), phrase.Visible(r.Type))
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
	_, err := r.Notifier.Notify(ctx, model.OutboxEntry{Message: model.Message{Key: key, Receiver: r.Name, Kind: model.TestMessage, At: time.Now(),
		Thread: key, First: true, Title: "This is a test: driftd can send notifications here.", Severity: model.Info,
		News: []model.Item{}, All: []model.Item{}, URL: url}})
	return err
}
