package workcopy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// Reduce removes from a private copy of a root all configuration that a CLI does not need to open the
// state. It keeps the names of the files, because they determine which files override others. It removes
// the dependency lock file and test files. Its errors contain the file name, but no values.
func Reduce(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == ".terraform.lock.hcl" || isTest(name):
			err = os.Remove(filepath.Join(dir, name))
		case e.IsDir() || !syntax.IsConfiguration(name):
		case !e.Type().IsRegular():
			// Copy keeps a link to a file that driftd must not read.
			err = fmt.Errorf("read %s: the link leads out of the root", name)
		default:
			err = reduceFile(filepath.Join(dir, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A selection holds the names of the blocks and attributes of a body to keep, and the selections
// for their content. nil keeps all of it.
type selection map[string]selection

// ofState returns the selection that a CLI needs to open a state. OpenTofu's backend and encryption
// blocks may use variables and locals.
func ofState() selection {
	return selection{"variable": nil, "locals": nil,
		"terraform": {"backend": nil, "cloud": nil, "encryption": nil, "required_version": nil}}
}

func reduceFile(path string) error {
	name := filepath.Base(path)
	text, err := folder.ReadBounded(path, maxFile)
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	file, err := syntax.Parse(name, text)
	if err != nil {
		return err
	}
	if body, isNative := file.Body.(*hclsyntax.Body); isNative {
		var b bytes.Buffer
		ofState().native(&b, body, text)
		text = b.Bytes()
	} else if text, err = ofState().json(text); err != nil {
		return fmt.Errorf("read %s: a block has the wrong form or a repeated name", name)
	}
	return os.WriteFile(path, text, 0o600)
}

// native writes the selected parts of a body in native syntax. text is the text of its file.
func (s selection) native(b *bytes.Buffer, body *hclsyntax.Body, text []byte) {
	keep := func(r hcl.Range) { fmt.Fprintf(b, "%s\n", r.SliceBytes(text)) }
	for name, a := range body.Attributes {
		if _, kept := s[name]; kept {
			keep(a.SrcRange)
		}
	}
	for _, block := range body.Blocks {
		inner, kept := s[block.Type]
		switch {
		case kept && inner == nil:
			keep(block.Range())
		case kept:
			fmt.Fprintf(b, "%s {\n", block.Type)
			inner.native(b, block.Body, text)
			b.WriteString("}\n")
		}
	}
}

// json returns the selected parts of a body in JSON syntax. A list holds several bodies. A repeated
// name is an error, because HCL would read both values.
func (s selection) json(text jsontext.Value) (_ jsontext.Value, err error) {
	if s == nil {
		return text, nil
	}
	if text.Kind() == '[' {
		var bodies []jsontext.Value
		if err := json.Unmarshal(text, &bodies); err != nil {
			return nil, err
		}
		for i, body := range bodies {
			if bodies[i], err = s.json(body); err != nil {
				return nil, err
			}
		}
		return json.Marshal(bodies)
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	for name, value := range fields {
		inner, kept := s[name]
		if !kept {
			delete(fields, name)
		} else if fields[name], err = inner.json(value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(fields)
}
