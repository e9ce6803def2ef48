package pvelab

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
)

// ruleRoutes are the routes that write a list of firewall rules, whose rows are identified by
// their position.
func (l *Lab) ruleRoutes(list string) []route {
	return []route{
		// Rules are ordered by position, which pvetest does not store.
		on(http.MethodGet, list, func(r request) (data any, err error) {
			rules := []pvetest.Row{}
			err = l.editRules(list, r, func(kept []pvetest.Row) ([]pvetest.Row, error) {
				for _, rule := range kept {
					rules = append(rules, maps.Clone(rule))
				}
				return kept, nil
			})
			return rules, err
		}),
		on(http.MethodPost, list, func(r request) (any, error) {
			return nil, l.editRules(list, r, func(rules []pvetest.Row) ([]pvetest.Row, error) {
				place, err := strconv.Atoi(r.form.Get("pos"))
				if err != nil {
					place = 0
				}
				return slices.Insert(rules, min(place, len(rules)), row(r.form)), nil
			})
		}),
		on(http.MethodGet, list+"/{place}", func(r request) (rule any, err error) {
			return rule, l.onRule(list, r, func(rules []pvetest.Row, place int) []pvetest.Row {
				alone := maps.Clone(rules[place])
				alone["pos"], rule = strconv.Itoa(place), alone
				return rules
			})
		}),
		on(http.MethodPut, list+"/{place}", func(r request) (any, error) {
			return nil, l.onRule(list, r, func(rules []pvetest.Row, place int) []pvetest.Row {
				maps.Copy(rules[place], row(r.form, "moveto"))
				for _, field := range deleted(r.form) {
					delete(rules[place], field)
				}
				return move(rules, place, r.form.Get("moveto"))
			})
		}),
		on(http.MethodDelete, list+"/{place}", func(r request) (any, error) {
			return nil, l.onRule(list, r, func(rules []pvetest.Row, place int) []pvetest.Row {
				return slices.Delete(rules, place, place+1)
			})
		}),
	}
}

// onRule edits a list of rules at a position that must exist.
func (l *Lab) onRule(list string, r request, edit func([]pvetest.Row, int) []pvetest.Row) error {
	return l.editRules(list, r, func(rules []pvetest.Row) ([]pvetest.Row, error) {
		place, err := strconv.Atoi(r.path.Get("place"))
		if err != nil || place < 0 || place >= len(rules) {
			return nil, fmt.Errorf("no rule at position %s", r.path.Get("place"))
		}
		return edit(rules, place), nil
	})
}

// editRules edits a list of rules and numbers it again.
func (l *Lab) editRules(list string, r request, edit func([]pvetest.Row) ([]pvetest.Row, error)) (err error) {
	l.Edit(func(c *pvetest.Cluster) {
		var rules []pvetest.Row
		if rules, err = edit(c.Lists[at(list, r)]); err != nil {
			return
		}
		for place, rule := range rules {
			rule["pos"] = int64(place)
		}
		c.Lists[at(list, r)] = rules
	})
	return err
}

// move moves a rule before the one at a position; "" keeps its position.
func move(rules []pvetest.Row, from int, before string) []pvetest.Row {
	to, err := strconv.Atoi(before)
	if err != nil {
		return rules
	}
	rule := rules[from]
	if to > from {
		to--
	}
	return slices.Insert(slices.Delete(rules, from, from+1), min(to, len(rules)-1), rule)
}
