package credential

import (
	"errors"
	"fmt"
	"strings"
)

// ReadEnv returns the variables of a file of environment variables. Path is as for Read.
// Each line is NAME=VALUE, empty, or a comment that begins with # or ;.
//
// A value is one of these, with spaces around it:
//
//   - 'text', which ends at the next ' and may have several lines;
//   - "text", the same, in which \" \\ \$ and \` mean the second character;
//   - text without quotes, backslashes and " #".
//
// systemd reads all of these the same way (EnvironmentFile of systemd.exec(5)). A line that
// other readers of such files interpret differently is an error, because it would be
// another secret. No variable is expanded. An error names the line and shows nothing of it.
func ReadEnv(path string) (map[string]string, error) {
	text, err := Read(path)
	if err != nil {
		return nil, err
	}
	env, err := parseEnv(text)
	if err != nil {
		file, _ := Find(path)
		return nil, fmt.Errorf("read variables of %s: %w", file, err)
	}
	return env, nil
}

func parseEnv(text string) (map[string]string, error) {
	env := map[string]string{}
	rest := strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	for number := 1; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || line[0] == ';' {
			rest, number = after, number+1
			continue
		}
		name, value, left, err := parseVariable(rest)
		if err == nil {
			if _, twice := env[name]; twice {
				err = errors.New("sets a variable a second time: remove one of the lines")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d %w", number, err)
		}
		env[name] = value
		number += strings.Count(rest, "\n") - strings.Count(left, "\n")
		rest = left
	}
	return env, nil
}

// parseVariable parses the variable that text begins with, and returns what follows its
// last line.
func parseVariable(text string) (name, value, rest string, err error) {
	line, _, _ := strings.Cut(text, "\n")
	name, _, found := strings.Cut(line, "=")
	if name = strings.TrimLeft(name, " \t"); !found || !isVariable(name) {
		return "", "", "", errors.New(`is not NAME=VALUE; names have letters, digits and "_", and there is no "export"`)
	}
	value = strings.TrimLeft(text[strings.IndexByte(text, '=')+1:], " \t")
	switch {
	case strings.HasPrefix(value, "'"):
		var closed bool
		value, rest, closed = strings.Cut(value[1:], "'")
		if !closed {
			err = errNoEnd
		}
	case strings.HasPrefix(value, `"`):
		value, rest, err = unquote(value[1:])
	default:
		value, rest, _ = strings.Cut(value, "\n")
		value = strings.TrimRight(value, " \t")
		if strings.ContainsAny(value, "'\"\\`") || strings.Contains(value, " #") || strings.Contains(value, "\t#") {
			err = errors.New(`has a quote, a backslash or " #" in a value without quotes: put the value in single quotes`)
		}
		return name, value, rest, withoutNUL(value, err)
	}
	after, rest, _ := strings.Cut(rest, "\n")
	if err == nil && strings.TrimSpace(after) != "" {
		err = errors.New("has text after the closing quote: remove it")
	}
	return name, value, rest, withoutNUL(value, err)
}

// withoutNUL returns err, or an error where a value has a byte that no environment takes.
func withoutNUL(value string, err error) error {
	if err == nil && strings.ContainsRune(value, 0) {
		return errors.New("has a NUL byte: this is no text file")
	}
	return err
}

var errNoEnd = errors.New("opens a quote that nothing closes")

// unquote returns what stands before the closing double quote, and what follows it.
func unquote(text string) (value, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], nil
		case c != '\\':
			b.WriteByte(c)
		case i+1 < len(text) && strings.IndexByte("\"\\$`", text[i+1]) >= 0:
			i++
			b.WriteByte(text[i])
		default:
			return "", "", errors.New(`has a backslash in double quotes that escapes nothing: want \", \\, \$ or ` + "\\`, or single quotes")
		}
	}
	return "", "", errNoEnd
}

func isVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
