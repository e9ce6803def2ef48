package openstackapi

import "testing"

func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://c:8774/v2.1":        "https://c:8774/v2.1/",
		"https://c:8774/v2.1/p1":     "https://c:8774/v2.1/p1/",
		"https://c/compute":          "https://c/compute/v2.1/",
		"https://c/compute/v2":       "https://c/compute/v2/",
		"https://c/compute/v2.1/?x":  "https://c/compute/v2.1/",
		"http://127.0.0.1:8774/v2.1": "http://127.0.0.1:8774/v2.1/",
	} {
		if at, ok := services()[0].address(text, "p1"); !ok || at.url != want || at.err != nil {
			t.Errorf("%s is %+v, want %s", text, at, want)
		}
	}
	cinder := services()[3]
	for text, want := range map[string]string{"https://c:8776": "https://c:8776/v3/p1/", "https://c:8776/v3": "https://c:8776/v3/p1/", "https://c:8776/v3/p2": "https://c:8776/v3/p2/"} {
		if at, ok := cinder.address(text, "p1"); !ok || at.url != want {
			t.Errorf("%s is %+v, want %s", text, at, want)
		}
	}
	if _, ok := cinder.address("https://c:8776/v2/p1", "p1"); ok {
		t.Error("Cinder's second version is taken for its third")
	}
	if at, _ := cinder.address("http://c:8776/v3", "p1"); at.err == nil {
		t.Error("a token may cross the network in the clear")
	}
}
