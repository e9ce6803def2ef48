// Command manual writes the manual pages of the packages into a folder: a page for each command, and
// driftd.yaml(5) from the example of the configuration. Their date is SOURCE_DATE_EPOCH, so that the same source
// gives the same pages (https://reproducible-builds.org/specs/source-date-epoch/):
//
//	SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) go run ./tools/manual 1.2.3 ./man config.example.yaml
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/driftd/driftd/internal/cli"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: manual VERSION DIR EXAMPLE")
		os.Exit(1)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write writes the pages of a version into dir. example is the path of the example, epoch the value of
// SOURCE_DATE_EPOCH.
func write(version, dir, example, epoch string) error {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("read SOURCE_DATE_EPOCH %q: %w: set it to the commit's time, git log -1 --format=%%ct", epoch, err)
	}
	text, err := os.ReadFile(example)
	if err != nil {
		return fmt.Errorf("read example: %w", err)
	}
	date := time.Unix(seconds, 0).UTC()
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "driftd " + version, Manual: "driftd"}
	if err := os.WriteFile(filepath.Join(dir, "driftd.yaml.5"), []byte(configPage(string(text), header)), 0o600); err != nil {
		return fmt.Errorf("write manual page: %w", err)
	}
	root := cli.Root(cli.Build{Version: version}, cli.Streams{Out: io.Discard, Err: io.Discard})
	root.InitDefaultCompletionCmd("manual")
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, header, dir); err != nil {
		return fmt.Errorf("write manual pages: %w", err)
	}
	return nil
}

// configPage returns driftd.yaml(5): the example, which explains every setting. It has the date and the source of
// the pages of section 1.
func configPage(example string, header *doc.GenManHeader) string {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH \"DRIFTD.YAML\" \"5\" \"%s\" \"%s\" \"driftd\"\n", header.Date.Format("Jan 2006"), roff(header.Source))
	page.WriteString(".SH NAME\ndriftd.yaml \\- configuration of driftd\n")
	fmt.Fprintf(&page, ".SH SYNOPSIS\n%s\n", cli.SystemConfig)
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
