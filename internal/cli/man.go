package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// man writes the manual pages for packages.
func (c *command) man() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR EXAMPLE",
		Short:   "Write the manual pages into a folder, driftd.yaml(5) from an example",
		Example: "  driftd man ./man config.example.yaml",
		Hidden:  true,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			date, err := sourceDate(os.Getenv("SOURCE_DATE_EPOCH"))
			if err != nil {
				return err
			}
			example, err := os.ReadFile(args[1])
			if err != nil {
				return fmt.Errorf("read example: %w", err)
			}
			page := filepath.Join(args[0], "driftd.yaml.5")
			if err := os.WriteFile(page, []byte(c.configPage(string(example), date)), 0o600); err != nil {
				return fmt.Errorf("write manual page: %w", err)
			}
			return c.commandPages(cmd.Root(), args[0], date)
		},
	}
}

// commandPages writes a page for each command.
func (c *command) commandPages(root *cobra.Command, dir string, date time.Time) error {
	root.InitDefaultCompletionCmd("man")
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: c.manSource(), Manual: "driftd"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return fmt.Errorf("write manual pages: %w", err)
	}
	return nil
}

func (c *command) manSource() string { return "driftd " + c.build.Version }

// sourceDate returns the date of the build's source, so that the same source gives the same
// pages (https://reproducible-builds.org/specs/source-date-epoch/).
func sourceDate(epoch string) (time.Time, error) {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read SOURCE_DATE_EPOCH %q: %w: set it to the commit's time, git log -1 --format=%%ct", epoch, err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// configPage returns driftd.yaml(5): the example, which explains every setting.
func (c *command) configPage(example string, date time.Time) string {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH \"DRIFTD.YAML\" \"5\" \"%s\" \"%s\" \"driftd\"\n", date.Format("Jan 2006"), roff(c.manSource()))
	page.WriteString(".SH NAME\ndriftd.yaml \\- configuration of driftd\n")
	fmt.Fprintf(&page, ".SH SYNOPSIS\n%s\n", systemConfig)
	page.WriteString(".SH DESCRIPTION\nAll settings, with their defaults or an example.\n.PP\n.nf\n")
	for line := range strings.Lines(example) {
		page.WriteString(roff(line))
	}
	page.WriteString(".fi\n.SH SEE ALSO\n.BR driftd (1),\n.BR driftd\\-config\\-check (1)\n")
	return page.String()
}

// roff escapes a line of text for a manual page.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`).Replace(line)
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
