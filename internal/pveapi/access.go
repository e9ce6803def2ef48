package pveapi

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
)

// Path is the path of the API, relative to the address of a node.
const Path = "/api2/json"

// An Access contains the settings for connecting to a cluster. Its errors refer to them by the
// names of the settings of a source.
type Access struct {
	// URL is the address of a node, such as https://pve.example.org:8006.
	URL string
	// CAFile is a file with the certificate authorities to trust instead of those of the system.
	// Fingerprint is the SHA-256 digest of the server's certificate, which replaces the check of
	// the authority. At most one of them is set.
	CAFile, Fingerprint string

	Account
}

// An Account is an API token (TokenID and TokenFile) or a user with a password (Username and
// PasswordFile).
type Account struct {
	// TokenID is the ID of an API token, user@realm!name.
	TokenID string `mapstructure:"token_id"`
	// TokenFile is the file with the token's secret.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// Username is a user, user@realm, who logs in without a token.
	Username string `mapstructure:"username"`
	// PasswordFile is the file with the user's password.
	PasswordFile string `mapstructure:"password_file" path:"true"`
}

// Complete returns a copy of the settings with a normalized address and fingerprint. It returns an
// error if a setting is missing or not valid.
func (a Access) Complete() (Access, error) {
	a.URL = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(a.URL, "/"), Path), "/")
	a.Fingerprint = strings.ToLower(strings.ReplaceAll(a.Fingerprint, ":", ""))
	return a, errors.Join(a.checkURL(), a.Account.Check(), a.checkTrust())
}

func (a Access) checkURL() error {
	if a.URL == "" {
		return errors.New("setting url is missing: set the address of a node, such as https://pve.example.org:8006")
	}
	u, err := url.Parse(a.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("setting url is not a URL: want one such as https://pve.example.org:8006")
	case u.User != nil:
		return errors.New("setting url must not hold credentials: use token_id and token_file")
	case u.Scheme == "http" && !httpclient.Loopback(u.Hostname()):
		return errors.New("setting url must begin with https://: an API token must not be sent unencrypted")
	}
	return nil
}

// Check returns an error if a setting of the account is missing or not valid, or if both kinds of
// account are set. It does not read the files.
func (a Account) Check() error {
	token, password := a.TokenID+a.TokenFile != "", a.Username+a.PasswordFile != ""
	switch {
	case token && password:
		return errors.New("settings token_id and username exclude each other: keep one, with its file")
	case !token && !password:
		return errors.New("setting token_id is missing: set it and token_file, or username and password_file; docs/proxmox.md describes how to create a token")
	case token && a.TokenFile == "":
		return errors.New("setting token_file is missing: set the file that holds the token's secret")
	case token && strings.Contains(a.TokenID, "="):
		return errors.New("setting token_id contains the secret: want user@realm!name, such as driftd@pve!ro, and the secret in token_file")
	case token && !isTokenID(a.TokenID):
		return fmt.Errorf("setting token_id is %q: want user@realm!name, such as driftd@pve!ro", a.TokenID)
	case password && a.PasswordFile == "":
		return errors.New("setting password_file is missing: set the file that holds the user's password")
	case password && !isUserID(a.Username):
		return fmt.Errorf("setting username is %q: want user@realm, such as driftd@pve", a.Username)
	}
	return nil
}

func isTokenID(id string) bool {
	user, name, ok := strings.Cut(id, "!")
	return ok && name != "" && !strings.ContainsAny(name, "!= ") && isUserID(user)
}

func isUserID(id string) bool {
	at := strings.LastIndex(id, "@")
	return at > 0 && at < len(id)-1 && !strings.ContainsAny(id, " !=:")
}

func (a Access) checkTrust() error {
	if a.Fingerprint == "" {
		return nil
	}
	if a.CAFile != "" {
		return errors.New("settings ca_file and fingerprint exclude each other: keep one")
	}
	if sum, err := hex.DecodeString(a.Fingerprint); err != nil || len(sum) != 32 {
		return errors.New("setting fingerprint is not a SHA-256 digest: copy it from the node's certificate (pvenode cert info), such as 82:8C:68:…")
	}
	return nil
}

// Name returns the name of the account as Proxmox VE writes it: TokenID, or else Username.
func (a Account) Name() string { return cmp.Or(a.TokenID, a.Username) }

// Explain returns err as an *httpclient.Error with the address of the server and the next step. It
// is for errors that concern the server as a whole. right is the next step if the account lacks a
// privilege.
func (a Access) Explain(err error, right string) error {
	hint := cmp.Or(a.statusHint(httpclient.Code(err), right), accessHint(err), "see journalctl -u pveproxy on the node")
	return &httpclient.Error{Server: a.URL, Err: err, Hint: hint}
}

func (a Access) statusHint(code int, right string) string {
	switch {
	case code == http.StatusUnauthorized:
		return fmt.Sprintf("%s is refused: check its secret and expiry (pveum user token list USER), and that the user is enabled", a.Name())
	case code == http.StatusForbidden:
		return right
	case code == http.StatusTooManyRequests:
		return "the server asks to slow down: set rate"
	case code >= 300 && code < 400:
		return "the address redirects: set the node's own address, with its port 8006"
	case code == http.StatusNotFound, code == http.StatusNotImplemented:
		return "not a Proxmox VE API: set the node's address, with its port 8006 and no path"
	case code >= 500:
		return "the node failed: see journalctl -u pveproxy -u pvedaemon there"
	}
	return ""
}

// accessHint returns the next step after an error other than a response of the API.
func accessHint(err error) string {
	var (
		other  *fingerprintError
		answer *httpclient.Unexpected
	)
	switch {
	case errors.As(err, &other):
		return "if the certificate was renewed, set fingerprint to the new one after you compared it on the node (pvenode cert info)"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "correct the path, and let driftd read the file"
	case errors.As(err, &answer):
		return "not a Proxmox VE API: set the node's address, with its port 8006 and no path"
	}
	words := httpclient.Words{Server: "pveproxy", Address: "url",
		Authority: "set ca_file to a copy of the cluster's /etc/pve/pve-root-ca.pem, or set fingerprint",
		Expired:   "renew the node's certificate (pvenode cert), or set this machine's clock",
		Host:      "use an address that the certificate names, or set fingerprint in the place of ca_file",
	}
	return words.Hint(err)
}
