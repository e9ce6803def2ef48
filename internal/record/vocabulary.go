package record

import (
	"net/http"
	"regexp"
	"strings"
)

// A Vocabulary lists the words that a recording of one type of source contains unchanged. Lists of keys are separated by
// blanks. A key is the name of an XML element, of a JSON object's member, or of a parameter of
// a request, without numbers.
type Vocabulary struct {
	// Type is the type of the source.
	Type string
	// Words are the keys whose texts are words of the API or numbers, which no user chooses.
	// "a.b" is the key b inside of a.
	Words string
	// Lists are the keys of XML elements of a list: their texts are those of the element around.
	Lists string
	// Entry is the key of XML elements with a child "key" that the API chooses, and a "value", after
	// that of the element around and ".".
	Entry string
	// Open are the keys of JSON objects whose keys users choose.
	Open string
	// Documents are the keys of texts that are JSON documents, plain or in the encoding of URLs.
	Documents string
	// Checked fit the texts of keys that are kept because the API accepts only existing ones.
	Checked map[string]*regexp.Regexp
	// Closed are all keys of documents, and of answers that have the first of them.
	Closed string
	// Removed are the keys whose content is left out.
	Removed string
	// Messages are the keys of messages to people. Of these, only the first one of Phrases that they
	// contain is kept.
	Messages string
	Phrases  []string
	// Keep fits texts, and parts of texts, that are words of the API wherever they stand.
	Keep *regexp.Regexp
	// IDs fits parts of texts that are IDs. Its groups, at the beginning, are kept, and the rest
	// is replaced.
	IDs *regexp.Regexp
	// Compound returns a text that has a form of its own, with its names replaced by name; false for
	// other texts. Public are the words that it keeps, among them the services of actions.
	Compound func(text string, name func(string) string) (string, bool)
	Public   string
	// Headers fit the values of the headers of answers that are kept, by name.
	Headers map[string]*regexp.Regexp
	// Paths are templates of paths, with {} for a text.
	Paths []string
	// Request returns the request in the form in which all are recorded; false for one that is
	// not recorded.
	Request func(*http.Request) (Request, bool)
}

// A Request is a request as far as it determines the answer.
type Request struct {
	// Service and Region are where it is sent. They become part of the name of a file.
	Service, Region string
	Method          string
	// Path is the escaped path, Query the query, Operation the name of the operation outside of
	// the body; "" without one.
	Path, Query, Operation, Body string
	// Secrets are credentials in the request, which no file may contain.
	Secrets []string
}

// Key returns a text that distinguishes the request.
func (r *Request) Key() string {
	uri := r.Path
	if r.Query != "" {
		uri += "?" + r.Query
	}
	return strings.Join(strings.Fields(strings.Join([]string{r.Service, r.Region, r.Method, uri, r.Operation, r.Body}, " ")), " ")
}

// A set has the words of a list.
type set map[string]bool

func setOf(list string) set {
	all := set{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}
	return all
}
