package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// root is the top folder of the repository.
const root = "../.."

func readAll(t *testing.T) []Page {
	t.Helper()
	pages, err := ReadPages(root)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestCommands runs the commands of each page from top to bottom, in a separate place.
func TestCommands(t *testing.T) {
	t.Parallel()
	used, have := newUses(), realParts(t)
	t.Cleanup(func() {
		for _, line := range used.never() {
			t.Errorf("no page has %q: remove it from exceptions", line)
		}
	})
	for _, page := range readAll(t) {
		if slices.ContainsFunc(page.Blocks, Block.isCommands) {
			t.Run(page.Name, func(t *testing.T) {
				t.Parallel()
				newPlace(t, page, have).follow(used)
			})
		}
	}
}

// isCommands reports whether a block has commands.
func (b Block) isCommands() bool { return b.Lang == "sh" }

// TestCommandsAreMarked checks that no other block has commands, which would not be run.
func TestCommandsAreMarked(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile(`(?m)^(\$ |# )?(sudo )?(driftd|bin/driftd|make|go|git|install|systemctl|kubectl|pveum|apt|dpkg|rpm|dnf|curl|docker|podman) [a-z./-]`)
	for _, page := range readAll(t) {
		for _, b := range page.Blocks {
			if found := command.FindString(b.Text); found != "" && (b.Lang == "" || b.Lang == "console" || b.Lang == "bash" || b.Lang == "text") {
				t.Errorf("%s:%d: %q looks like a command: begin the block with ```sh, so that it is run", page.Name, b.Line, found)
			}
		}
	}
}

// follow follows a page: it uses its configurations, if the page is a guide that writes them,
// and runs its commands.
func (p *place) follow(used *uses) {
	p.t.Helper()
	for _, b := range p.page.Blocks {
		switch {
		case b.Lang == "yaml" && p.journey:
			p.adopt(b)
		case b.isCommands():
			p.run(b, used)
		}
	}
	p.end()
}

// run runs the lines of a block in one shell, except for exceptions.
func (p *place) run(b Block, used *uses) {
	p.t.Helper()
	var lines []string
	for i, line := range joined(b.Text) {
		instead, ok := used.elsewhere(line, p.parts)
		if !ok {
			if program := unknownProgram(line); program != "" {
				p.t.Fatalf("%s:%d: %s: nobody has said that %s may be run here: see elsewhere_test.go", p.page.Name, b.Line, line, program)
			}
			if ofDecision().MatchString(line) {
				p.shell(b, lines) // may create the decision that the line names
				lines = nil
			}
			lines = append(lines, line)
			continue
		}
		if err := instead(p, line); err != nil {
			p.t.Errorf("%s:%d: %s: %v", p.page.Name, b.Line+i, line, err)
		}
	}
	p.shell(b, lines)
}

// shell runs lines in one shell.
func (p *place) shell(b Block, lines []string) {
	p.t.Helper()
	if len(lines) == 0 {
		return
	}
	p.expect(lines)
	for i := range lines {
		lines[i] = p.here(lines[i])
	}
	script := strings.Join(lines, "\n")
	cmd := exec.CommandContext(p.t.Context(), "sh", "-eu", "-c", script)
	cmd.Dir, cmd.Env = p.dir, p.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// A background process must not keep the pipe open.
	cmd.WaitDelay = patience
	err := cmd.Run()
	p.t.Logf("%s:%d:\n%s\n%s", p.page.Name, b.Line, script, out.String())
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		p.t.Fatalf("%s:%d: the block fails: %v", p.page.Name, b.Line, err)
	}
	p.remember(lines)
}

// expect does the steps of a reader before a block: stop the daemon that was started by hand
// before the service starts, which then has the configuration.
func (p *place) expect(lines []string) {
	p.t.Helper()
	if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "systemctl enable") }) {
		p.must(endAll(p.background, syscall.SIGINT))
		p.env = append(p.env, "DRIFTD_CONFIG="+filepath.Join(p.dir, "driftd.yaml"))
	}
}

