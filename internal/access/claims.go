package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Somebody is whom a provider names.
type somebody struct {
	name   string
	groups []string
}

// claims are what a provider says of somebody.
type claims map[string]json.RawMessage

// identify asks the provider who has come back from it.
func (o *openID) identify(r *http.Request, j journey) (somebody, *Refused) {
	query := r.URL.Query()
	if code := query.Get("error"); code != "" {
		return somebody{}, &Refused{Status: http.StatusForbidden, Message: "the OpenID provider refused the login: " + shown(code),
			Hint: "log in there with another account, or ask whoever keeps the provider"}
	}
	if issuer := query.Get("iss"); issuer != "" && issuer != o.Issuer {
		return somebody{}, &Refused{Status: http.StatusForbidden, Message: "another OpenID provider has answered", Hint: "begin the login again"}
	}
	ctx := oidc.ClientContext(r.Context(), o.http)
	provider, err := o.ready(ctx)
	if err != nil {
		return somebody{}, o.unavailable(err)
	}
	said, err := o.exchange(ctx, provider, query.Get("code"), j)
	if err != nil {
		return somebody{}, &Refused{Status: http.StatusForbidden, Message: fmt.Sprintf("the login at %s did not succeed: %v", o.Issuer, why(err)),
			Hint: "begin it again; if it stays, check the client at the provider"}
	}
	who, err := o.read(said)
	if err != nil {
		return somebody{}, &Refused{Status: http.StatusForbidden, Message: err.Error(), Hint: "see server.access.oidc of the configuration"}
	}
	return who, nil
}

// exchange gets what the provider says of whoever it has sent with a code. Where
// the token lacks the name or the groups, it asks for more.
func (o *openID) exchange(ctx context.Context, provider *oidc.Provider, code string, j journey) (claims, error) {
	client, err := o.client(provider)
	if err != nil {
		return nil, err
	}
	token, err := client.Exchange(ctx, code, oauth2.VerifierOption(j.Verifier))
	if err != nil {
		return nil, err
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("its answer has no ID token")
	}
	verified, err := provider.VerifierContext(ctx, &oidc.Config{ClientID: o.ClientID, Now: o.now}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if j.Nonce == "" || verified.Nonce != j.Nonce {
		return nil, errors.New("its answer is to another login")
	}
	var said claims
	if err := verified.Claims(&said); err != nil {
		return nil, err
	}
	if said.find(o.NameClaim) != nil && said.find(o.GroupsClaim) != nil || provider.UserInfoEndpoint() == "" {
		return said, nil
	}
	return said, said.addInfo(ctx, provider, verified.Subject, token)
}

// addInfo adds the claims that the provider's userinfo has beside the token's.
func (c claims) addInfo(ctx context.Context, provider *oidc.Provider, subject string, token *oauth2.Token) error {
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return err
	}
	if info.Subject != subject {
		return errors.New("its userinfo is about somebody else")
	}
	var more claims
	if err := info.Claims(&more); err != nil {
		return err
	}
	for name, value := range more {
		if _, has := c[name]; !has {
			c[name] = value
		}
	}
	return nil
}

// find returns a claim; where there is none of that name, dots lead into
// objects, as in realm_access.roles.
func (c claims) find(name string) json.RawMessage {
	if value, ok := c[name]; ok {
		return value
	}
	first, rest, nested := strings.Cut(name, ".")
	var below claims
	if !nested || json.Unmarshal(c[first], &below) != nil {
		return nil
	}
	return below.find(rest)
}

// read returns who it is that the claims speak of.
func (o *openID) read(said claims) (who somebody, err error) {
	if json.Unmarshal(said.find(o.NameClaim), &who.name) != nil || !clean(who.name) {
		return who, fmt.Errorf("the OpenID provider says no name in the claim %q that can be shown", o.NameClaim)
	}
	if o.NameClaim == "email" && !said.verifiesEmail() {
		return who, errors.New("the OpenID provider has not verified the email address")
	}
	groups := said.find(o.GroupsClaim)
	var one string
	switch {
	case json.Unmarshal(groups, &one) == nil && one != "":
		who.groups = []string{one}
	case json.Unmarshal(groups, &who.groups) != nil:
		who.groups = nil // no groups, or none that a role could name
	}
	who.groups = slices.DeleteFunc(who.groups, func(group string) bool { return group == "" })
	return who, nil
}

// verifiesEmail reports whether the provider has verified the email address, or does not
// say. Some providers write the boolean as text.
func (c claims) verifiesEmail() bool {
	var verified any
	if raw, has := c["email_verified"]; !has || json.Unmarshal(raw, &verified) == nil && verified == nil {
		return true
	}
	text, isText := verified.(string)
	return verified == true || isText && strings.EqualFold(text, "true")
}

// shown makes a short text of another's fit for people.
func shown(text string) string {
	const most = 200
	text = strings.Map(func(r rune) rune {
		if notShown(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
