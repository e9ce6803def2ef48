package access

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzClaims checks that read returns an error or the printable value of the name claim.
func FuzzClaims(f *testing.F) {
	for _, seed := range [][2]string{
		{"preferred_username", `{"iss":"https://login.example.org","sub":"42","preferred_username":"alice","groups":["sre","staff"]}`},
		{"email", `{"sub":"42","email":"eve@example.org","email_verified":false,"groups":"sre"}`},
		{"email", `{"sub":"42","email":"eve@example.org","email_verified":"false"}`},
		{"email", `{"sub":"42","email":"eve@example.org","email_verified": "FALSE"}`},
		{"realm_access.name", `{"realm_access":{"name":"bob","roles":["a",""]},"groups":[1,null,{}]}`},
		{"a.b.c.d", `{"a":{"b":{"c":{"d":"x\u202ey"}}}}`},
		{"preferred_username", `{"preferred_username":null,"groups":null}`},
		{"sub", `{"sub":["a"],"groups":{"a":1}}`},
	} {
		f.Add(seed[0], "groups", seed[1])
	}
	f.Fuzz(func(t *testing.T, nameClaim, groupsClaim, text string) {
		var said claims
		if json.Unmarshal([]byte(text), &said) != nil {
			return
		}
		o := &openID{OpenIDClient: OpenIDClient{NameClaim: nameClaim, GroupsClaim: groupsClaim}}
		who, err := o.read(said)
		if err != nil {
			if strings.ContainsFunc(shown(err.Error()), notShown) {
				t.Errorf("the error is not printable: %q", err)
			}
			return
		}
		if !clean(who.name) {
			t.Errorf("the name is not printable: %q", who.name)
		}
		var own string
		if json.Unmarshal(said.find(nameClaim), &own) != nil || own != who.name {
			t.Errorf("the name %q differs from the claim %s", who.name, said.find(nameClaim))
		}
		if slices.Contains(who.groups, "") {
			t.Errorf("got a group without a name: %q", who.groups)
		}
		var verified any
		if json.Unmarshal(said["email_verified"], &verified) == nil && nameClaim == "email" && verified != nil && verified != true {
			if text, isText := verified.(string); !isText || !strings.EqualFold(text, "true") {
				t.Errorf("an email address that is not verified was accepted: %s", said["email_verified"])
			}
		}
	})
}
