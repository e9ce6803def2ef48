package acceptances

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/suggest"
)

// A reader reads the fields of a map, and records all errors. The errors contain names of
// fields, and values only of fields that cannot be secret.
type reader struct {
	value model.Value
	wrong []string
}

func (r *reader) fail(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *reader) err() error {
	if len(r.wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(r.wrong, "; "))
}

// keys records an error for each field that is not one of these.
func (r *reader) keys(known ...string) {
	for _, f := range r.value.Fields() {
		if slices.Contains(known, f.Name) {
			continue
		}
		hint := "want one of " + strings.Join(known, ", ")
		if near, ok := suggest.Word(f.Name, known); ok {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		r.fail("unknown key %q: %s", f.Name, hint)
	}
}

// text reads a text; "" if the field is absent.
func (r *reader) text(name string) string {
	v, ok := r.value.Get(name)
	if ok && v.Kind() != model.String {
		r.fail("%s: want text (put it in quotes)", name)
	}
	return v.Str()
}

// short reads a text that is required, and no longer than in a decision that is made elsewhere.
func (r *reader) short(name string) string {
	text := strings.TrimSpace(r.required(name))
	if len(text) > decide.MaxText {
		r.fail("%s has %d bytes: want at most %d", name, len(text), decide.MaxText)
	}
	return text
}

// given reads a text that is required, and may be empty.
func (r *reader) given(name string) string {
	if _, ok := r.value.Get(name); !ok {
		r.fail("%s is missing", name)
	}
	return r.text(name)
}

// required reads a text that is required and must not be empty.
func (r *reader) required(name string) string {
	mistakes := len(r.wrong)
	text := r.given(name)
	if strings.TrimSpace(text) == "" && len(r.wrong) == mistakes {
		r.fail("%s is empty", name)
	}
	return text
}

// list reads a list; an absent field and null are an empty list.
func (r *reader) list(name string) []model.Value {
	v, _ := r.value.Get(name)
	if v.Kind() != model.List && !v.IsNull() {
		r.fail("%s: want a list", name)
	}
	return v.Items()
}

func (r *reader) verdict(name string) model.Verdict {
	verdict := model.Verdict(r.text(name))
	if verdict != "" && !slices.Contains(model.Verdicts(), verdict) {
		r.fail("unknown %s %q", name, verdict)
	}
	return verdict
}

func (r *reader) severity(name string) model.Severity {
	severity := model.Severity(r.text(name))
	if severity != "" && !slices.Contains(model.Severities(), severity) {
		r.fail("unknown %s %q", name, severity)
	}
	return severity
}

// end reads the end of an acceptance; zero means that it does not end.
func (r *reader) end(name string) time.Time {
	mistakes := len(r.wrong)
	text := r.required(name)
	if len(r.wrong) > mistakes {
		return time.Time{}
	}
	end, err := decide.ParseEnd(text)
	if err != nil {
		r.fail("%s %v", name, err)
	}
	return end
}

// changes reads the fields that a finding must have.
func (r *reader) changes(name string) []model.Change {
	var changes []model.Change
	for i, v := range r.list(name) {
		field := reader{value: v}
		if v.Kind() != model.Map {
			r.fail("%s[%d]: want a path, and the values of declared, recorded and live that must not change", name, i)
			continue
		}
		field.keys("path", "declared", "recorded", "live")
		c := model.Change{Path: field.required("path"), Declared: field.side("declared"), Recorded: field.side("recorded"), Live: field.side("live")}
		if slices.ContainsFunc(changes, func(d model.Change) bool { return d.Path == c.Path }) {
			field.fail("duplicate path %q", c.Path)
		}
		if err := field.err(); err != nil {
			r.fail("%s[%d]: %v", name, i, err)
		}
		changes = append(changes, c)
	}
	return changes
}

// side reads a value of any type, including null; nil if the field is absent.
func (r *reader) side(name string) *model.Value {
	v, ok := r.value.Get(name)
	if !ok {
		return nil
	}
	return &v
}
