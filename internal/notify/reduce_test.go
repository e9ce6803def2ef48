package notify

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/driftd/driftd/internal/model"
)

// evil stands in every text of a message that comes from a live system.
const evil = "<script>alert(1)</script>"

func poisoned() model.Message {
	value := model.StringOf(evil)
	item := model.Item{News: model.Appeared, Why: evil, Fields: 1, Finding: model.Finding{ID: "f00d01", Verdict: model.Changed, Severity: model.High,
		Key: model.Key{Source: "prod", Kind: evil, ID: evil}, Name: evil, Actor: model.Actor{Name: evil}, Changes: []model.Change{{Path: evil, Live: &value}}}}
	return model.Message{Key: "1", Receiver: "a", Kind: model.NewMessage, Title: evil, Subject: evil, Severity: model.High, News: []model.Item{item},
		All: []model.Item{item}, OpenCount: 1, Notes: []string{evil}, URL: "https://driftd.example.org/",
		Action: &model.ActionNotice{ID: "ac0001", State: "proposed", Finding: "f00d01", Outcome: evil, Name: evil, Author: evil, Resource: item.Finding.Key,
			Changes: item.Finding.Changes, Fields: 1, Also: []model.Key{item.Finding.Key}, Others: 1, Requests: []string{evil}}}
}

// TestReduced checks that a text in a live system that makes a receiver refuse a message costs neither the message nor
// those after it, for each answer of the receiver.
func TestReduced(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]error{"stops": Permanent(errors.New("403 Forbidden")), "drops": Refused(errors.New("400 Bad Request"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, sent := &memoryOutbox{}, []model.Message{}
				f := &fake{answer: func(_ context.Context, _ int, p model.OutboxEntry) (string, error) {
					body, err := json.Marshal(p.Message)
					if err != nil || strings.Contains(string(body), "script") {
						return "", errors.Join(answer, err)
					}
					sent = append(sent, p.Message)
					return "", nil
				}}
				b.enqueue("a", "1", "2")
				b.queues["a"][0].Message = poisoned()
				d, _ := startDispatcher(t, options(b, notifiers(f)...))
				synctest.Wait()
				assertEqual(t, "delivered messages", f.delivered(), []string{"1", "2"})
				assertEqual(t, "error", status(t, d)[0].Error, "")
				short := sent[0]
				if short.URL == "" || short.OpenCount != 1 || short.News[0].Finding.ID != "f00d01" || short.News[0].Finding.Severity != model.High || short.Action.ID != "ac0001" {
					t.Errorf("the short message lacks what driftd itself knows: %+v", short)
				}
				if short.Action.Whole() {
					t.Error("an action can be approved from a message that does not show its changes")
				}
			})
		})
	}
}
