package pvetest

import (
	"crypto/sha1" //nolint:gosec // Proxmox VE uses it for its digests.
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/lazyregexp"
)

// listDigest returns the digest of a list or an object: that of nothing if it is empty.
func listDigest(rows ...Row) string {
	sum := sha1.New() //nolint:gosec // as above
	for _, row := range rows {
		if row = withoutDigest(row); len(row) > 0 {
			_, _ = fmt.Fprintln(sum, row) // its keys are in order
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func withoutDigest(row Row) Row {
	row = maps.Clone(row)
	delete(row, "digest")
	return row
}

// firewallPart returns the options of a firewall or one of its lists. Each has a digest of its own, which all rows have.
func (c *Cluster) firewallPart(at string) any {
	if strings.HasSuffix(at, "/options") {
		object := Row{}
		maps.Copy(object, c.Objects[at])
		object["digest"] = listDigest(object)
		return object
	}
	rows := []Row{}
	for i, row := range c.Lists[at] {
		row = withoutDigest(row)
		if isRules(at) {
			row["pos"] = int64(i)
		}
		rows = append(rows, row)
	}
	sum := listDigest(rows...)
	for _, row := range rows {
		row["digest"] = sum
	}
	return rows
}

// firewallRead answers a GET of a firewall, without the node of a guest.
func (c *Cluster) firewallRead(at string) (any, *apiError) {
	if row := c.firewallRow(at); row != nil {
		return row, nil
	}
	rows, _ := c.firewallPart(at).([]Row)
	if !isRules(at) {
		return c.firewallPart(at), nil
	}
	rules := ordered{}
	for _, row := range rows {
		rules = append(rules, row)
	}
	return rules, nil
}

// firewallRow returns the row at a path; nil if that is the path of a list or of options. The position of a rule is a
// text, other than in the list.
func (c *Cluster) firewallRow(at string) Row {
	match := firewallRow().FindStringSubmatch(at)
	if match == nil {
		return nil
	}
	rows, _ := c.firewallPart(match[1]).([]Row)
	i := c.firewallIndex(match[1], match[2])
	if i < 0 {
		return nil
	}
	if isRules(match[1]) {
		rows[i]["pos"] = match[2]
	}
	return rows[i]
}

func isRules(at string) bool {
	return strings.HasSuffix(at, "/rules") || strings.Contains(at, "/groups/")
}

// Paths of firewalls, without the node of a guest.
var (
	firewallRow    = lazyregexp.New(`^((?:/cluster|/(?:qemu|lxc)/\d+)/firewall/(?:rules|aliases|groups/[^/]+|ipset/[^/]+))/(.+)$`)
	firewallAdds   = lazyregexp.New(`^(?:/cluster|/(?:qemu|lxc)/\d+)/firewall/(?:rules|groups/[^/]+|ipset/[^/]+)$`)
	firewallObject = lazyregexp.New(`^(?:/cluster|/(?:qemu|lxc)/\d+)/firewall/options$`)
	guestNode      = lazyregexp.New(`^/nodes/[^/]+(/(?:qemu|lxc)/\d+/firewall/)`)
)

// changesFirewall reports whether a request changes the options of a firewall, or a row of a list that has a digest.
func changesFirewall(method, at string) bool {
	at = guestNode().ReplaceAllString(at, "$1")
	switch method {
	case http.MethodPost:
		return firewallAdds().MatchString(at)
	case http.MethodPut:
		return firewallObject().MatchString(at) || firewallRow().MatchString(at)
	case http.MethodDelete:
		return firewallRow().MatchString(at) && !strings.Contains(at, "/aliases/")
	}
	return false
}

// editFirewall answers a request that changes a firewall.
func (s *Server) editFirewall(r *http.Request, at string) (status int, answer Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at = guestNode().ReplaceAllString(at, "$1")
	c := s.cluster.as(accountOf(r))
	problem := c.firewallForbidden(at)
	switch {
	case problem != nil:
	case s.cluster.NoQuorum:
		problem = &apiError{http.StatusInternalServerError, "unable to open file '/etc/pve/firewall/cluster.fw.tmp.112' - Permission denied"}
	case r.Method == http.MethodPost:
		problem = s.cluster.addFirewallRow(at, r.Form)
	case firewallObject().MatchString(at):
		problem = s.cluster.setSingle(at, r.Form, true)
	default:
		match := firewallRow().FindStringSubmatch(at)
		problem = s.cluster.changeFirewallRow(r.Method, match[1], match[2], r.Form)
	}
	if problem != nil {
		return problem.code, Row{"data": nil, "message": problem.message + "\n"}
	}
	if hook := s.cluster.AfterFirewall; hook != nil {
		hook(&s.cluster, at)
	}
	return http.StatusOK, Row{"data": nil}
}

// firewallForbidden returns the error of an account that may not change a firewall; nil if it may.
func (c *Cluster) firewallForbidden(at string) *apiError {
	privilege, owner := "Sys.Modify", "/"
	if parts := strings.Split(at, "/"); parts[1] != "cluster" {
		privilege, owner = "VM.Config.Network", "/vms/"+parts[2]
	}
	if c.Accounts == nil || c.holds(privilege, owner) {
		return nil
	}
	return forbidden("(" + owner + ", " + privilege + ")")
}

// modified returns the error of a request with another digest; nil for one with the right one, or none.
func modified(form url.Values, digest string) *apiError {
	if form.Has("digest") && form.Get("digest") != digest {
		return &apiError{http.StatusInternalServerError, "detected modified configuration - file changed by other user? Try again."}
	}
	return nil
}

// addFirewallRow adds a row. It does not look at the digest. A rule comes first, also with another position in the form.
func (c *Cluster) addFirewallRow(at string, form url.Values) *apiError {
	row := Row{}
	setRow(row, form)
	if isRules(at) {
		delete(row, "pos")
		if row["type"] == nil || row["action"] == nil {
			return &apiError{http.StatusBadRequest, "Parameter verification failed."}
		}
		c.Lists[at] = slices.Insert(slices.Clone(c.Lists[at]), 0, row)
		return nil
	}
	if c.firewallIndex(at, fmt.Sprint(row["cidr"])) >= 0 {
		return &apiError{http.StatusBadRequest, fmt.Sprintf("Parameter verification failed. cidr: address '%v' already exists", row["cidr"])}
	}
	c.Lists[at] = append(slices.Clone(c.Lists[at]), row)
	return nil
}

// setRow sets the keys of a form, and deletes some.
func setRow(row Row, form url.Values) {
	for _, key := range editedKeys(form) {
		if delete(row, key); form.Has(key) {
			row[key] = typed("", key, form.Get(key))
		}
	}
}

// firewallIndex returns the place of a row with a name: the position of a rule; -1 if there is none.
func (c *Cluster) firewallIndex(at, name string) int {
	if isRules(at) {
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(c.Lists[at]) {
			return -1
		}
		return i
	}
	return slices.IndexFunc(c.Lists[at], func(row Row) bool { return fmt.Sprint(row["cidr"]) == name || fmt.Sprint(row["name"]) == name })
}

// changeFirewallRow changes or removes a row. A rule keeps the keys that the form does not have; an alias or an entry of an
// IP set does not. A rule that moves does nothing else.
func (c *Cluster) changeFirewallRow(method, at, name string, form url.Values) *apiError {
	rows, _ := c.firewallPart(at).([]Row)
	i := c.firewallIndex(at, name)
	if i < 0 {
		return &apiError{http.StatusBadRequest, fmt.Sprintf("Parameter verification failed. %s: no such entry", name)}
	}
	if problem := modified(form, listDigest(rows...)); problem != nil {
		return problem
	}
	rows = slices.Clone(c.Lists[at])
	switch to, err := strconv.Atoi(form.Get("moveto")); {
	case method == http.MethodDelete:
		rows = slices.Delete(rows, i, i+1)
	case isRules(at) && err == nil:
		rows = slices.Insert(rows, min(to, len(rows)), rows[i])
		if to <= i {
			i++
		}
		rows = slices.Delete(rows, i, i+1)
	case isRules(at):
		rows[i] = maps.Clone(rows[i])
		setRow(rows[i], form)
	default:
		row := Row{}
		for _, key := range []string{"name", "cidr", "ipversion"} {
			if rows[i][key] != nil {
				row[key] = rows[i][key]
			}
		}
		if strings.HasSuffix(at, "/aliases") && !form.Has("cidr") {
			return &apiError{http.StatusBadRequest, "Parameter verification failed."}
		}
		setRow(row, form)
		rows[i] = row
	}
	c.Lists[at] = rows
	return nil
}
