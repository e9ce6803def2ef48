package box

import (
	"bytes"
	"encoding/gob"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"
)

// A watchedFS notes what it is asked for.
type watchedFS struct {
	fs.FS
	asked []string
}

// Open implements fs.FS.
func (w *watchedFS) Open(name string) (fs.File, error) {
	w.asked = append(w.asked, name)
	return w.FS.Open(name)
}

// reply is a result as jobs return them: it has no map.
type reply struct {
	Objects []struct {
		JSON  []byte
		Files []string
	}
}

// FuzzExchange is a box that was taken over and writes anything to its parent: the parent
// gives it files of the tree only, and ends with a result or an error.
func FuzzExchange(f *testing.F) {
	said := func(messages ...message) []byte {
		var b bytes.Buffer
		encoder := gob.NewEncoder(&b)
		for _, w := range messages {
			if err := encoder.Encode(w); err != nil {
				f.Fatal(err)
			}
		}
		return b.Bytes()
	}
	var full reply
	full.Objects = append(full.Objects, struct {
		JSON  []byte
		Files []string
	}{[]byte("{}"), []string{"a/b.yaml"}})
	result, err := encode(full)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(said(message{File: "a/b.yaml", Content: true}, message{File: "a"}, message{Done: true, Result: result}))
	f.Add(said(message{File: "../../etc/passwd", Content: true}, message{File: "/etc/passwd", Content: true}, message{File: "a//b.yaml"}, message{Done: true, Error: "x"}))
	f.Add(said(message{Done: true, Result: result[:len(result)/2]}))
	f.Add([]byte{0xf8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 3
		files := &watchedFS{FS: fstest.MapFS{"a/b.yaml": {Data: []byte("kind")}, "a/c": {Data: []byte("abc")}}}
		var told bytes.Buffer
		b := &process{limits: Limits{File: limit}, bounded: &io.LimitedReader{R: bytes.NewReader(text)}, responses: gob.NewEncoder(&told)}
		b.messages = gob.NewDecoder(b.bounded)
		w, err := b.exchange(files, request{Job: "echo"})
		for _, name := range files.asked {
			if !fs.ValidPath(name) {
				t.Errorf("looked for %q", name)
			}
		}
		if err == nil && !w.Done {
			t.Errorf("got %+v, which is no end", w)
		}
		if err == nil && w.Error == "" {
			var r reply
			_ = decode(w.Result, &r)
		}
		checkResponses(t, &told, limit)
	})
}

// checkResponses reads what the parent has sent.
func checkResponses(t *testing.T, told io.Reader, limit int) {
	t.Helper()
	decoder := gob.NewDecoder(told)
	var o request
	if err := decoder.Decode(&o); err != nil {
		t.Fatal(err)
	}
	for {
		var a fileResponse
		if err := decoder.Decode(&a); err != nil {
			return
		}
		if len(a.Content) > limit {
			t.Errorf("gave a file of %d bytes", len(a.Content))
		}
	}
}
