//go:build e2e

package tftest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// estate has an object of every kind, and every form of attribute.
const estate = `
terraform {
  required_providers {
    lab = { source = "driftd/lab" }
  }
  %s
}
provider "lab" {
  endpoint = %q
  token    = %q
}
resource "lab_server" "web" {
  for_each = toset(["a", "b"])
  name     = "web-${each.key}"
  size     = 2
  ratio    = 0.1
  public   = true
  notes    = "first\nsecond"
  config   = "{ \"b\": 1, \"a\": [1, 2] }"
  tags     = ["z", "a"]
  steps    = ["z", "a"]
  labels   = { team = "shop" }
  password = "hunter2"
  zone     = "north"
  backup   = { schedule = "daily", key = "k" }
  disk {
    slot = "b"
    size = 10
    ssd  = true
  }
  disk {
    slot = "a"
    size = 20
  }
}
resource "lab_server" "bare" {
  name = "bare"
}
resource "lab_rule" "web" {
  server = lab_server.web["a"].id
  allow { port = 443 }
  allow {
    port   = 22
    source = data.lab_lookup.office.value
  }
}
resource "lab_note" "plain" {
  title = "plain"
}
data "lab_lookup" "office" {
  name = "office"
}
`

// TestApply applies the estate with each program: a plan after that is empty, and the providers
// are found without a network.
func TestApply(t *testing.T) {
	t.Parallel()
	for _, cli := range clis(t) {
		t.Run(cli.Name, func(t *testing.T) {
			t.Parallel()
			applyEstate(t, cli, "")
		})
	}
}

func clis(t *testing.T) []CLI {
	t.Helper()
	clis, err := tools(t).CLIs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return clis
}

func tools(t *testing.T) Tools {
	t.Helper()
	tools, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func applyEstate(t *testing.T, cli CLI, backend string) {
	t.Helper()
	lab := NewLab()
	t.Cleanup(lab.Close)
	lab.Put("lookup/office", Object{"value": "10.1.0.0/16"})
	root := t.TempDir()
	text := fmt.Sprintf(estate, backend, lab.URL(), Token)
	if err := os.WriteFile(filepath.Join(root, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cli.Apply(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if err := cli.Run(t.Context(), root, "plan", "-detailed-exitcode", "-no-color"); err != nil {
		t.Error(err)
	}
}

// TestBackends stores the estate's state in each server.
func TestBackends(t *testing.T) {
	t.Parallel()
	s3, err := tools(t).StartS3(t.Context(), "states")
	stopLater(t, s3, err)
	postgres, err := StartPostgres(t.Context())
	stopLater(t, postgres, err)
	for name, backend := range map[string]string{
		"s3": fmt.Sprintf(`backend "s3" {
    bucket = "states"
    key = "prod/shop.tfstate"
    region = "us-east-1"
    endpoints = { s3 = "http://%s" }
    access_key = %q
    secret_key = %q
    use_path_style = true
    skip_credentials_validation = true
    skip_requesting_account_id = true
    skip_metadata_api_check = true
    skip_region_validation = true
  }`, s3.Address, S3User, S3Password),
		"pg": fmt.Sprintf(`backend "pg" {
    conn_str = "postgres://postgres@%s/postgres?sslmode=disable"
  }`, postgres.Address),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			applyEstate(t, clis(t)[0], backend)
		})
	}
}

func stopLater(t *testing.T, s *Server, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
}
