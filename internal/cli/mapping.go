package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

func (c *command) mapping() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "mapping",
		Short:   "Show how the mapping tables read a Terraform state",
		Example: "  driftd mapping test ./terraform.tfstate",
		Args:    known,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var folders []string
	test := &cobra.Command{
		Use:   "test STATE…",
		Short: "List the resources of a state that can be compared, and their attributes that cannot",
		Long: `Read states and list, by resource type, the live kind that the mapping tables
compare it with, the types without a table, and the attributes with a value
that is never compared. No live system is contacted. The tables are the built-in
ones, those of the configured declarations, and those of --mappings.

Exit codes:
  0  all resources can be compared
  1  usage, or a state or a mapping table cannot be read
  3  a resource cannot be compared`,
		Example: `  driftd mapping test ./terraform.tfstate
  driftd mapping test --mappings ./my-tables s3://states/prod -o json`,
		Args: some("state"),
		RunE: func(cmd *cobra.Command, states []string) error {
			if c.output != "table" && c.output != "json" {
				return fmt.Errorf("unknown format %q: want table or json", c.output)
			}
			configured, err := c.mappingFolders(cmd)
			if err != nil {
				return err
			}
			settings := terraform.Defaults()
			settings.State, settings.Mappings = absoluteStates(states), slices.Concat(configured, folders)
			stop := c.progress("reading states")
			covers, err := terraform.Cover(cmd.Context(), settings)
			stop()
			if err != nil {
				return err
			}
			return c.printCovers(covers)
		},
	}
	test.Flags().StringSliceVar(&folders, "mappings", nil, "folder of further mapping tables")
	c.outputFlag(test, "table", "json")
	cmd.AddCommand(test)
	return cmd
}

// mappingFolders returns the folders of mapping tables of the configured declarations.
func (c *command) mappingFolders(cmd *cobra.Command) ([]string, error) {
	cfg, err := c.loadConfig(cmd.Flags())
	if err != nil {
		return nil, err
	}
	var folders []string
	for i := range cfg.Declarations {
		d := &cfg.Declarations[i]
		if d.Type != terraform.Type {
			continue
		}
		var settings terraform.Config
		if err := d.Only("mappings").Decode(&settings); err != nil {
			return nil, located(err, d.Settings, "declaration", d.Name)
		}
		folders = append(folders, settings.Mappings...)
	}
	slices.Sort(folders)
	return slices.Compact(folders), nil
}

// printImport prints an import block for an unmanaged resource, if a built-in table has its
// kind.
func (c *command) printImport(f *model.Finding) error {
	if f.Verdict != model.Unmanaged {
		return nil
	}
	tables, err := mapping.Load()
	if err != nil {
		return err
	}
	found, ok := tables.Import(model.Ref{Kind: f.Kind, ID: f.Key.ID}, f.Place, f.Name)
	if !ok {
		return nil
	}
	_, err = fmt.Fprintf(c.streams.Out, "\nTo manage it with %s:\n\n%s", found.Provider, found.Block())
	return err
}

// absoluteStates makes file names absolute. URLs are unchanged.
func absoluteStates(states []string) []string {
	absolute := make([]string, len(states))
	for i, s := range states {
		absolute[i] = s
		if path, err := filepath.Abs(s); err == nil && !strings.Contains(s, "://") {
			absolute[i] = path
		}
	}
	return absolute
}

// printCovers prints the compared attributes of each type. If something is not compared, it
// returns the exit code for unchecked.
func (c *command) printCovers(covers []terraform.TypeCover) error {
	total, compared := 0, 0
	for i := range covers {
		total += covers[i].Instances
		if covers[i].Mapped() {
			compared += covers[i].Instances - len(covers[i].Problems)
		}
	}
	var err error
	if c.output == "json" {
		encoder := json.NewEncoder(c.streams.Out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(map[string]any{"types": covers, "resources": total, "covered": compared})
	} else {
		err = c.coverTable(covers, total, compared)
	}
	if err == nil && compared < total {
		return exitStatus(exitUnchecked)
	}
	return err
}

func (c *command) coverTable(covers []terraform.TypeCover, total, compared int) error {
	table := tabwriter.NewWriter(c.streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "TYPE\tRESOURCES\tLIVE KIND\tNOT COMPARED\n")
	for _, cover := range covers {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\n", phrase.Visible(cover.Type), cover.Instances, kindText(cover), phrase.Visible(strings.Join(cover.Unmapped, ", ")))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	for _, cover := range covers {
		for _, p := range cover.Problems {
			fmt.Fprintf(c.streams.Out, "%s: %s\n", phrase.Visible(p.Address), visible(p.Reason))
		}
	}
	_, err := fmt.Fprintf(c.streams.Out, "\n%d resources, %d covered\n", total, compared)
	return err
}

func kindText(cover terraform.TypeCover) string {
	switch {
	case cover.Kind != "":
		return cover.Kind
	case cover.NoLiveSide != "":
		return "none: " + cover.NoLiveSide
	}
	return "NO MAPPING"
}
