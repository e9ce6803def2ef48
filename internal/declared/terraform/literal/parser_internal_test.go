package literal

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// TestParserIsBounded parses files of many commits. The parser keeps all results.
func TestParserIsBounded(t *testing.T) {
	t.Parallel()
	textOf := func(content string) text {
		return text{"infra/main.tf", []byte(content), sha256.Sum256([]byte(content))}
	}
	first, second := textOf("a = [1, 2]"), textOf("a = [1, 3]")
	p := NewParser()
	p.cost = maxParsed - syntax.Cost(first.name, first.content)
	for range 2 {
		if file, err := p.parse(first); file == nil || err != nil {
			t.Errorf("a file within the bound: %v", err)
		}
	}
	if _, err := p.parse(second); !errors.Is(err, errTooMuch) || !strings.Contains(err.Error(), "infra/main.tf") {
		t.Errorf("a file beyond the bound: %v", err)
	}
	if file, err := p.parse(first); file == nil || err != nil {
		t.Errorf("a cached file: %v", err)
	}
}

func TestFolderIsBounded(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	comment := []byte("#" + strings.Repeat("x", MaxFile-2))
	for _, name := range strings.Split("a b c d e f g h i", " ") {
		files["infra/"+name+".tf"] = &fstest.MapFile{Data: comment}
	}
	if _, err := NewRoot(files, "infra", Options{}, NewParser()).texts("infra"); !errors.Is(err, errTooMuch) {
		t.Errorf("got %v", err)
	}
}
