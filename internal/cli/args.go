package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// known returns an error for an unknown subcommand, with suggestions.
func known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := seeHelp(cmd)
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q: %s", args[0], hint)
}

// nothing returns an error if there are arguments.
func nothing(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no argument, and got %q: %s", cmd.CommandPath(), args[0], seeHelp(cmd))
}

// one returns a check for exactly one argument.
func one(thing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := some(thing)(cmd, args); err != nil || len(args) == 1 {
			return err
		}
		return fmt.Errorf("%s takes one %s, and got %d: %s", cmd.CommandPath(), thing, len(args), seeHelp(cmd))
	}
}

// some returns a check for at least one argument, none of them empty.
func some(thing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && !slices.Contains(args, "") {
			return nil
		}
		return fmt.Errorf("missing argument %s: %s", thing, seeHelp(cmd))
	}
}

func seeHelp(cmd *cobra.Command) string { return fmt.Sprintf("see %q", cmd.CommandPath()+" --help") }

// apart returns an error if the flag was given together with one of the others.
func apart(cmd *cobra.Command, flag string, others ...string) error {
	for _, other := range others {
		if cmd.Flags().Changed(flag) && cmd.Flags().Changed(other) {
			return fmt.Errorf("--%s and --%s cannot be combined: %s", flag, other, seeHelp(cmd))
		}
	}
	return nil
}

// require returns one error that lists the flags that are missing or blank; nil if there are none.
func require(cmd *cobra.Command, flags ...string) error {
	var missing []string
	for _, name := range flags {
		if flag := cmd.Flags().Lookup(name); strings.TrimSpace(flag.Value.String()) == "" {
			missing = append(missing, fmt.Sprintf("--%s (%s)", name, flag.Usage))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s needs %s: %s", cmd.CommandPath(), strings.Join(missing, ", "), seeHelp(cmd))
}
