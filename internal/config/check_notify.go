package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/trigger"
)

func (d *document) checkNotify(n *Notify, known known) {
	d.checkURL("notify.url", n.URL)
	d.notNegative("notify.unchecked_after", n.UncheckedAfter)
	d.notNegative("notify.group_window", n.GroupWindow)
	names := make([]string, 0, len(n.Receivers))
	for i := range n.Receivers {
		r, at := &n.Receivers[i], fmt.Sprintf("notify.receivers[%d]", i)
		d.checkEntry(entry{at, "receiver", "slack", r.Name, r.Type}, names)
		d.checkReceiver(at, r)
		names = append(names, r.Name)
	}
	var order sieve
	for i := range n.Routes {
		r, at := &n.Routes[i], fmt.Sprintf("notify.routes[%d]", i)
		order.pass(d, at, "route", r.Match.everything() && !r.Continue)
		d.checkMatch(at+".match", &r.Match, known)
		d.checkRoute(at, r, names)
	}
	d.checkRouted(n)
}

// checkRouted adds a problem for each receiver that no route names.
func (d *document) checkRouted(n *Notify) {
	if len(n.Routes) == 0 {
		return
	}
	for i := range n.Receivers {
		name := n.Receivers[i].Name
		if name != "" && !slices.ContainsFunc(n.Routes, func(r Route) bool { return slices.Contains(r.Receivers, name) }) {
			d.add(fmt.Sprintf("notify.receivers[%d]", i), "receiver %q gets no notifications: add it to a route or remove it", name)
		}
	}
}

// checkURL checks notify.url, which becomes part of messages.
func (d *document) checkURL(at, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		d.add(at, "url: want an address such as https://driftd.example.org, without a password and a query")
	}
}

func (d *document) checkReceiver(at string, r *Receiver) {
	if r.Rate.Messages < 0 {
		d.add(at+".rate.messages", "messages: want a number from 0, which means no limit")
	}
	if r.Rate.Per <= 0 {
		d.add(at+".rate.per", "per: want a duration above zero, such as 10m")
	}
	if _, err := r.Location(); err != nil {
		d.add(at+".timezone", "%v", err)
	}
	if r.Digest != "" {
		d.checkTimeOfDay(at+".digest", r.Digest)
	}
	d.checkQuietHours(at+".quiet_hours", &r.QuietHours)
}

func (d *document) checkTimeOfDay(at, text string) {
	if _, err := TimeOfDay(text); err != nil {
		d.add(at, "%v", err)
	}
}

func (d *document) checkQuietHours(at string, q *QuietHours) {
	if q.From == "" && q.To == "" && len(q.Days)+len(q.Except) == 0 {
		return
	}
	d.checkHours(at, "quiet_hours", q.From, q.To, q.Days)
	d.checkWords(at+".except", "severity", q.Except, words(model.Severities()))
}

// checkHours checks a part of the day that key has, and the days on which it begins.
func (d *document) checkHours(at, key, from, to string, days []string) {
	switch {
	case from == "" || to == "":
		d.add(at, `%s: add the times, as in from: "22:00" and to: "07:00"`, key)
	case from == to:
		d.add(at+".to", "%s from %s to %s: the times must differ: change one, or remove %s", strings.ReplaceAll(key, "_", " "), from, to, key)
	default:
		d.checkTimeOfDay(at+".from", from)
		d.checkTimeOfDay(at+".to", to)
	}
	d.checkWords(at+".days", "day", days, weekdays())
}

func (d *document) checkRoute(at string, r *Route, receivers []string) {
	if len(r.Receivers) == 0 {
		d.missing(at, "receivers", "a route without receivers: name them, as in receivers: [ops]")
	}
	d.checkNames(at+".receivers", "receiver", r.Receivers, receivers)
	d.checkWords(at+".group_by", "group_by", r.GroupBy, notify.Groupings())
	if r.Repeat != nil {
		d.notNegative(at+".repeat", *r.Repeat)
	}
}

// checkNames checks a list of names that are defined elsewhere in the file.
func (d *document) checkNames(at, what string, list, valid []string) {
	if !d.unsure[what] {
		d.checkWords(at, what, list, valid)
	}
	for i, name := range list {
		if slices.Index(list, name) < i {
			d.add(fmt.Sprintf("%s[%d]", at, i), "%s %q twice: name it once", what, name)
		}
	}
}

func (d *document) checkTriggers(triggers []Trigger, sources, declarations []string) {
	names := make([]string, 0, len(triggers))
	for i := range triggers {
		t, at := &triggers[i], fmt.Sprintf("triggers[%d]", i)
		d.checkEntry(entry{at, "trigger", "github", t.Name, t.Type}, names)
		if types := trigger.Types(); t.Type != "" && !slices.Contains(types, t.Type) {
			d.add(at+".type", "unknown type %q: %s", t.Type, oneOf(t.Type, types))
		}
		if t.SecretFile == "" {
			d.missing(at, "secret_file", "a trigger without secret_file: name the file of its secret, unsigned requests are not accepted")
		}
		d.checkNames(at+".sources", "source", t.Sources, sources)
		d.checkNames(at+".declarations", "declaration", t.Declarations, declarations)
		d.notNegative(at+".min_interval", t.MinInterval)
		names = append(names, t.Name)
	}
}
