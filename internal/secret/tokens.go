package secret

import "strings"

// A tokenForm is the published format of a token: a prefix followed by a number of characters
// of an alphabet.
type tokenForm struct {
	prefix string
	in     func(byte) bool
	// least and most are the limits of the number of characters after the prefix. most is 0 for
	// no limit.
	least, most int
}

func isWord(c byte) bool   { return isAlnum(c) || c == '_' || c == '-' }
func isHex(c byte) bool    { return isDigit(c) || c >= 'a' && c <= 'f' }
func isBase32(c byte) bool { return isUpper(c) || isDigit(c) }
func isDotted(c byte) bool { return isWord(c) || c == '.' }
func isBase64(c byte) bool {
	return isAlnum(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-'
}
func isAny64(c byte) bool   { return isBase64(c) || c == '.' || c == '~' }
func isSegment(c byte) bool { return isWord(c) || c == '/' }

// tokenForms are the formats that issuers publish so that scanners can find leaked tokens. Each
// line belongs to one issuer.
var tokenForms = []tokenForm{
	{"ghp_", isAlnum, 30, 0}, {"gho_", isAlnum, 30, 0}, {"ghu_", isAlnum, 30, 0}, {"ghs_", isAlnum, 30, 0}, {"ghr_", isAlnum, 30, 0}, {"github_pat_", isWord, 40, 0},
	{"glpat-", isDotted, 16, 0}, {"gldt-", isDotted, 16, 0}, {"glrt-", isDotted, 16, 0}, {"glptt-", isDotted, 16, 0}, {"glcbt-", isDotted, 16, 0}, {"glsoat-", isDotted, 16, 0}, {"glagent-", isDotted, 16, 0}, {"glft-", isDotted, 16, 0}, {"GR1348941", isWord, 18, 0},
	{"AKIA", isBase32, 16, 16}, {"ASIA", isBase32, 16, 16}, {"ABSK", isBase64, 100, 0},
	{"AIza", isWord, 35, 35}, {"ya29.", isDotted, 20, 0}, {"GOCSPX-", isWord, 20, 0},
	{"xoxb-", isWord, 10, 0}, {"xoxp-", isWord, 10, 0}, {"xoxa-", isWord, 10, 0}, {"xoxr-", isWord, 10, 0}, {"xoxs-", isWord, 10, 0}, {"xoxe-", isWord, 10, 0}, {"xoxe.", isDotted, 10, 0}, {"xapp-", isWord, 10, 0},
	{"hooks.slack.com/services/", isSegment, 20, 0}, {"hooks.slack.com/workflows/", isSegment, 20, 0}, {"discord.com/api/webhooks/", isSegment, 20, 0}, {"discordapp.com/api/webhooks/", isSegment, 20, 0}, {"webhook.office.com/", isSegment, 20, 0},
	{"sk_live_", isAlnum, 10, 0}, {"sk_test_", isAlnum, 10, 0}, {"rk_live_", isAlnum, 10, 0}, {"rk_test_", isAlnum, 10, 0}, {"whsec_", isBase64, 20, 0},
	{"npm_", isAlnum, 36, 36}, {"pypi-AgE", isWord, 50, 0}, {"rubygems_", isHex, 48, 48}, {"dckr_pat_", isWord, 20, 0}, {"dckr_oat_", isWord, 20, 0},
	{"hvs.", isWord, 20, 0}, {"hvb.", isWord, 20, 0}, {"hvr.", isWord, 20, 0}, {".atlasv1.", isBase64, 60, 0},
	{"dop_v1_", isHex, 64, 64}, {"doo_v1_", isHex, 64, 64}, {"dor_v1_", isHex, 64, 64},
	{"SG.", isDotted, 60, 0}, {"key-", isHex, 32, 32}, {"shpat_", isAlnum, 32, 0}, {"shpss_", isAlnum, 32, 0}, {"shpca_", isAlnum, 32, 0}, {"shppa_", isAlnum, 32, 0},
	{"glc_", isBase64, 32, 0}, {"glsa_", isWord, 32, 0}, {"eyJrIjoi", isBase64, 60, 0},
	{"sk-ant-", isWord, 60, 0}, {"sk-proj-", isWord, 40, 0}, {"hf_", isAlnum, 34, 0}, {"dapi", isHex, 32, 0}, {"NRAK-", isAlnum, 27, 27}, {"PMAK-", isWord, 50, 0},
	{"lin_api_", isAlnum, 40, 0}, {"ATATT3", isBase64, 100, 0}, {"ops_eyJ", isBase64, 100, 0}, {"pul-", isHex, 40, 40}, {"tskey-", isWord, 20, 0}, {"AGE-SECRET-KEY-1", isBase32, 58, 58}, {"sntrys_", isBase64, 60, 0}, {"sntryu_", isHex, 64, 64},
}

// tokens finds tokens of known forms and JSON web tokens.
func (s *scan) tokens() {
	for i := 0; i+3 < len(s.text); i++ {
		b := starts.buckets[gram(s.text[i], s.text[i+1], s.text[i+2])]
		if b == 0 {
			continue
		}
		if to := tokenAt(s.text, i, starts.tokens[b]); to > 0 {
			s.add(i, to)
			i = to - 1
		}
	}
}

// leastCut is the minimum number of characters after the prefix of a truncated token.
const leastCut = 4

// tokenAt returns the end of the token of one of some forms that begins at i, or 0.
func tokenAt(t string, i int, forms []*tokenForm) int {
	if i > 0 && isAlnum(t[i-1]) && t[i] != '.' {
		return 0
	}
	if to := jwtAt(t, i); to > 0 {
		return to
	}
	for _, f := range forms {
		if !strings.HasPrefix(t[i:], f.prefix) {
			continue
		}
		from := i + len(f.prefix)
		to := tail(t, from, f.in)
		if n := to - from; n >= f.least && (f.most == 0 || n <= f.most) || n >= leastCut && strings.HasPrefix(t[to:], cut) {
			return to
		}
	}
	return 0
}

// jwtAt returns the end of the JSON web token that begins at i, or 0. A token has a header and
// a payload in JSON, and a signature.
func jwtAt(t string, i int) int {
	if !strings.HasPrefix(t[i:], "eyJ") {
		return 0
	}
	first := tail(t, i, isWord)
	if first-i < 8 || first == len(t) || t[first] != '.' {
		return 0
	}
	second := tail(t, first+1, isWord)
	if second-first < 8 || second == len(t) || t[second] != '.' {
		return 0
	}
	return tail(t, second+1, isDotted)
}

// pem finds PEM private keys: everything between the BEGIN and END lines.
func (s *scan) pem() {
	const begin, end = "-----BEGIN ", "-----END "
	for at := 0; ; {
		i := strings.Index(s.text[at:], begin)
		if i < 0 {
			return
		}
		from := at + i + len(begin)
		width := strings.Index(s.text[from:min(len(s.text), from+80)], "-----")
		if width < 0 {
			at = from
			continue
		}
		label := s.text[from : from+width]
		at = from + width + len("-----")
		if !strings.Contains(label, "PRIVATE KEY") && !strings.Contains(label, "SECRET KEY") {
			continue
		}
		to := len(s.text)
		if k := strings.Index(s.text[at:], end); k >= 0 {
			to = at + k
		}
		s.add(at, to)
		at = to
	}
}

// authSchemes are prefixes of HTTP credentials (RFC 7235): "Bearer x".
var authSchemes = []string{"bearer ", "basic ", "digest ", "apikey ", "token token="}

// schemes finds credentials after the name of an authentication scheme. Because prose contains
// these words as well, a credential must contain a digit or be long.
func (s *scan) schemes() {
	for i := 0; i+7 < len(s.text); i++ {
		if c := s.text[i] | 0x20; c != 'b' && c != 'd' && c != 'a' && c != 't' || i > 0 && isAlnum(s.text[i-1]) {
			continue
		}
		for _, scheme := range authSchemes {
			if !hasFold(s.text[i:], scheme) {
				continue
			}
			from := i + len(scheme)
			to := tail(s.text, from, isAny64)
			if isCredential(s.text[from:to]) {
				s.add(from, to)
				i = to
			}
			break
		}
	}
}

func isCredential(t string) bool {
	return len(t) >= 6 && strings.ContainsAny(t, "0123456789=_") || len(t) >= 24
}
