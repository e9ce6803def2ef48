// Command docgen writes docs/configuration.md: every key of the configuration with its type, its
// default, and its description from the code's comments. Run it in the top folder of the
// repository: go run ./tools/docgen
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// pagePath is the path of the page in the repository.
const pagePath = "docs/configuration.md"

func main() {
	root := flag.String("root", ".", "top folder of the repository")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

// write writes the page.
func write(root string) error {
	text, err := page(root)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, pagePath), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
