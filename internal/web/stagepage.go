package web

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/driftd/driftd/internal/server"
)

// A stageView is the data of the demo's page of acts.
type stageView struct {
	frame
	Acts     []Act
	Messages []messageView
	More     int
}

// A messageView is one message of the preview.
type messageView struct {
	Message
	Parts []partView
}

// A partView is one part of a message.
type partView struct {
	Part
	Bits []bit
}

// maxMessages bounds the number of messages in the preview.
const maxMessages = 30

func (s *site) stagePage(w http.ResponseWriter, r *http.Request) error {
	v := stageView{frame: s.frame(w, r, "Break something", "stage"), Acts: s.Stage.Acts()}
	messages := s.Stage.Messages()
	v.More = max(0, len(messages)-maxMessages)
	for _, message := range messages[:len(messages)-v.More] {
		m := messageView{Message: message}
		for _, part := range message.Parts {
			p := partView{Part: part}
			if part.Kind == Header {
				p.Bits = []bit{{Text: unescape(emojis(part.Text))}}
			} else {
				p.Bits = readMarks(part.Text, s.Now())
			}
			m.Parts = append(m.Parts, p)
		}
		v.Messages = append(v.Messages, m)
	}
	return s.render(w, r, http.StatusOK, "stage", v)
}

// perform performs an act.
func (s *site) perform(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("act")
	if !slices.ContainsFunc(s.Stage.Acts(), func(a Act) bool { return a.ID == id }) {
		return &server.Error{Status: http.StatusNotFound, Message: "no such event", Hint: "choose one from the list"}
	}
	if err := s.Stage.Do(r.Context(), id); err != nil {
		return fmt.Errorf("do %s: %w", id, err)
	}
	s.News.Notify()
	after(w, r, "/stage", "done")
	return nil
}
