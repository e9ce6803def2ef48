package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/setup"
)

// isTerminal reports whether an input is a terminal.
func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// A prompter asks questions on a terminal.
type prompter struct {
	in  *bufio.Reader
	out io.Writer
}

func newPrompter(in io.Reader, out io.Writer) *prompter { return &prompter{bufio.NewReader(in), out} }

// line asks a question, until ctx ends. An empty answer is the default.
func (p *prompter) line(ctx context.Context, question, fallback string) (string, error) {
	fmt.Fprintf(p.out, "%s [%s]: ", question, phrase.Visible(fallback))
	type answer struct {
		text string
		err  error
	}
	typed := make(chan answer, 1)
	// A read from a terminal cannot be cancelled; the goroutine ends with the process.
	go func() {
		text, err := p.in.ReadString('\n')
		typed <- answer{text, err}
	}()
	var got answer
	select {
	case got = <-typed:
	case <-ctx.Done():
		got.err = context.Cause(ctx)
	}
	if got.err != nil {
		fmt.Fprintln(p.out)
		if errors.Is(got.err, io.EOF) {
			got.err = errors.New("the input ended")
		}
		return "", fmt.Errorf("read the answer: %w", got.err)
	}
	if text := strings.TrimSpace(got.text); text != "" {
		return text, nil
	}
	return fallback, nil
}

// valid asks a question until check accepts the answer.
func (p *prompter) valid(ctx context.Context, question, fallback string, check func(string) error) (string, error) {
	for {
		text, err := p.line(ctx, question, fallback)
		if err != nil {
			return "", err
		}
		if err = check(text); err == nil {
			return text, nil
		}
		fmt.Fprintln(p.out, visible(err.Error()))
	}
}

// choose asks which of some things are selected, by their numbers or names. setup.None selects nothing.
func (p *prompter) choose(ctx context.Context, question string, things, fallback []string) ([]string, error) {
	var numbers []string
	for i, thing := range things {
		fmt.Fprintf(p.out, "  %d  %s\n", i+1, phrase.Visible(thing))
		if slices.Contains(fallback, thing) {
			numbers = append(numbers, strconv.Itoa(i+1))
		}
	}
	if len(numbers) == 0 {
		numbers = []string{setup.None}
	}
	var chosen []string
	_, err := p.valid(ctx, question+" (numbers, all or none)", strings.Join(numbers, ","), func(text string) error {
		var err error
		chosen, err = chosenFrom(things, text)
		return err
	})
	return chosen, err
}

// chosenFrom returns the things that an answer names, in their order.
func chosenFrom(things []string, answer string) ([]string, error) {
	switch answer {
	case setup.None:
		return nil, nil
	case "all":
		return things, nil
	}
	selected := map[string]bool{}
	for word := range strings.SplitSeq(answer, ",") {
		word = strings.TrimSpace(word)
		n, err := strconv.Atoi(word)
		switch {
		case slices.Contains(things, word):
			selected[word] = true
		case err == nil && n >= 1 && n <= len(things):
			selected[things[n-1]] = true
		default:
			return nil, fmt.Errorf("%q is not in the list: want numbers from 1 to %d with commas between them", word, len(things))
		}
	}
	return slices.DeleteFunc(slices.Clone(things), func(thing string) bool { return !selected[thing] }), nil
}
