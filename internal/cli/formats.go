package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/report"
)

// A formatFile is a format of a report with the file that it is written to.
type formatFile struct {
	format string
	file   *os.File
	// made is set if openFormats made the file.
	made bool
}

// formatFlag adds --format.
func (c *command) formatFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.formats, "format", nil,
		"format, as -o, or FORMAT=FILE to write the report to a file as well; repeatable")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(report.Formats(), cobra.ShellCompDirectiveNoFileComp))
}

// openFormats checks the flags -o and --format, and opens the files: a long scan does not fail at its end because of a path.
// The files of an earlier report stay as they are until writeFormats.
func (c *command) openFormats(cmd *cobra.Command) error {
	named := cmd.Flags().Changed("output")
	files := map[string]string{}
	for _, value := range c.formats {
		format, file, toFile := strings.Cut(value, "=")
		if err := report.Write(io.Discard, format, model.Report{}, report.Options{}); err != nil {
			return fmt.Errorf("--format: %w", err)
		}
		switch {
		case toFile && file == "":
			return fmt.Errorf("--format %s: give a file after =", value)
		case toFile && files[filepath.Clean(file)] != "":
			return fmt.Errorf("--format: %s is given twice: give each format a file of its own", file)
		case toFile:
			files[filepath.Clean(file)] = format
		case named:
			return errors.New("give one format for the standard output, and others as --format FORMAT=FILE")
		default:
			c.output, named = format, true
		}
	}
	if err := report.Write(io.Discard, c.output, model.Report{}, report.Options{}); err != nil {
		return err
	}
	for file, format := range files {
		_, absent := os.Lstat(file)
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			return fmt.Errorf("--format: %w", err)
		}
		c.outputs = append(c.outputs, formatFile{format, f, errors.Is(absent, fs.ErrNotExist)})
	}
	return nil
}

// closeFormats closes the files of a report that was not written, and removes those that openFormats made: an empty file is
// no report.
func (c *command) closeFormats() (err error) {
	for _, out := range c.outputs {
		err = errors.Join(err, out.file.Close())
		if out.made {
			err = errors.Join(err, os.Remove(out.file.Name()))
		}
	}
	c.outputs = nil
	return err
}

// writeFormats writes the files of --format.
func (c *command) writeFormats(r model.Report, o report.Options) error {
	o.Color, o.Width, o.RelativeTime, o.Most = false, 0, false, 0
	var failed error
	for _, out := range c.outputs {
		if info, err := out.file.Stat(); err == nil && info.Mode().IsRegular() {
			failed = errors.Join(failed, out.file.Truncate(0))
		}
		failed = errors.Join(failed, report.Write(out.file, out.format, r, o), out.file.Close())
	}
	c.outputs = nil
	return failed
}
