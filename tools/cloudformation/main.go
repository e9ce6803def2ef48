// Cloudformation prints an excerpt of the database of CloudFormation's resource types: the primary
// identifier of each type whose name standard input has.
//
//	npm pack @aws-cdk/aws-service-spec@0.1.216 && tar xzf aws-cdk-aws-service-spec-*.tgz
//	go run ./tools/cloudformation package/db.json.gz < names > internal/mapping/testdata/cloudformation.json
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A database is the part of the database that is read.
type database struct {
	Schema struct {
		Resource struct {
			Entities []struct {
				CloudFormationType string
				PrimaryIdentifier  []string
			}
		}
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the path of db.json.gz, got %d arguments", len(args))
	}
	file, err := os.Open(args[0])
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	plain, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	var d database
	if err := json.NewDecoder(plain).Decode(&d); err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	wanted := map[string]bool{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		wanted[strings.TrimSpace(lines.Text())] = true
	}
	found := map[string][]string{}
	for _, r := range d.Schema.Resource.Entities {
		if wanted[r.CloudFormationType] {
			found[r.CloudFormationType] = r.PrimaryIdentifier
		}
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(found); err != nil {
		return fmt.Errorf("write excerpt: %w", err)
	}
	return nil
}
