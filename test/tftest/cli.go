package tftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const binVariable = "DRIFTD_TEST_TERRAFORM_BIN"

// Tools are the programs of the tests.
type Tools struct{ dir string }

// Find returns the programs from the folder in the environment.
func Find() (Tools, error) {
	dir := os.Getenv(binVariable)
	if dir == "" {
		return Tools{}, fmt.Errorf("%s is not set: run the tests through make, or set it to what `sh tools/terraform.sh` prints", binVariable)
	}
	for _, program := range []string{"tofu", "versitygw", "providers"} {
		if _, err := os.Stat(filepath.Join(dir, program)); err != nil {
			return Tools{}, fmt.Errorf("find %s: %w: set %s to what `sh tools/terraform.sh` prints", program, err, binVariable)
		}
	}
	return Tools{dir}, nil
}

// A CLI is a program that plans and applies.
type CLI struct {
	// Name is "tofu" or "terraform".
	Name string
	// Path is the path of the program.
	Path string
	// Config is the CLI configuration file by which it finds the providers without a network.
	Config string
	// Dir is the folder for the program's own files.
	Dir string
	// Env is added to its environment.
	Env []string
}

// CLIs returns OpenTofu and, if installed, Terraform. Their files are in a folder.
func (t Tools) CLIs(dir string) ([]CLI, error) {
	config := filepath.Join(dir, "cli.tfrc")
	text := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror { path = %q }\n}\n",
		filepath.Join(t.dir, "providers"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write cli configuration: %w", err)
	}
	clis := []CLI{{Name: "tofu", Path: filepath.Join(t.dir, "tofu"), Config: config, Dir: dir}}
	path, err := exec.LookPath("terraform")
	if errors.Is(err, exec.ErrNotFound) {
		return clis, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find terraform: %w", err)
	}
	return append(clis, CLI{Name: "terraform", Path: path, Config: config, Dir: dir}), nil
}

// Command returns a command of the program in a root.
func (c CLI) Command(ctx context.Context, root string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Path, args...)
	cmd.Dir = root
	cmd.Env = append([]string{
		"HOME=" + c.Dir, "PATH=" + os.Getenv("PATH"),
		"TF_CLI_CONFIG_FILE=" + c.Config, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1",
	}, c.Env...)
	return cmd
}

// Run runs the program in a root. An error includes its output.
func (c CLI) Run(ctx context.Context, root string, args ...string) error {
	out, err := c.Command(ctx, root, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", c.Name, strings.Join(args, " "), err, out)
	}
	return nil
}

// Apply initializes a root and applies it; args are arguments of apply.
func (c CLI) Apply(ctx context.Context, root string, args ...string) error {
	if err := c.Run(ctx, root, "init", "-no-color"); err != nil {
		return err
	}
	return c.Run(ctx, root, append([]string{"apply", "-auto-approve", "-no-color"}, args...)...)
}
