package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// fightGuard is the name of the guard that ends a fight.
const fightGuard = "fight"

func fight(s *Situation) string {
	from, resumed := s.Now.Add(-fightWindow), resumedAt(s.Controls, s.Rule.Name)
	var won []*Action
	for i := range s.History {
		a := &s.History[i]
		if slices.Contains(a.resources(), s.Finding.Key) && a.State == Converged && a.Since().After(from) && a.last().after(resumed) && sharesField(a, s.Finding) {
			won = append(won, a)
		}
	}
	if len(won) < maxRounds {
		return ""
	}
	writers := []string{"driftd"}
	for _, a := range append(won, &Action{Drift: s.Finding.Actor}) {
		name := a.Drift.Name
		if a.Drift.IsPerson() {
			name = "a person"
		}
		if name != "" && !slices.Contains(writers, name) {
			writers = append(writers, name)
		}
	}
	return fmt.Sprintf("it came back after %d actions within %d days, %s last: %s overwrite each other: find out why, then run `driftd rules resume %s`",
		len(won), int(fightWindow.Hours()/24), won[len(won)-1].ID, strings.Join(writers, " and "), s.Rule.Name)
}

// refuses returns the refusal of an action that driftd would propose by itself; nil if no guard refuses it. A fight is
// stored as a refused action, so that people are notified of it.
func (r *Reconciler) refuses(f *model.Finding, standing *Standing) error {
	refusal := Check(r.situation(f, standing, ""))
	if refusal == nil {
		return nil
	}
	if refusal.Guard == fightGuard {
		if err := r.endFight(f); err != nil {
			r.Log.Error("store that a fight was ended", "finding", f.ID, "err", err)
		}
	}
	return refusal
}

// endFight stores the refusal of a finding that came back too often.
func (r *Reconciler) endFight(f *model.Finding) error {
	over := errors.New("it is over")
	_, err := r.Store.Propose(f.ID, func(standing *Standing, _ *model.Finding) (Action, error) {
		s := r.situation(f, standing, "")
		refusal := Check(s)
		if refusal == nil || refusal.Guard != fightGuard {
			return Action{}, over
		}
		a, err := r.newAction(s, Plan{}, Request{Via: "rule"})
		a.Guard = refusal.Guard
		a.Enter(Refused, s.Now, refusal.Why)
		return a, err
	})
	if errors.Is(err, over) {
		return nil
	}
	if err == nil {
		r.count(&Refusal{Guard: fightGuard})
	}
	return err
}

// fights returns the number of fights that a rule ended within fightWindow, and since a person resumed it.
func fights(rule string, history []Action, controls []Control, now time.Time) (n int) {
	resumed := resumedAt(controls, rule)
	for i := range history {
		if a := &history[i]; a.Rule == rule && a.Guard == fightGuard && a.Since().After(now.Add(-fightWindow)) && a.last().after(resumed) {
			n++
		}
	}
	return n
}
