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

// An identity is a user and their groups, as an OpenID provider reports them.
type identity struct {
	name   string
	groups []string
}

// claims are the claims about a user, by name.
type claims map[string]json.RawMessage

// identify exchanges the code in a redirect from the provider for the identity of the user.
func (o *openID) identify(r *http.Request, j oidcFlow) (identity, *Refused) {
	query := r.URL.Query()
	if code := query.Get("error"); code != "" {
		return identity{}, &Refused{Status: http.StatusForbidden, Message: "the OpenID provider refused the login: " + shown(code),
			Hint: "log in with another account, or ask the administrator of the provider"}
	}
	if issuer := query.Get("iss"); issuer != "" && issuer != o.Issuer {
		return identity{}, &Refused{Status: http.StatusForbidden, Message: "the response came from another OpenID provider", Hint: "start the login again"}
	}
	ctx := oidc.ClientContext(r.Context(), o.http)
	provider, err := o.ready(ctx)
	if err != nil {
		return identity{}, o.unavailable(err)
	}
	said, err := o.exchange(ctx, provider, query.Get("code"), j)
	if err != nil {
		return identity{}, &Refused{Status: http.StatusForbidden, Message: fmt.Sprintf("the login at %s failed: %v", o.Issuer, why(err)),
			Hint: "try again; if the error persists, check the client configuration at the provider"}
	}
	who, err := o.read(said)
	if err != nil {
		return identity{}, &Refused{Status: http.StatusForbidden, Message: err.Error(), Hint: "check server.access.oidc in the configuration"}
	}
	return who, nil
}

// exchange exchanges an authorization code for an ID token, verifies it and returns its
// claims. If the name or the groups are missing, it adds those of the userinfo endpoint.
func (o *openID) exchange(ctx context.Context, provider *oidc.Provider, code string, j oidcFlow) (claims, error) {
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
		return nil, errors.New("the response has no ID token")
	}
	verified, err := provider.VerifierContext(ctx, &oidc.Config{ClientID: o.ClientID, Now: o.now}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if j.Nonce == "" || verified.Nonce != j.Nonce {
		return nil, errors.New("the response belongs to another login")
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

// addInfo adds the claims of the userinfo endpoint that the ID token lacks.
func (c claims) addInfo(ctx context.Context, provider *oidc.Provider, subject string, token *oauth2.Token) error {
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return err
	}
	if info.Subject != subject {
		return errors.New("the userinfo belongs to another user")
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

// find returns the claim with a name, or nil. If there is none, the dots in the name separate
// the keys of nested objects, as in realm_access.roles.
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

// read returns the identity that the claims describe.
func (o *openID) read(said claims) (who identity, err error) {
	if json.Unmarshal(said.find(o.NameClaim), &who.name) != nil || !clean(who.name) {
		return who, fmt.Errorf("the OpenID provider sent no printable user name in the claim %q", o.NameClaim)
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
		who.groups = nil // no groups, or in an unsupported form
	}
	who.groups = slices.DeleteFunc(who.groups, func(group string) bool { return group == "" })
	return who, nil
}

// verifiesEmail reports whether the provider has verified the email address, or does not send
// the claim. Some providers send the boolean as text.
func (c claims) verifiesEmail() bool {
	var verified any
	if raw, has := c["email_verified"]; !has || json.Unmarshal(raw, &verified) == nil && verified == nil {
		return true
	}
	text, isText := verified.(string)
	return verified == true || isText && strings.EqualFold(text, "true")
}

// shown returns a text from another system without unprintable characters, truncated.
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
