package audit

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// A proof is a text in the form of c2sp.org/tlog-proof; its extra data is the entry.
const (
	proofLine   = "c2sp.org/tlog-proof@v1\n"
	extraPrefix = "extra "
	indexPrefix = "index "
	// maxHashes is the number of hashes in a proof for the largest tree.
	maxHashes = 63
)

// MaxProof is the maximum size of a proof, in bytes.
const MaxProof = len(proofLine+extraPrefix+indexPrefix) + (maxEntry+2)/3*4 + len("\n9223372036854775807\n\n") + maxHashes*hashLine + maxHead

// hashLine is the size of a hash in base64 with the end of its line, in bytes.
const hashLine = (tlog.HashSize+2)/3*4 + 1

// Prove returns a proof that an entry is in the log, as a text that Check verifies without the log. It
// returns a *TamperedError if the head does not cover the entry.
func (l *Log) Prove(index int64) ([]byte, error) {
	h, err := l.current()
	if err != nil {
		return nil, err
	}
	entry, err := l.raw(index)
	if err != nil {
		return nil, err
	}
	switch l.state(&h, index, entry) {
	case StateEdited:
		return nil, tampered("entry %d was edited: what was signed is no longer there, and what is there was not signed", index)
	case StateUnproved:
		return nil, tampered("no signed head leads to entry %d: it was edited together with the hashes, or the key that signed it is another", index)
	}
	hashes, err := tlog.ProveRecord(h.Size, index, l)
	if err != nil {
		return nil, fmt.Errorf("prove entry %d: %w", index, err)
	}
	p := proof{index: index, entry: entry, hashes: hashes, head: h.Note}
	return p.encode(), nil
}

// Check verifies a proof with the public key of the log. It returns the entry, and the head of the log that
// contains it. It accepts a proof only in the format of Prove, so that there is exactly one proof for an
// entry and a head.
func Check(proof []byte, key PublicKey) (Entry, Head, error) {
	p, err := parseProof(proof)
	if err != nil {
		return Entry{}, Head{}, fmt.Errorf("read proof: %w", err)
	}
	h, err := ParseHead(p.head, key)
	if err != nil {
		return Entry{}, Head{}, err
	}
	if p.index >= h.Size {
		return Entry{}, Head{}, fmt.Errorf("the proof is of entry %d, and the head signs %d entries", p.index, h.Size)
	}
	if err := tlog.CheckRecord(p.hashes, h.Size, h.Root, p.index, tlog.RecordHash(p.entry)); err != nil {
		return Entry{}, Head{}, fmt.Errorf("the entry is not the one at position %d of the signed log", p.index)
	}
	e, err := parseEntry(p.index, p.entry)
	return e, h, err
}

type proof struct {
	index  int64
	entry  []byte
	hashes tlog.RecordProof
	head   []byte
}

func (p *proof) encode() []byte {
	var b bytes.Buffer
	b.WriteString(proofLine)
	b.WriteString(extraPrefix + base64.StdEncoding.EncodeToString(p.entry) + "\n")
	b.WriteString(indexPrefix + strconv.FormatInt(p.index, 10) + "\n")
	for _, hash := range p.hashes {
		b.WriteString(hash.String() + "\n")
	}
	b.WriteString("\n")
	b.Write(p.head)
	return b.Bytes()
}

func parseProof(text []byte) (proof, error) {
	bad := errors.New("it is no proof as `driftd audit prove` writes it")
	top, head, ok := bytes.Cut(text, []byte("\n\n"))
	rest, first := strings.CutPrefix(string(top)+"\n", proofLine)
	if !ok || !first {
		return proof{}, bad
	}
	line := strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
	if len(line) < 2 || len(line) > 2+maxHashes {
		return proof{}, bad
	}
	extra, isExtra := strings.CutPrefix(line[0], extraPrefix)
	number, isIndex := strings.CutPrefix(line[1], indexPrefix)
	entry, err := base64.StdEncoding.DecodeString(extra)
	index, err2 := strconv.ParseInt(number, 10, 64)
	if !isExtra || !isIndex || err != nil || err2 != nil || index < 0 {
		return proof{}, bad
	}
	p := proof{index: index, entry: entry, head: head}
	for _, l := range line[2:] {
		hash, err := tlog.ParseHash(l)
		if err != nil {
			return proof{}, bad
		}
		p.hashes = append(p.hashes, hash)
	}
	// Numbers and base64 have several forms, such as 2, +2 and 02.
	if !bytes.Equal(p.encode(), text) {
		return proof{}, bad
	}
	return p, nil
}
