package plan

import "testing"

func TestHide(t *testing.T) {
	t.Parallel()
	mask := newMask([]string{"hunter2"})
	for text, want := range map[string]string{
		"it is hunter2 again":              "it is (secret) again",
		`password: "abc", user: "x"`:       `password: "(secret)", user: "x"`,
		"(token=abc)":                      "(token=(secret))",
		"Authorization: Bearer abc":        "Authorization: Bearer (secret)",
		"the token abc1 is not valid":      "the token (secret) is not valid",
		"the token is abc1":                "the token is (secret)",
		"the password is 'abc'":            "the password is '(secret)'",
		"the token is not valid":           "the token is not valid",
		"postgres://shop:abc@db/shop":      "postgres://shop:(secret)@db/shop",
		"dial tcp 127.0.0.1:8006: refused": "dial tcp 127.0.0.1:8006: refused",
	} {
		once := mask.hide(text)
		if once != want {
			t.Errorf("%s: got %s, want %s", text, once, want)
		}
		if twice := mask.hide(once); twice != once {
			t.Errorf("%s: hidden twice it is %s", text, twice)
		}
	}
}
