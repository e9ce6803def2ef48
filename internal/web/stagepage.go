package web

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/driftd/driftd/internal/server"
)

// A stageView is the page on which visitors break something.
type stageView struct {
	frame
	Acts []Act
	Said []saidView
	More int
}

// A saidView is one message of the preview.
type saidView struct {
	Said
	Parts []partView
}

// A partView is one part of a message.
type partView struct {
	Part
	Bits []bit
}

// maxSaid bounds the messages that the preview shows.
const maxSaid = 30

func (s *site) stagePage(w http.ResponseWriter, r *http.Request) error {
	v := stageView{frame: s.frame(w, r, "Break something", "stage"), Acts: s.Stage.Acts()}
	said := s.Stage.Said()
	v.More = max(0, len(said)-maxSaid)
	for _, message := range said[:len(said)-v.More] {
		m := saidView{Said: message}
		for _, part := range message.Parts {
			p := partView{Part: part}
			if part.Kind == Header {
				p.Bits = []bit{{Text: unescape(emojis(part.Text))}}
			} else {
				p.Bits = readMarks(part.Text, s.Now())
			}
			m.Parts = append(m.Parts, p)
		}
		v.Said = append(v.Said, m)
	}
	return s.render(w, r, http.StatusOK, "stage", v)
}

// perform does one of the acts.
func (s *site) perform(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("act")
	if !slices.ContainsFunc(s.Stage.Acts(), func(a Act) bool { return a.ID == id }) {
		return &server.Error{Status: http.StatusNotFound, Message: "no such event", Hint: "choose one from the list"}
	}
	if err := s.Stage.Do(r.Context(), id); err != nil {
		return fmt.Errorf("do %s: %w", id, err)
	}
	s.News.Tell()
	after(w, r, "/stage", "done")
	return nil
}
