package kubernetes

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestStreamDocument(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		text   string
		items  []string
		kind   string
		fails  string
	}{
		"list":                     {reason: "item is called for each item", text: `{"kind":"PodList","items":[{"a":1},{"b":[2]}],"metadata":{}}`, items: []string{`{"a":1}`, `{"b":[2]}`}, kind: "PodList"},
		"empty list":               {reason: "a list may be empty", text: `{"items":[],"kind":"L"}`, kind: "L"},
		"object":                   {reason: "a single object keeps its fields", text: `{"kind":"Pod","data":{"items":[1]}}`, kind: "Pod"},
		"empty":                    {reason: "an empty stream ends with io.EOF", text: ` `, fails: "EOF"},
		"array":                    {reason: "the text is not an object", text: `[1]`, fails: "not a JSON object"},
		"html":                     {reason: "the text is a login page", text: `<html>`, fails: "invalid JSON at byte 0"},
		"truncated in items":       {reason: "the error is io.ErrUnexpectedEOF", text: `{"items":[{"a":1},{"b"`, items: []string{`{"a":1}`}, fails: "unexpected EOF"},
		"truncated between fields": {reason: "the error is io.ErrUnexpectedEOF", text: `{"kind":"PodList"`, fails: "unexpected EOF"},
		"duplicate field":          {reason: "the value is ambiguous", text: `{"kind":"A","kind":"B"}`, fails: `duplicate field "kind"`},
		"long object":              {reason: "an object is bounded", text: `{"items":[{"a":"` + strings.Repeat("x", 1<<20) + `"}]}`, fails: "an object is larger than 65536 bytes"},
		"long blanks":              {reason: "blanks are bounded", text: strings.Repeat(" ", 1<<20), fails: "larger than"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var items []string
			doc, err := newStream(strings.NewReader(tt.text), 64<<10).document(func(_ *document, raw jsontext.Value) {
				items = append(items, string(raw))
			})
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("%s: document() = %v, want %q", tt.reason, err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: document() = %v", tt.reason, err)
			}
			if diff := cmp.Diff(tt.items, items); diff != "" || doc.text("kind") != tt.kind {
				t.Errorf("%s: kind %q, items (-want +got):\n%s", tt.reason, doc.text("kind"), diff)
			}
		})
	}
}

func TestStreamBoundsEachObject(t *testing.T) {
	t.Parallel()
	item := `{"a":"` + strings.Repeat("x", 40<<10) + `"}`
	text := `{"items":[` + strings.Repeat(item+",", 20) + item + `]}`
	n := 0
	_, err := newStream(strings.NewReader(text), 64<<10).document(func(*document, jsontext.Value) {
		n++
	})
	if err != nil || n != 21 {
		t.Errorf("objects that are each within the bound: %d read, %v", n, err)
	}
}

func TestReadEvent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		line   string
		typ    string
		fails  bool
	}{
		"event":        {reason: "the event is decoded", line: `{"type":"ADDED","object":{"a":1}}`, typ: "ADDED"},
		"other order":  {reason: "the order of fields does not matter", line: `{"object":{},"type":"DELETED"}`, typ: "DELETED"},
		"bad object":   {reason: "a malformed object is not an error of the event", line: `{"type":"MODIFIED","object":{"a":1,"a":2}}`, typ: "MODIFIED"},
		"no object":    {reason: "an event must have an object", line: `{"type":"ADDED"}`, fails: true},
		"other answer": {reason: "the line is not an event", line: `"hello"`, fails: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := readEvent(jsontext.Value(tt.line))
			if e.Type != tt.typ || (err != nil) != tt.fails {
				t.Errorf("%s: readEvent() = %q, %v", tt.reason, e.Type, err)
			}
		})
	}
}

// FuzzStream checks that lists and watch events of any content are read within the bounds.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"x"},"items":[{"metadata":{"name":"a"}}]}`,
		`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"b"}}}`,
		`{"type":"ERROR","object":{"kind":"Status","code":410}}{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}`,
		`{"kind":"Pod","metadata":null,"items":null}`, `[[[[`, "{\"a\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	a := api{kind: "kubernetes/Pod", object: "Pod", version: "v1", resource: "pods", namespaced: true}
	r := &reader{config: Defaults(), source: "prod", sealer: testSealer(), now: time.Now}
	r.config.MaxObjectSize, r.config.MaxPageSize = 4<<10, 16<<10
	f.Fuzz(func(t *testing.T, data []byte) {
		var p page
		if err := r.readPage(strings.NewReader(string(data)), a, &p); errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error("an empty answer counts as a list")
		}
		for _, resource := range p.resources {
			if resource.Kind != a.kind || resource.ID == "" {
				t.Errorf("a list of pods holds %s", resource.Key)
			}
		}
		for s := newStream(strings.NewReader(string(data)), 4<<10); ; {
			raw, err := s.next()
			if err != nil {
				break
			}
			if e, err := readEvent(raw); err == nil {
				_ = labelOf(e.Object).String()
				_, _ = r.object(a, e.Object)
				_ = e.status()
			}
		}
	})
}
