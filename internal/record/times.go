package record

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/lazyregexp"
)

// layouts are the formats of times in answers.
func layouts() []string {
	return []string{time.RFC3339Nano, "2006-01-02T15:04:05.000-0700", "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05.999999-07:00", http.TimeFormat, time.DateOnly}
}

// time returns a text that is a time, shifted, in the same format.
func (s *scrubber) time(text string) (string, bool) {
	if len(text) < len(time.DateOnly) || len(text) > 40 {
		return "", false
	}
	for _, layout := range layouts() {
		at, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		// Times that mean "never" are the same in every system, and would show the offset.
		if at.IsZero() || at.Unix() == 0 || at.Year() > 2100 {
			return text, true
		}
		if layout == time.RFC3339Nano {
			layout = likeRFC3339(text)
		}
		if at.Year() < 2000 || at.Truncate(time.Hour).Equal(at) {
			return s.chosen(text, at, layout), true
		}
		s.count(kindTime)
		return at.Add(s.shift).Format(layout), true
	}
	return "", false
}

// chosen returns the replacement of a time that a person has chosen, such as midnight: shifted by
// days of its own, because the common offset could be read from it.
func (s *scrubber) chosen(text string, at time.Time, layout string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.pseudonyms[text]; known.text != "" {
		return known.text
	}
	for n := 0; ; n++ {
		const days = 3650
		shown := at.Add(-day * time.Duration(30+s.stream(text, n).IntN(days))).Format(layout)
		if s.issued[shown] && n < maxTries {
			continue
		}
		s.pseudonyms[text], s.issued[shown] = pseudonym{shown, kindTime}, true
		s.counts[kindTime]++
		return shown
	}
}

// likeRFC3339 returns the layout with as many digits of a second as a text has.
func likeRFC3339(text string) string {
	const second = len("2006-01-02T15:04:05")
	fraction := regexp.MustCompile(`^\.[0-9]+`).FindString(text[second:])
	if fraction == "" {
		return time.RFC3339
	}
	zeros := []byte(fraction)
	for i := 1; i < len(zeros); i++ {
		zeros[i] = '0'
	}
	return "2006-01-02T15:04:05" + string(zeros) + "Z07:00"
}

// epoch returns a number of a key of times, shifted: seconds or milliseconds since 1970.
func (s *scrubber) epoch(key, text string) (string, bool) {
	if !timeKey().MatchString(key) {
		return "", false
	}
	at, err := strconv.ParseFloat(text, 64)
	shift := s.shift.Seconds()
	switch {
	case err != nil:
		return "", false
	case at >= 1e9 && at < 1e10:
	case at >= 1e12 && at < 1e13:
		shift *= 1000
	default:
		return "", false
	}
	s.count(kindTime)
	return strconv.FormatFloat(at+shift, 'f', -1, 64), true
}

// minNumber is the number of digits from which a number of the API may be one of an account, in
// which zeros at the beginning are lost, or of a telephone.
const minNumber = 9

// number returns a number of a JSON document: one of the API, or one of a user.
func (s *scrubber) number(key string, n json.Number, ofUser bool) json.Number {
	text := n.String()
	if at, ok := s.epoch(key, text); ok && !ofUser {
		return json.Number(at)
	}
	plain := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	// 1e9 is as large as one with ten digits.
	if !ofUser && len(plain) < minNumber && !strings.ContainsAny(text, "eE") {
		return n
	}
	if part := s.part(plain); part[0] != '0' {
		return json.Number(part)
	}
	return "0"
}

func (s *scrubber) count(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[kind]++
}

// timeKey fits the keys of times that are numbers.
var timeKey = lazyregexp.New(`(?:[Tt]ime|[Tt]imestamp|[Dd]ate|[a-z]At|[Cc]reated)$`)
