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

// FuzzTalk is a box that was taken over and writes anything to its parent: the parent
// gives it files of the tree only, and ends the talk with a result or an error.
func FuzzTalk(f *testing.F) {
	said := func(words ...word) []byte {
		var b bytes.Buffer
		encoder := gob.NewEncoder(&b)
		for _, w := range words {
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
	f.Add(said(word{Ask: "a/b.yaml", Content: true}, word{Ask: "a"}, word{Done: true, Result: result}))
	f.Add(said(word{Ask: "../../etc/passwd", Content: true}, word{Ask: "/etc/passwd", Content: true}, word{Ask: "a//b.yaml"}, word{Done: true, Error: "x"}))
	f.Add(said(word{Done: true, Result: result[:len(result)/2]}))
	f.Add([]byte{0xf8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 3
		files := &watchedFS{FS: fstest.MapFS{"a/b.yaml": {Data: []byte("kind")}, "a/c": {Data: []byte("abc")}}}
		var told bytes.Buffer
		b := &process{limits: Limits{File: limit}, bounded: &io.LimitedReader{R: bytes.NewReader(text)}, orders: gob.NewEncoder(&told)}
		b.said = gob.NewDecoder(b.bounded)
		w, err := b.talk(files, order{Job: "echo"})
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
		checkAnswers(t, &told, limit)
	})
}

// checkAnswers reads what the parent has told.
func checkAnswers(t *testing.T, told io.Reader, limit int) {
	t.Helper()
	decoder := gob.NewDecoder(told)
	var o order
	if err := decoder.Decode(&o); err != nil {
		t.Fatal(err)
	}
	for {
		var a answer
		if err := decoder.Decode(&a); err != nil {
			return
		}
		if len(a.Content) > limit {
			t.Errorf("gave a file of %d bytes", len(a.Content))
		}
	}
}
