package diff

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestLiveRead checks that a claim is compared with what the engine of its declaration read, and not
// with what the source has, by the schema of the engine, and that the source's log has the actor.
func TestLiveRead(t *testing.T) {
	t.Parallel()
	value := func(size string) model.Value {
		return model.MapOf(model.Field{Name: "instance_type", Value: model.StringOf(size)}, model.Field{Name: "seen", Value: model.StringOf(size)})
	}
	schema := &model.Schema{Fields: map[string]*model.Schema{"seen": {Volatile: true}}}
	recorded := value("t3.small")
	alice := model.Actor{Name: "alice", At: time.Unix(60, 0), Via: model.AuditLog, Confidence: model.Exact}
	s := &model.Subject{Key: model.Key{Source: "prod", Kind: "aws/Instance", ID: "i-1"}, Kind: &model.Kind{Name: "aws/Instance"},
		Live:        &model.Resource{Value: model.MapOf(model.Field{Name: "tags", Value: model.MapOf()})},
		AuditEvents: []model.AuditEvent{{Action: model.Edited, Fields: []string{"instance_type"}, Actor: alice}}}
	claim := model.Claim{Declaration: "infra", Kind: "aws/Instance", ID: "i-1", Value: value("t3.small"), Recorded: &recorded, Complete: true,
		LiveRead: &model.LiveRead{Value: value("t3.large"), Schema: schema, At: time.Unix(120, 0)}}
	second := claim
	second.Declaration = "network"
	s.Claims = []*model.Claim{&claim, &second}
	outcomes := Compare(s, Options{})
	if len(outcomes) != 1 || outcomes[0].Verdict != model.Changed || len(outcomes[0].Changes) != 1 {
		t.Fatalf("outcomes %+v, want one change, reported once", outcomes)
	}
	if c := outcomes[0].Changes[0]; c.Path != "instance_type" || c.Live.Text() != "t3.large" || c.LivePath != "" || outcomes[0].Actor != alice {
		t.Errorf("change %+v by %+v", c, outcomes[0].Actor)
	}
	gone := claim
	gone.LiveRead = &model.LiveRead{Schema: schema, At: time.Unix(120, 0)}
	s.Claims = []*model.Claim{&gone}
	if outcomes = Compare(s, Options{}); len(outcomes) != 1 || outcomes[0].Verdict != model.Unchecked {
		t.Errorf("listed, and not found by the plan: %+v, want unchecked", outcomes)
	}
	exists := model.Claim{Declaration: "infra", Kind: "aws/Instance", ID: "i-1", Value: model.MapOf(), RecordOnly: true, Complete: true,
		LiveRead: &model.LiveRead{Value: model.MapOf()}}
	s.Claims = []*model.Claim{&exists}
	if outcomes = Compare(s, Options{}); len(outcomes) != 0 {
		t.Errorf("only the existence is compared: %+v", outcomes)
	}
}
