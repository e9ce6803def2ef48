package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/driftd/driftd/test/tftest"
)

// terraformBench compares driftd with the CLI on one root, whose live side is a Lab.
type terraformBench struct {
	runner
	cli    tftest.CLI
	lab    *tftest.Lab
	driftd string
}

// measureTerraform compares the plan engine with the commands that it runs.
func measureTerraform(ctx context.Context, s scale, driftd, dir string) ([]result, error) {
	dir = filepath.Join(dir, "terraform")
	if err := os.MkdirAll(filepath.Join(dir, "root"), 0o700); err != nil {
		return nil, fmt.Errorf("make root: %w", err)
	}
	tools, err := tftest.Find()
	if err != nil {
		return nil, err
	}
	clis, err := tools.CLIs(dir)
	if err != nil {
		return nil, err
	}
	lab := tftest.NewLab()
	defer lab.Close()
	b := &terraformBench{runner{dir, s.runs}, clis[0], lab, driftd}
	if err := b.apply(ctx, s.planned); err != nil {
		return nil, err
	}
	return b.measurePlan(ctx, s.planned)
}

const labRoot = `
terraform {
  required_providers {
    lab = { source = "driftd/lab" }
  }
}
provider "lab" {
  endpoint = %q
  token    = %q
}
resource "lab_server" "web" {
  count    = %d
  name     = "web-${count.index}"
  size     = 2
  notes    = "a server of the shop"
  tags     = ["shop", "web"]
  labels   = { team = "shop", number = count.index }
  password = "secret-${count.index}"
  disk {
    slot = "root"
    size = 20
  }
}
`

const scanConfig = `
declarations:
  - {name: bench, type: terraform, settings: {dir: root, binary: %q, cli_config_file: %q}}
`

// apply creates the root and its resources.
func (b *terraformBench) apply(ctx context.Context, resources int) error {
	if err := b.write(map[string]string{
		"root/main.tf": fmt.Sprintf(labRoot, b.lab.URL(), tftest.Token, resources),
		"driftd.yaml":  fmt.Sprintf(scanConfig, b.cli.Path, b.cli.Config),
	}); err != nil {
		return err
	}
	return b.cli.Apply(ctx, b.path("root"))
}

// measurePlan runs both in turn, so that other load of the machine affects both. The folder of the root has its
// providers already, and the state folder of driftd has what the first scan of the files found: that one reads the
// schemas of the providers, and makes two more plans to see whether they are alike.
func (b *terraformBench) measurePlan(ctx context.Context, resources int) ([]result, error) {
	first, err := b.scan(ctx)
	if err != nil {
		return nil, err
	}
	var bare, whole []cost
	for range b.runs {
		c, err := b.bare(ctx)
		if err != nil {
			return nil, err
		}
		bare = append(bare, c)
		if c, err = b.scan(ctx); err != nil {
			return nil, err
		}
		whole = append(whole, c)
	}
	plain, driftd := middle(bare), middle(whole)
	overhead := driftd.wall.Seconds()/plain.wall.Seconds() - 1
	return []result{
		{what: fmt.Sprintf("%s init, plan, show, %d resources", b.cli.Name, resources), measured: plain.String()},
		{what: "driftd scan, plan engine, the same, first scan of these files", measured: first.String()},
		{what: "  each later one", measured: driftd.String()},
		judged("  beyond the bare commands", fmt.Sprintf("%.1f %%", 100*overhead), "under 5 %", overhead < maxOverhead),
	}, nil
}

// bare runs a plan with the CLI.
func (b *terraformBench) bare(ctx context.Context) (cost, error) {
	var sum cost
	for _, args := range [][]string{
		{"init", "-input=false"},
		{"plan", "-lock=false", "-input=false", "-out=" + b.path("plan")},
		{"show", "-json", b.path("plan")},
	} {
		c, err := measure(b.cli.Command(ctx, b.path("root"), args...), []int{0})
		if err != nil {
			return cost{}, err
		}
		sum = sum.and(c)
	}
	return sum, nil
}

func (b *terraformBench) scan(ctx context.Context) (cost, error) {
	return b.process(ctx, []int{0}, b.driftd, "scan", "--config", b.path("driftd.yaml"), "--state-dir", b.path("state"))
}
