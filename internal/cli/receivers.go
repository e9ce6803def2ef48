package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	allreceivers "github.com/driftd/driftd/internal/notify/all"
	"github.com/driftd/driftd/internal/trigger"
)

// openReceivers opens every receiver of a configuration, without network connections. It
// returns all errors joined.
func (c *command) openReceivers(cfg *config.Config, log *slog.Logger) ([]notify.Opened, error) {
	return openAll(cfg.Notify.Receivers, c.receiverOpener(cfg, log))
}

// receiverOpener returns a function that opens one receiver. Receivers of one type share a
// definition: those of one Slack app share its connection.
func (c *command) receiverOpener(cfg *config.Config, log *slog.Logger) func(config.Receiver) (notify.Opened, error) {
	definitions, people := allreceivers.Definitions(), newPeople(cfg)
	return func(r config.Receiver) (notify.Opened, error) {
		var types []string
		for _, d := range definitions {
			if types = append(types, d.Type); d.Type != r.Type {
				continue
			}
			sources, declarations := namesOfType(cfg, r.Type)
			receiver, err := d.Open(notify.Env{Name: r.Name, Version: c.build.Version, URL: cfg.Notify.URL, Now: time.Now,
				Sources: sources, Declarations: declarations,
				Person: func(user string) string { return people.Find(access.Identity{Kind: access.SlackMember, ID: user}) },
				Log:    log.With("receiver", r.Name)}, notify.Decoder(r.Decode))
			if err != nil {
				return notify.Opened{}, located(err, r.Settings, "receiver", r.Name)
			}
			if receiver.Mirror != nil && r.Digest+r.QuietHours.From != "" {
				return notify.Opened{}, fmt.Errorf("%s: receiver %s of type %s does not support quiet_hours and digest: "+
					"remove them, it always shows all open findings", r.Where(), r.Name, r.Type)
			}
			if receiver.Each && r.Digest != "" {
				return notify.Opened{}, fmt.Errorf("%s: receiver %s of type %s does not support digest: remove it, each entry is about one finding",
					r.Where(), r.Name, r.Type)
			}
			return notify.Opened{Name: r.Name, Type: r.Type, Receiver: receiver}, nil
		}
		return notify.Opened{}, r.UnknownType(r.Type, types)
	}
}

// namesOfType returns the names of the sources and the declarations of a type.
func namesOfType(cfg *config.Config, typ string) (sources, declarations []string) {
	for i := range cfg.Sources {
		if cfg.Sources[i].Type == typ {
			sources = append(sources, cfg.Sources[i].Name)
		}
	}
	for i := range cfg.Declarations {
		if cfg.Declarations[i].Type == typ {
			declarations = append(declarations, cfg.Declarations[i].Name)
		}
	}
	return sources, declarations
}

// newPolicy returns the notification policy of a configuration, nil without receivers, and
// the names of the mirrors. Mirrors show all open findings and get no messages.
func newPolicy(cfg *config.Config, opened []notify.Opened) (policy *notify.Policy, mirrors []string, err error) {
	if len(opened) == 0 {
		return nil, nil, nil
	}
	policy = &notify.Policy{Receivers: map[string]notify.Pacing{}, UncheckedAfter: cfg.Notify.UncheckedAfter,
		GroupWindow: cfg.Notify.GroupWindow, URL: cfg.Notify.URL, Routes: routes(cfg.Notify)}
	for i, o := range opened {
		r := &cfg.Notify.Receivers[i]
		if o.Mirror != nil {
			mirrors = append(mirrors, o.Name)
			continue
		}
		limits, err := pacing(r)
		if err != nil {
			return nil, nil, located(err, r.Settings, "receiver", r.Name)
		}
		limits.Each, limits.Concerns = o.Each, o.Concerns
		policy.Receivers[o.Name] = limits
	}
	return policy, mirrors, nil
}

// routes returns the routes of the configuration. Without any, it returns one that sends all
// findings to every receiver, except those of severity info.
func routes(n config.Notify) []notify.Route {
	if len(n.Routes) == 0 {
		route := notify.Route{GroupBy: []string{"cause"}, Repeat: config.DefaultRepeat,
			Selector: model.Selector{Severities: []model.Severity{model.Critical, model.High, model.Medium, model.Low}}}
		for _, r := range n.Receivers {
			route.Receivers = append(route.Receivers, r.Name)
		}
		return []notify.Route{route}
	}
	list := make([]notify.Route, 0, len(n.Routes))
	for _, r := range n.Routes {
		list = append(list, notify.Route{Selector: selector(r.Match), Receivers: r.Receivers, Continue: r.Continue, GroupBy: r.GroupBy, Repeat: *r.Repeat})
	}
	return list
}

func pacing(r *config.Receiver) (notify.Pacing, error) {
	p := notify.Pacing{Messages: r.Rate.Messages, Per: r.Rate.Per, Digest: -1}
	var errs [4]error
	p.Location, errs[0] = r.Location()
	if r.Digest != "" {
		p.Digest, errs[1] = config.TimeOfDay(r.Digest)
	}
	if q := &r.QuietHours; q.From != "" {
		p.Quiet = notify.QuietHours{Days: q.Weekdays(), Except: severities(q.Except)}
		p.Quiet.From, errs[2] = config.TimeOfDay(q.From)
		p.Quiet.To, errs[3] = config.TimeOfDay(q.To)
	}
	return p, errors.Join(errs[:]...)
}

func severities(names []string) []model.Severity {
	list := make([]model.Severity, 0, len(names))
	for _, n := range names {
		list = append(list, model.Severity(n))
	}
	return list
}

func selector(m config.Match) model.Selector {
	s := model.Selector{Sources: m.Source, Kinds: m.Kind, Resources: m.Resource, Namespaces: m.Namespace, Declarations: m.Declaration,
		Owners: m.Owner, Severities: severities(m.Severity), Labels: m.Label}
	for _, v := range m.Verdict {
		s.Verdicts = append(s.Verdicts, model.Verdict(v))
	}
	return s
}

func severityRules(rules []config.SeverityRule) []classify.SeverityRule {
	list := make([]classify.SeverityRule, 0, len(rules))
	for _, r := range rules {
		m := r.Match
		list = append(list, classify.SeverityRule{
			Selector: selector(config.Match{Source: m.Source, Kind: m.Kind, Namespace: m.Namespace, Verdict: m.Verdict, Label: m.Labels}),
			Paths:    m.Path, Actors: m.Actor, Checks: m.Check, OlderThan: m.OlderThan, Set: model.Severity(r.Set), Reason: r.Reason})
	}
	return list
}

func owners(rules []config.OwnerRule) []classify.OwnerRule {
	list := make([]classify.OwnerRule, 0, len(rules))
	for _, r := range rules {
		list = append(list, classify.OwnerRule{Selector: selector(r.Match), Owner: r.Owner})
	}
	return list
}

func triggers(list []config.Trigger) []trigger.Trigger {
	made := make([]trigger.Trigger, 0, len(list))
	for _, t := range list {
		made = append(made, trigger.Trigger{Name: t.Name, Type: t.Type, Sources: t.Sources, Declarations: t.Declarations,
			MinInterval: t.MinInterval, Secret: func() (string, error) { return credential.Read(t.SecretFile) }})
	}
	return made
}
