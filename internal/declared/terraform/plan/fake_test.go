package plan

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain also runs the test binary as the fake CLI if FAKE_DIR is set. Tests configure the CLI,
// and it records its calls, in that folder.
func TestMain(m *testing.M) {
	if dir := os.Getenv("FAKE_DIR"); dir != "" {
		os.Exit(fake{dir}.run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fake is a CLI that files configure: init fails and prints the file "init.stderr"; plan prints
// "plan.stdout", and "plan.json" is its plan, and "unrefreshed.json" the one without a refresh, if there is such a file. The file
// "second" has the name of the second plan without a refresh.
type fake struct{ dir string }

func (f fake) run(args []string) int {
	call := strings.Join(args, " ")
	if more := os.Getenv("TF_CLI_ARGS_" + args[0]); more != "" {
		call += " (" + more + ")"
	}
	f.note("calls", call)
	f.note("env", strings.Join(os.Environ(), "\n"))
	name := args[0]
	if f.has(name + ".writes") {
		// A real CLI could write to the folder that it runs in, and to the folders above it.
		_ = os.WriteFile("spoiled.tf", []byte("spoiled"), 0o600)
		_ = os.WriteFile("../modules/spoiled.tf", []byte("spoiled"), 0o600)
	}
	if tests, err := filepath.Glob("*test.*"); err == nil && name == "init" && len(tests) > 0 {
		f.note("init.saw", strings.Join(tests, " "))
	}
	if f.has(name + ".keeps") {
		f.keep()
	}
	if f.has(name + ".lays") {
		_ = os.CopyFS(os.Getenv("TF_DATA_DIR"), os.DirFS(filepath.Join(f.dir, name+".lays")))
	}
	if f.has(name + ".hangs") {
		f.hang(name)
	}
	if f.has(name + ".floods") {
		for range 1 << 10 {
			fmt.Fprint(os.Stderr, strings.Repeat("flood", 20<<10))
		}
	}
	fmt.Print(f.text(name + ".stdout"))
	fmt.Fprint(os.Stderr, f.text(name+".stderr"))
	switch name {
	case "version":
		fmt.Println(`{"terraform_version":"1.11.4"}`)
	case "plan":
		return f.plan(args)
	case "show":
		text, err := os.ReadFile(args[len(args)-1])
		fmt.Print(string(text))
		return status(err == nil)
	case "providers":
		text, err := os.ReadFile(f.text("schemas"))
		fmt.Print(string(text))
		return status(err == nil)
	}
	return status(!f.has(name + ".stderr"))
}

func status(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

// plan writes the plan file, if there is a plan.
func (f fake) plan(args []string) int {
	planned := "plan.json"
	if slices.Contains(args, "-refresh-only") {
		planned = "refresh.json"
	}
	if slices.Contains(args, "-refresh=false") && f.has("unrefreshed.json") {
		planned = "unrefreshed.json"
	}
	if out := strings.Join(args, " "); strings.Contains(out, "second plan without refresh") {
		planned = f.text("second")
	}
	for _, a := range args {
		if out, ok := strings.CutPrefix(a, "-generate-config-out="); ok && f.has("generated") {
			if err := os.WriteFile(out, []byte(f.text("generated")), 0o600); err != nil {
				return 1
			}
		}
	}
	if text, err := os.ReadFile(generatedFile); err == nil {
		f.note("tried", string(text))
		for i, line := range strings.Split(string(text), "\n") {
			if word := f.text("plan.rejects"); word != "" && strings.Contains(line, word) {
				fmt.Printf(`{"type":"diagnostic","diagnostic":{"severity":"error","summary":"not accepted","range":{"filename":%q,"start":{"line":%d}}}}`+"\n", generatedFile, i+1)
				return 1
			}
		}
	}
	for _, a := range args {
		if out, ok := strings.CutPrefix(a, "-out="); ok && f.has(planned) {
			if err := os.WriteFile(out, []byte(f.text(planned)), 0o600); err != nil {
				return 1
			}
		}
	}
	return status(f.has(planned) && !f.has("plan.fails"))
}

// keep records the configuration files in the working directory.
func (f fake) keep() {
	files, err := filepath.Glob("*.tf")
	if err != nil {
		os.Exit(3)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			os.Exit(3)
		}
		f.note("configuration", name+"\n"+strings.TrimSuffix(string(text), "\n"))
	}
}

// hang starts a child process that does not end, notifies the test, and waits.
func (f fake) hang(name string) {
	if f.has(name + ".ignores") {
		signal.Ignore(os.Interrupt)
	}
	held, err := lockFile(filepath.Join(f.dir, "held"), syscall.LOCK_EX)
	if err != nil {
		os.Exit(3)
	}
	// The child process has the lock and the pipes open until it ends.
	child := exec.Command("sleep", "1000")
	child.ExtraFiles = []*os.File{held}
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		os.Exit(3)
	}
	f.note("hanging", "here")
	time.Sleep(time.Hour)
}

func (f fake) has(name string) bool {
	_, err := os.Stat(filepath.Join(f.dir, name))
	return err == nil
}

func (f fake) text(name string) string {
	text, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// note appends a line to a file, or writes it to a pipe that a test reads.
func (f fake) note(name, line string) {
	file, err := os.OpenFile(filepath.Join(f.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(3)
	}
	fmt.Fprintln(file, line)
	if file.Close() != nil {
		os.Exit(3)
	}
}

// A stage is a root with a fake CLI and the options for a plan.
type stage struct {
	t       *testing.T
	fake    fake
	root    string
	options Options
}

// newStage returns a root whose plan has no changes.
func newStage(t *testing.T, files map[string]string) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{t: t, fake: fake{filepath.Join(dir, "fake")}, root: filepath.Join(dir, "repo", "infra")}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.root, "main.tf"), `resource "lab_server" "web" {}`)
	for name, text := range files {
		s.write(filepath.Join(s.root, name), text)
	}
	same := object{"id": "s-1", "size": 2}
	s.set("plan.json", encode(t, object{"format_version": "1.2", "terraform_version": "1.11.4",
		"resource_changes": []any{change("lab_server.web", "no-op", same, same, nil)}}))
	s.set("plan.stdout", `{"type":"version","terraform":"1.11.4"}`+"\n")
	schemas, err := filepath.Abs("testdata/schemas.json")
	if err != nil {
		t.Fatal(err)
	}
	s.set("schemas", schemas)
	s.options = Options{Dir: s.root, Binary: executable, CacheDir: filepath.Join(dir, "cache"), Limiter: NewLimiter(1),
		// A program with the race detector sleeps for a second when it ends.
		Env: map[string]string{"FAKE_DIR": s.fake.dir, "GORACE": "atexit_sleep_ms=0"}, Sealer: sealer(), Grace: 100 * time.Millisecond}
	return s
}

// set writes a configuration file of the fake CLI.
func (s *stage) set(name, text string) { s.write(filepath.Join(s.fake.dir, name), text) }

// lay writes a file, or a link for a text that begins with "-> ".
func (s *stage) lay(path, text string) {
	s.t.Helper()
	if target, isLink := strings.CutPrefix(text, "-> "); !isLink {
		s.write(path, text)
	} else if err := os.Symlink(target, path); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) run() (Output, error) { return Run(s.t.Context(), s.options) }

// calls returns the calls of the CLI, with W for its private folder.
func (s *stage) calls() []string {
	text := s.fake.text("calls")
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '=' || r == '\n' }) {
		if i := strings.Index(word, "/cache/work/"); i >= 0 {
			rest := word[i+len("/cache/work/"):]
			name, _, _ := strings.Cut(rest, "/")
			text = strings.ReplaceAll(text, word[:i+len("/cache/work/")+len(name)], "W")
		}
	}
	return strings.Split(strings.TrimSpace(text), "\n")
}

// snapshot returns all files below dir with their content.
func (s *stage) snapshot(dir string) map[string]string {
	s.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(bytes.TrimSpace(text))
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

// left returns the remaining work folders.
func (s *stage) left() []string {
	s.t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.options.CacheDir, "work"))
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// interrupt cancels a call of the CLI as soon as the CLI hangs. It checks that the call returns
// the cause, and that the CLI's child process, which has a lock, ends.
func (s *stage) interrupt(call func(context.Context) error) {
	s.t.Helper()
	pipe := filepath.Join(s.fake.dir, "hanging")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		s.t.Fatal(err)
	}
	why := errors.New("driftd stops")
	ctx, cancel := context.WithCancelCause(s.t.Context())
	done := make(chan error)
	go func() { done <- call(ctx) }()
	hanging, err := os.Open(pipe)
	if err != nil {
		s.t.Fatal(err)
	}
	if line, err := bufio.NewReader(hanging).ReadString('\n'); line != "here\n" {
		s.t.Fatal(line, err)
	}
	release(hanging)
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		s.t.Errorf("got %v", err)
	}
	held, err := waitForLock(s.t.Context(), filepath.Join(s.fake.dir, "held"))
	if err != nil {
		s.t.Fatal(err)
	}
	release(held)
}