// remember does the steps of a reader after a block: it keeps variables, and Ctrl-C ends the
// demonstration.
func (p *place) remember(lines []string) {
	p.t.Helper()
	for _, line := range lines {
		if regexp.MustCompile(`^[A-Z_]+=\S+$`).MatchString(line) {
			p.env = append(p.env, line)
		}
		if line == "driftd demo" {
			p.must(endAll(p.background, syscall.SIGINT))
		}
	}
}

// joined returns the commands of a block without comments and blank lines, with continued lines
// as one.
func joined(text string) []string {
	text = strings.ReplaceAll(text, "\\\n", " ")
	var lines []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\n"), " #")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// here returns a line in the form that is run in this place: with folders of the place instead
// of those of the system, and with IDs of existing findings and decisions.
func (p *place) here(line string) string {
	for _, folder := range []string{"/etc/driftd", "/var/lib/driftd", "/var/backups", "/var/log/kubernetes", "/root", "/usr/share/doc/driftd", "/etc/systemd"} {
		line = regexp.MustCompile(`(^|[\s"'=])`+folder).ReplaceAllString(line, "${1}"+p.dir+folder)
	}
	for was, is := range p.instead {
		line = strings.ReplaceAll(line, was, is)
	}
	return madeUp().ReplaceAllStringFunc(line, p.id)
}

// madeUp matches the example IDs of pages, ofDecision those of them that are IDs of decisions.
func madeUp() *regexp.Regexp     { return regexp.MustCompile(`\b(3f2a|77c1|f00d01|9b1c|010203040506)\b`) }
func ofDecision() *regexp.Regexp { return regexp.MustCompile(`\b(9b1c|010203040506)\b`) }

// id returns the beginning of an existing ID for an example one.
func (p *place) id(made string) string {
	verb, at := "findings", 0
	switch {
	case ofDecision().MatchString(made):
		verb = "decisions"
	case made == "77c1":
		at = 1
	}
	out := p.driftd(verb, "-o", "json")
	var answer map[string]json.RawMessage
	var things []struct {
		ID string `json:"id"`
	}
	if err := errors.Join(json.Unmarshal(out, &answer), json.Unmarshal(answer[verb], &things)); err != nil {
		p.t.Fatalf("driftd %s -o json: %v:\n%s", verb, err, out)
	}
	if len(things) <= at {
		p.t.Fatalf("driftd %s shows nothing for %s:\n%s", verb, made, out)
	}
	return things[at].ID[:8]
}

func (p *place) driftd(args ...string) []byte {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), filepath.Join(p.dir, ".bin", "driftd"), args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("driftd %s: %v\n%s", strings.Join(args, " "), err, stderrOf(err))
	}
	return out
}

func stderrOf(err error) []byte {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}

// end stops the background processes of the page, and checks that they stop.
func (p *place) end() {
	p.t.Helper()
	if err := endAll(p.background, syscall.SIGTERM); err != nil {
		p.t.Error(err)
	}
}

// verbs checks that driftd has the verb and the flags of a line.
func verbs(_ *place, line string) error {
	for _, command := range regexp.MustCompile(`[|;&>]`).Split(line, -1) {
		if words := strings.Fields(command); len(words) > 0 && words[0] == "driftd" {
			if err := checkUsage(words[1:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// target checks that the Makefile has the targets of a line.
func target(_ *place, line string) error {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return err
	}
	for _, word := range strings.Fields(line)[1:] {
		if strings.Contains(word, "=") {
			break // a variable follows
		}
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(word) + `:`).Match(makefile) {
			return fmt.Errorf("the Makefile has no target %s", word)
		}
	}
	return nil
}

// packaged checks that the folders of a go command exist.
func packaged(_ *place, line string) error {
	for _, word := range strings.Fields(line)[2:] {
		if _, err := os.Stat(filepath.Join(root, word)); strings.HasPrefix(word, "./") && err != nil {
			return err
		}
	}
	return nil
}
