package audit

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// named returns a log with an entry of alice for bob, and one without a person.
func named(t testing.TB, key Key) *Log {
	t.Helper()
	l := New(memory{}, key.Public())
	alice, err := l.Ref("alice")
	if err != nil {
		t.Fatal(err)
	}
	bob, err := l.Ref("bob \"b\"\n")
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]string{"by": alice, "owner": bob, "text": "person:x"}
	if _, err := l.Append([]Key{key}, Entry{Kind: KindDecision, Data: data}, noted(1)); err != nil {
		t.Fatal(err)
	}
	return l
}

func disclosed(t *testing.T, l *Log, index int64) (text []byte, erased []string) {
	t.Helper()
	proof, err := l.Prove(index)
	if err != nil {
		t.Fatal(err)
	}
	names, erased, err := l.Disclose(index)
	if err != nil {
		t.Fatal(err)
	}
	return append(proof, names...), erased
}

// The names of an entry can be shown to others with its proof. Names that were erased cannot.
func TestDisclose(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	l := named(t, key)
	text, erased := disclosed(t, l, 0)
	e, _, people, err := CheckDisclosed(text, key.Public())
	if err != nil || e.Index != 0 || len(erased) != 0 {
		t.Fatal(err, erased)
	}
	for i := range people {
		people[i].Reference = ""
	}
	if diff := cmp.Diff([]Person{{Field: "by", Name: "alice"}, {Field: "owner", Name: "bob \"b\"\n"}}, people); diff != "" {
		t.Error(diff)
	}
	if _, _, err := Check(text, key.Public()); err == nil {
		t.Error("a proof with names is one in the form of c2sp.org/tlog-proof")
	}
	proof, none := disclosed(t, l, 1)
	if _, _, people, err := CheckDisclosed(proof, key.Public()); err != nil || len(people) != 0 || len(none) != 0 {
		t.Errorf("an entry of nobody: %v, %v", people, err)
	}

	reference, err := l.Erase("alice")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append([]Key{key}, Entry{Kind: KindErase, Time: time.Unix(1_900_000_000, 0), Data: Erase{Person: reference}}); err != nil {
		t.Fatal(err)
	}
	after, erased := disclosed(t, l, 0)
	_, _, people, err = CheckDisclosed(after, key.Public())
	if err != nil || len(people) != 1 || people[0].Field != "owner" || len(erased) != 1 || bytes.Contains(after, []byte("alice")) {
		t.Errorf("after the name was erased: %v, %q, %v", people, erased, err)
	}
	if _, _, people, err := CheckDisclosed(text, key.Public()); err != nil || len(people) != 2 {
		t.Errorf("the proof of before: %v, %v", people, err)
	}
}

func TestForgedNames(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	l := named(t, key)
	text, _ := disclosed(t, l, 0)
	other := named(t, key)
	names, _, err := other.Disclose(0)
	if err != nil {
		t.Fatal(err)
	}
	proof, _, _ := strings.Cut(string(text), "\n"+namesLine)
	for name, test := range map[string]struct{ text, want string }{
		"another name":          {strings.Replace(string(text), `"alice"`, `"mallory"`, 1), "are not those that it was made of"},
		"a name of another log": {proof + string(names), "they are not those of the entry"},
		"no name":               {proof + "\n" + namesLine, "they are not as"},
		"cut":                   {strings.TrimSuffix(string(text), "\n"), "they are not as"},
		"two parts":             {proof + "\n" + namesLine + "person:x AAAA\n", "they are not as"},
		"no base64":             {proof + "\n" + namesLine + "person:x ! \"x\"\n", "they are not as"},
		"too long":              {proof + "\n" + namesLine + strings.Repeat("x", maxNames) + "\n", "they are not as"},
		"another entry":         {strings.Replace(string(text), "index 0", "index 1", 1), "not the one at position 1"},
	} {
		if _, _, _, err := CheckDisclosed([]byte(test.text), key.Public()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	long, err := l.Ref(strings.Repeat("x", maxNames))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append([]Key{key}, Entry{Kind: KindDecision, Data: map[string]string{"by": long}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Disclose(2); err == nil || !strings.Contains(err.Error(), "the limit is") {
		t.Errorf("a name that is too long: %v", err)
	}
}
