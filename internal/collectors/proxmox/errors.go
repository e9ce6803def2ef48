package proxmox

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/printable"
)

// Status codes of pveproxy.
const (
	statusNodeDown  = 595
	statusNodeHangs = 596
)

// messageHas reports whether err is a status whose message contains text.
func messageHas(err error, text string) bool {
	status := httpclient.StatusOf(err)
	return status != nil && strings.Contains(status.Message, text)
}

// isUnsupported reports whether this version of Proxmox VE does not support the request: 501
// for an unknown path, or the message about HA groups that were migrated to rules.
func isUnsupported(err error) bool {
	return httpclient.Code(err) == http.StatusNotImplemented || messageHas(err, "migrated to rules")
}

// isGuestMissing reports whether the guest is not on the requested node.
func isGuestMissing(err error) bool {
	return httpclient.Code(err) == http.StatusInternalServerError && messageHas(err, "does not exist")
}

// isNodeUnreachable reports whether a node did not answer at all.
func isNodeUnreachable(err error) bool {
	code := httpclient.Code(err)
	return code == statusNodeDown || code == statusNodeHangs || errors.As(err, new(*httpclient.Timeout))
}

// clip shortens a text to limit characters.
func clip(s string, limit int) string {
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}

// explain adds the next step to an error of the server as a whole.
func (c Config) explain(err error) error {
	return c.Access().Explain(err, "grant the account PVEAuditor on /, see docs/proxmox.md")
}

// reason returns the reason why an object was not read, with the next step. Equal causes have equal
// texts, so that reports can group them.
func (c Config) reason(err error) string {
	var large *httpclient.TooLarge
	switch code := httpclient.Code(err); {
	case code == http.StatusForbidden:
		return c.forbidden(err)
	case code == http.StatusUnauthorized:
		return c.account() + " was refused during the scan: check its expiry"
	case code == http.StatusTooManyRequests:
		return fmt.Sprintf("%v: set rate lower", err)
	case errors.As(err, &large):
		return fmt.Sprintf("%v: raise max_body", err)
	case collectors.Ended(err) != "":
		return collectors.Ended(err)
	}
	return printable.Text(err.Error())
}

// forbidden returns the missing privilege, which the message of Proxmox VE contains:
// "Permission check failed (/vms/101, VM.Audit)".
func (c Config) forbidden(err error) string {
	_, detail, _ := strings.Cut(err.Error(), "(")
	detail, _, _ = strings.Cut(detail, ")")
	where, privilege, ok := strings.Cut(detail, ", ")
	if !ok || !strings.HasPrefix(where, "/") {
		return fmt.Sprintf("%s is not allowed to read it (%s): %s", c.account(), printable.Text(err.Error()), c.grant("/"))
	}
	return c.lacking(printable.Text(privilege), printable.Text(where))
}

// lacking returns a message about a missing privilege, with the command that grants it.
func (c Config) lacking(privilege, where string) string {
	return fmt.Sprintf("%s lacks %s on %s: %s", c.account(), privilege, where, c.grant(where))
}

// grant returns the command that lets the account read the objects below a path. A token with
// privilege separation only has privileges that its user has, too.
func (c Config) grant(where string) string {
	user, _, isToken := strings.Cut(c.account(), "!")
	accounts := "--users " + user
	if isToken {
		accounts += fmt.Sprintf(" --tokens '%s'", c.account())
	}
	return fmt.Sprintf("pveum acl modify %s %s --roles PVEAuditor", where, accounts)
}
