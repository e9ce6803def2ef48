package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/driftd/driftd/internal/access"
)

func (c *command) user() *cobra.Command {
	return &cobra.Command{
		Use:   "user NAME",
		Short: "Print a line for the users' file: a name and the hash of a password",
		Long: `Print a line for the file that server.access.users_file names: a name and the
bcrypt hash of a password. On a terminal, driftd asks for the password twice
without showing it; otherwise it reads the password from standard input. To change
a password, replace the old line. The running daemon reloads the file by itself.`,
		Example: "  driftd user alice >> users\n  pass show driftd/alice | driftd user alice >> users",
		Args:    one("user"),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := c.readPassword(cmd.Context(), cmd.InOrStdin())
			if err != nil {
				return err
			}
			line, err := access.UserLine(args[0], password)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.streams.Out, line)
			return err
		},
	}
}

// readPassword asks for a password twice on a terminal. From any other input it reads it
// once, without the line break at the end.
func (c *command) readPassword(ctx context.Context, in io.Reader) (string, error) {
	if file, ok := in.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		first, err := c.askPassword(ctx, file, "Password: ")
		if err != nil {
			return "", err
		}
		second, err := c.askPassword(ctx, file, "Again: ")
		if err == nil && first != second {
			err = errors.New("the passwords differ: run it again")
		}
		return first, err
	}
	const most = 4096 // longer than any password; bcrypt rejects one that is too long
	text, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	if len(text) == 0 {
		return "", errors.New("no password was given: write it to the standard input, or run this on a terminal")
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

// askPassword asks for a password on a terminal without echo, until ctx ends. It restores the
// terminal's state.
func (c *command) askPassword(ctx context.Context, terminal *os.File, prompt string) (string, error) {
	before, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	fmt.Fprint(c.streams.Err, prompt)
	type answer struct {
		text []byte
		err  error
	}
	typed := make(chan answer, 1)
	// A read from a terminal cannot be cancelled; the goroutine ends with the process.
	go func() {
		text, err := term.ReadPassword(int(terminal.Fd()))
		typed <- answer{text, err}
	}()
	var got answer
	select {
	case got = <-typed:
	case <-ctx.Done():
		got.err = errors.Join(context.Cause(ctx), term.Restore(int(terminal.Fd()), before))
	}
	fmt.Fprintln(c.streams.Err)
	if got.err != nil {
		return "", fmt.Errorf("read the password: %w", got.err)
	}
	return string(got.text), nil
}
