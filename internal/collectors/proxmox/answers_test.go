package proxmox

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// sameAnswer is an api that returns the same data for every path.
type sameAnswer struct{ data model.Value }

func (a sameAnswer) Get(context.Context, string) (model.Value, error) { return a.data, nil }

func (a sameAnswer) GetOnce(context.Context, string, time.Duration) (model.Value, error) {
	return a.data, nil
}

// FuzzAnswers gives all decoders the same answer, which is wrong for most of them.
func FuzzAnswers(f *testing.F) {
	for _, answer := range []string{
		`null`, `[]`, `{}`, `[null]`, `[[]]`, `"x"`, `{"members":null}`, `{"/":{"VM.Audit":[]}}`,
		`[{"key":"net0","value":{"a":[1]},"pending":[],"delete":{}}]`,
		`[{"node":"a","vmid":7,"type":"qemu","id":"b","name":"c","key":"meta","value":"ctime=99999999999999999999",
		   "userid":"u@pve","tokens":[{"tokenid":"t"}],"groupid":"g","poolid":"p/q","vnet":"v","zone":"z","subnet":"s","iface":"i",
		   "realm":"r","storage":"s","rule":"r","group":"g","pos":"x","path":"/","ugid":"u@pve","roleid":"R","sid":"vm:1",
		   "upid":"UPID:a:1:1:69A00000:resize:7:u@pve:","status":"OK","msg":"update VM 7: -cores","time":1,"user":"u"}]`,
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		data, err := decode.JSON(answer)
		if err != nil {
			return
		}
		config := Defaults()
		config.TokenID, config.GuestAgent = "driftd@pve!ro", true
		sc := &scan{config: config, source: "pve", normalizer: normalize.New(model.NewSealer([]byte("k"))), taken: testNow(), api: sameAnswer{data}}
		sc.read(t.Context(), false)
		s := sc.snapshot("9")
		for i, r := range s.Resources {
			if r.ID == "" || !strings.HasPrefix(r.Kind, Type+"/") || s.Kinds[r.Kind] == nil {
				t.Errorf("resource %v", r.Key)
			}
			if i > 0 && s.Resources[i-1].Key.Compare(r.Key) >= 0 {
				t.Errorf("%v stands behind %v", r.Key, s.Resources[i-1].Key)
			}
		}
		for _, c := range s.Coverage {
			if !c.Complete && c.Reason == "" {
				t.Errorf("coverage %+v gives no reason", c)
			}
		}
	})
}
