package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// known refuses what is no command, and names those that it may have meant.
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

// nothing refuses arguments.
func nothing(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no argument, and got %q: %s", cmd.CommandPath(), args[0], seeHelp(cmd))
}

// one wants one thing, neither none nor two.
func one(thing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := some(thing)(cmd, args); err != nil || len(args) == 1 {
			return err
		}
		return fmt.Errorf("%s takes one %s, and got %d: %s", cmd.CommandPath(), thing, len(args), seeHelp(cmd))
	}
}

// some wants one thing or more.
func some(thing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && !slices.Contains(args, "") {
			return nil
		}
		return fmt.Errorf("no %s is named: %s", thing, seeHelp(cmd))
	}
}

func seeHelp(cmd *cobra.Command) string { return fmt.Sprintf("see %q", cmd.CommandPath()+" --help") }

// apart refuses a flag that was given together with one of others.
func apart(cmd *cobra.Command, flag string, others ...string) error {
	for _, other := range others {
		if cmd.Flags().Changed(flag) && cmd.Flags().Changed(other) {
			return fmt.Errorf("--%s and --%s do not go together: %s", flag, other, seeHelp(cmd))
		}
	}
	return nil
}
