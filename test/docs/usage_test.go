package docs

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/cli"
)

// TestInlineCommands checks commands within sentences: the verb and its flags, or the target of
// make.
func TestInlineCommands(t *testing.T) {
	t.Parallel()
	n := 0
	for _, page := range readAll(t) {
		for _, s := range page.Spans {
			var err error
			switch {
			case strings.HasPrefix(s.Text, "driftd "):
				err = verbs(nil, s.Text)
			case strings.HasPrefix(s.Text, "make "):
				err = target(nil, s.Text)
			default:
				continue
			}
			n++
			if err != nil && !named(s.Text) {
				t.Errorf("%s:%d: `%s`: %v", page.Name, s.Line, s.Text, err)
			}
		}
	}
	if n < 80 {
		t.Errorf("%d commands were found in sentences: they are not looked for where they are", n)
	}
}

// named reports whether a text that looks like a command of driftd is a name in another system.
func named(text string) bool { return text == "driftd read all" }

// TestUsageIsChecked checks that unknown commands are detected.
func TestUsageIsChecked(t *testing.T) {
	t.Parallel()
	for line, good := range map[string]bool{
		"driftd status":                              true,
		"driftd findings show ID":                    true,
		"driftd decisions revoke 9b1c":               true,
		"driftd report -o html --since 24h > a.html": true,
		"driftd scan ./deploy --live=cluster.yaml":   true,
		"driftd stats":                               false,
		"driftd findings shows ID":                   false,
		"driftd status --hidden":                     false,
		"driftd scan ./deploy --alive cluster.yaml":  false,
		"driftd report -x":                           false,
		"driftd scan a | driftd nothing":             false,
	} {
		if err := verbs(nil, line); (err == nil) != good {
			t.Errorf("%s: %v, want good: %t", line, err, good)
		}
	}
}

// checkUsage checks that driftd has the verbs and flags of a command.
func checkUsage(words []string) error {
	var path []string
	text := help(path)
	for _, word := range words {
		if !regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(word) || !strings.Contains(text, "\nAvailable Commands:") {
			break
		}
		if !subcommand(text, word) {
			return fmt.Errorf("%q is no command of driftd %s", word, strings.Join(path, " "))
		}
		path = append(path, word)
		text = help(path)
	}
	for _, word := range words[len(path):] {
		flag, _, _ := strings.Cut(word, "=")
		flag = strings.Trim(flag, `"'[],`)
		if regexp.MustCompile(`^--?[a-z]`).MatchString(flag) && !regexp.MustCompile(`(?m)(^|[\s,])`+regexp.QuoteMeta(flag)+`[\s,]`).MatchString(text) {
			return fmt.Errorf("driftd %s has no flag %s", strings.Join(path, " "), flag)
		}
	}
	return nil
}

// subcommand reports whether a help text lists a command, or it is an alias.
func subcommand(text, word string) bool {
	_, list, _ := strings.Cut(text, "\nAvailable Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	return regexp.MustCompile(`(?m)^  `+regexp.QuoteMeta(word)+`\s`).MatchString(list) || regexp.MustCompile(`Aliases:\n  .*\b`+regexp.QuoteMeta(word)+`\b`).MatchString(help([]string{word}))
}

// help returns the help text of a command.
func help(path []string) string {
	var out bytes.Buffer
	cli.Run(context.Background(), cli.Build{}, append(append([]string{}, path...), "--help"), cli.Streams{Out: &out, Err: &out})
	return out.String()
}

// TestUnknownPrograms checks that no program outside of the list is run.
func TestUnknownPrograms(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"driftd scan ./deploy":                        "",
		`signature=$(printf %s "$body" | openssl x)`:  "",
		"driftd report > drift.html":                  "",
		"rm -rf state":                                "rm",
		"driftd findings && apt purge driftd":         "apt",
		"cat a | ssh b":                               "ssh",
		"echo $(wget example.org)":                    "echo",
		`driftd backup "driftd-$(hostname)-x.db"`:     "hostname",
		`driftd backup "/var/backups/$(date +%F).db"`: "",
	} {
		if got := unknownProgram(line); got != want {
			t.Errorf("unknownProgram(%q) = %q, want %q", line, got, want)
		}
	}
}
