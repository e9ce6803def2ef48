// Package members finds the folders that match a pattern. Each of them is a declaration of its own.
package members

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A Pattern is a pattern of folders. The wildcards in an element of the path are those of path.Match, and
// an element "**" matches any number of folders. Folders whose names begin with a dot never match.
type Pattern struct {
	// Fixed is the path before the first element with a wildcard, or "." if the first element has one.
	Fixed    string
	elements []string
}

// Parse parses a pattern. It returns an error if text has no wildcard, has an element "..", or has
// malformed brackets, or if "**" is only a part of an element.
func Parse(text string) (Pattern, error) {
	elements := strings.Split(path.Clean(text), "/")
	at := slices.IndexFunc(elements, func(e string) bool { return strings.ContainsAny(e, "*?[") })
	if at < 0 {
		return Pattern{}, fmt.Errorf("%s is no pattern", text)
	}
	for _, e := range elements {
		if _, err := path.Match(e, ""); err != nil {
			return Pattern{}, fmt.Errorf("pattern %s: the brackets of %s do not close", text, e)
		}
		if strings.Contains(e, "**") && e != "**" {
			return Pattern{}, fmt.Errorf("pattern %s: ** stands for whole folders: write it alone between slashes", text)
		}
		if e == ".." {
			return Pattern{}, fmt.Errorf("pattern %s: it must not have the element ..: name the folder", text)
		}
	}
	fixed := strings.Join(elements[:at], "/")
	switch {
	case fixed == "" && strings.HasPrefix(text, "/"):
		fixed = "/"
	case fixed == "":
		fixed = "."
	}
	return Pattern{fixed, elements[at:]}, nil
}

// IsDeep reports whether the pattern has the element "**".
func (p Pattern) IsDeep() bool { return slices.Contains(p.elements, "**") }

// maxFound bounds the folders that Find returns, and maxVisited those that it reads.
const (
	maxFound   = 1000
	maxVisited = 100_000
)

// Find returns the folders that match the pattern and for which isMember reports true, sorted, as paths
// below fixed, the file system of the folder Pattern.Fixed. It returns an error if a folder cannot be read,
// or if too many folders match.
func (p Pattern) Find(fixed fs.FS, isMember func(fsys fs.FS, dir string) (bool, error)) ([]string, error) {
	s := search{fixed: fixed, isMember: isMember, found: map[string]bool{}}
	err := s.walk(".", p.elements)
	found := make([]string, 0, len(s.found))
	for dir := range s.found {
		found = append(found, dir)
	}
	slices.Sort(found)
	return found, err
}

type search struct {
	fixed    fs.FS
	isMember func(fs.FS, string) (bool, error)
	found    map[string]bool
	visited  int
}

// walk finds members in dir that match the elements.
func (s *search) walk(dir string, elements []string) error {
	if len(elements) == 0 {
		return s.add(dir)
	}
	if s.visited++; s.visited > maxVisited {
		return fmt.Errorf("the pattern matches in more than %d folders: narrow it", maxVisited)
	}
	if elements[0] == "**" {
		if err := s.walk(dir, elements[1:]); err != nil {
			return err
		}
	}
	entries, err := fs.ReadDir(s.fixed, dir)
	if errors.Is(err, fs.ErrNotExist) && dir == "." {
		return errors.New("the folder before the first wildcard does not exist")
	}
	if err != nil {
		return fmt.Errorf("read folder: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		rest := elements[1:]
		if elements[0] == "**" {
			rest = elements
		} else if matches, err := path.Match(elements[0], e.Name()); err != nil || !matches {
			continue
		}
		if err := s.walk(path.Join(dir, e.Name()), rest); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) add(dir string) error {
	if dir == "." || s.found[dir] {
		return nil
	}
	is, err := s.isMember(s.fixed, dir)
	if err != nil || !is {
		return err
	}
	if len(s.found) == maxFound {
		return errors.New("the pattern matches more than 1000 folders: narrow it")
	}
	s.found[dir] = true
	return nil
}
