package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/atomicfile"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy"
	"github.com/driftd/driftd/internal/setup"
)

// initFlags are the flags of driftd init.
type initFlags struct {
	setup.Choices
	file               string
	yes, force, noTest bool
}

func (c *command) init() *cobra.Command {
	var flags initFlags
	cmd := &cobra.Command{
		Use:   "init [PATH…]",
		Short: "Write a configuration for what is found on this machine, and test it",
		Long: `Look around, write a commented configuration, and test it. driftd looks at folders
(PATH, by default this one) for Terraform and OpenTofu roots, their providers and
backends, Kubernetes manifests and the git remote; at the contexts of the kubeconfig; at
the entries of the clouds.yaml that the openstack command would use; and at variables
that name systems, such as PROXMOX_VE_ENDPOINT. Before the test, nothing is connected to
and no program runs. No secret is written.

On a terminal, driftd asks for the answers that no flag gives. Otherwise, and with
--yes, it takes the defaults. The test is that of driftd config check and driftd sources
test, and reads each git repository. No plan is run. A file that fails the test stays.

Exit codes:
  0  the file was written, and all of it can be read
  1  nothing was written, or what was written cannot be loaded
  3  the file was written, and a source or a declaration cannot be read yet`,
		Example: `  driftd init
  driftd init ~/git/infra --output driftd.yaml --context prod --context edge --yes
  driftd init --output - --no-test`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if len(dirs) == 0 {
				dirs = []string{"."}
			}
			return c.runInit(cmd, dirs, flags)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&flags.file, "output", "o", "driftd.yaml", "file to write; - prints the configuration, without a test")
	f.StringSliceVar(&flags.Contexts, "context", nil, "kubeconfig contexts to read, or none (default: the current one, and those that a folder with manifests is named after)")
	f.StringSliceVar(&flags.Clouds, "cloud", nil, "entries of the clouds.yaml to read, or none (default: those that a root or $OS_CLOUD names, or else the only one)")
	f.StringVar(&flags.ProxmoxURL, "proxmox-url", "", "address of the Proxmox VE of roots that do not contain it, or none (default $PROXMOX_VE_ENDPOINT or $PM_API_URL)")
	f.StringVar(&flags.NetBoxURL, "netbox-url", "", "address of the NetBox of roots that do not contain it, or none (default $NETBOX_SERVER_URL)")
	f.StringVar(&flags.SlackChannel, "slack-channel", "", "ID of the Slack channel for notifications, such as C0123456789")
	f.StringVar(&flags.SlackTokenFile, "slack-token-file", "slack-token", "file with the token of the Slack bot")
	f.BoolVar(&flags.WorkTree, "work-tree", false, "read the folders as they are instead of their git remotes")
	f.BoolVar(&flags.yes, "yes", false, "do not ask")
	f.BoolVar(&flags.force, "force", false, "replace the file if it exists")
	f.BoolVar(&flags.noTest, "no-test", false, "do not connect to anything")
	completeFlag(cmd, "context", completeFacts(func(f *setup.Facts) (names []string) {
		for _, context := range f.Contexts {
			names = append(names, context.Name)
		}
		return names
	}))
	completeFlag(cmd, "cloud", completeFacts(func(f *setup.Facts) []string { return f.Clouds }))
	return cmd
}

// completeFacts returns a completion of names outside of folders.
func completeFacts(names func(*setup.Facts) []string) completion {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		facts, err := setup.Gather(cmd.Context(), nil, os.Getenv)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		// A name that is not one visible word cannot be typed as it is printed.
		words := slices.DeleteFunc(append(names(&facts), setup.None), func(name string) bool { return name != phrase.Visible(name) || strings.ContainsAny(name, " ,") })
		return afterComma(words, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *command) runInit(cmd *cobra.Command, dirs []string, flags initFlags) error {
	if err := flags.check(cmd); err != nil {
		return err
	}
	stop := c.progress("looking around")
	facts, err := setup.Gather(cmd.Context(), dirs, os.Getenv)
	stop()
	if err != nil {
		return err
	}
	for _, problem := range facts.Problems() {
		fmt.Fprintln(c.streams.Err, "warning: not read:", phrase.Visible(problem))
	}
	if facts.Empty() {
		return fmt.Errorf("nothing was found in %s: no Terraform root, no manifest, no kubeconfig context and no cloud; name the folder that has them", strings.Join(dirs, ", "))
	}
	if err := c.completeChoices(cmd, &facts, &flags); err != nil {
		return err
	}
	written := setup.New(&facts, &flags.Choices)
	if err := written.Empty(); err != nil {
		return err
	}
	text, err := written.Text()
	if err != nil {
		return err
	}
	if flags.file == stdout {
		_, err := c.streams.Out.Write(text)
		return err
	}
	if cmd.Context().Err() != nil {
		return context.Cause(cmd.Context())
	}
	if err := flags.write(text); err != nil {
		return err
	}
	fmt.Fprintf(c.streams.Out, "wrote %s\n", phrase.Visible(flags.file))
	return c.testInit(cmd, &flags)
}

// check returns an error for flags that cannot be used, before anything is asked.
func (f *initFlags) check(cmd *cobra.Command) error {
	var problems []error
	if cmd.Flags().Changed("config") {
		problems = append(problems, errors.New("--config names a configuration that exists: name the new file with --output"))
	}
	for _, name := range []string{"proxmox-url", "netbox-url"} {
		if err := setup.CheckAddress(cmd.Flags().Lookup(name).Value.String()); err != nil {
			problems = append(problems, fmt.Errorf("--%s: %w", name, err))
		}
	}
	if f.SlackChannel != "" && strings.TrimSpace(f.SlackTokenFile) == "" {
		problems = append(problems, errors.New("--slack-channel needs --slack-token-file"))
	}
	if f.file != stdout {
		problems = append(problems, f.checkFile())
	}
	return errors.Join(problems...)
}

// checkFile returns an error if the file cannot be written.
func (f *initFlags) checkFile() error {
	if info, err := os.Stat(filepath.Dir(f.file)); err != nil || !info.IsDir() {
		return fmt.Errorf("--output: the folder %s does not exist: create it, or name another one", filepath.Dir(f.file))
	}
	switch info, err := os.Lstat(f.file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--output: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("--output: %s is not a regular file: name another one", f.file)
	case !f.force:
		return fmt.Errorf("--output: %s exists: name another file, or replace it with --force", f.file)
	}
	return nil
}

// write writes the configuration. Only the owner may read it, but that of the packaged service, which has its own user.
func (f *initFlags) write(text []byte) error {
	write := writeNew
	if f.force {
		write = atomicfile.Write
	}
	if err := write(f.file, text); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	if f.isService() {
		return os.Chmod(f.file, 0o644) //nolint:gosec // it has no secret
	}
	return nil
}

// isService reports whether the file is that of the packaged service.
func (f *initFlags) isService() bool {
	file, err := filepath.Abs(f.file)
	return err == nil && file == SystemConfig
}

// next returns the commands that come after driftd init.
func (f *initFlags) next() string {
	if f.isService() {
		return "Next:\n  driftd scan\n  systemctl enable --now driftd\n"
	}
	file := remedy.Quote(f.file)
	return fmt.Sprintf(`Next:
  driftd scan --config %[1]s     # the first findings
  driftd serve --config %[1]s    # the daemon and its page, http://127.0.0.1:9797/
As a service, from the package: remove state_dir, name absolute paths outside of /home, and then
  install -m 0644 %[1]s %[2]s
  systemctl enable --now driftd
`, file, SystemConfig)
}
