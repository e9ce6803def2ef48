package remedy

import "strings"

// WithFlags returns the suggestion with flags, such as --config=driftd.yaml, appended to each driftd
// command. If a flag cannot be quoted, the commands remain unchanged.
func (s Suggestion) WithFlags(flags ...string) Suggestion {
	more, ok := command(flags).text()
	if !ok || more == "" {
		return s
	}
	return s.mapShell(func(text string) string { return withFlags(text, more) })
}

// WithPath returns the suggestion with the PATH of a scan added to each driftd adopt command. If it cannot
// be quoted, the commands remain unchanged.
func (s Suggestion) WithPath(path string) Suggestion {
	quoted, ok := quote(path)
	if !ok {
		return s
	}
	begin := "driftd adopt " + s.Finding + " "
	return s.mapShell(func(text string) string {
		if rest, ok := strings.CutPrefix(text, begin); ok {
			return begin + quoted + " " + rest
		}
		return text
	})
}

// mapShell returns the suggestion with each block of commands replaced.
func (s Suggestion) mapShell(change func(text string) string) Suggestion {
	for _, step := range []*Step{&s.PutBack, &s.Adopt, &s.Accept, &s.Ask} {
		blocks := make([]Block, len(step.Blocks))
		for i, b := range step.Blocks {
			if b.Language == "sh" {
				b.Text = change(b.Text)
			}
			blocks[i] = b
		}
		step.Blocks = blocks
	}
	return s
}

// withFlags adds flags to the lines of a block that are commands of driftd.
func withFlags(text, flags string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "driftd ") {
			lines[i] += " " + flags
		}
	}
	return strings.Join(lines, "\n")
}

// Quote returns words as one line for a POSIX shell, or "" if one of them cannot be quoted.
func Quote(words ...string) string {
	text, ok := command(words).text()
	if !ok {
		return ""
	}
	return text
}
