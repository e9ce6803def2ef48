package phrase

import "github.com/driftd/driftd/internal/model"

// A Sheet is a field with the complete values of all its sides.
type Sheet struct {
	Field
	// All are the declared, the recorded and the live value, and the running value if it differs. It is
	// empty if there are Claims.
	All []Side
	// Record is the difference between the recorded and the live text, if Lines compare another pair.
	Record []DiffLine
}

// NewSheet returns the sheet of a change, which must be as returned by Finding.Public, and of its field.
func NewSheet(verdict model.Verdict, shown *model.Change, f *Field) *Sheet {
	s := &Sheet{Field: *f}
	if len(f.Claims) > 0 {
		return s
	}
	texts := textsOf(shown.Names, shown.Declared, shown.Recorded, shown.Live, shown.Running)
	labels := []string{"declared", "recorded", "live", "running"}
	if shown.Running == nil {
		labels = labels[:3]
	}
	// A changed value differs from both sides, or from the one that is known.
	if oneSided := (shown.Declared == nil) != (shown.Recorded == nil); oneSided && verdict == model.Changed {
		for i := range texts[:2] {
			if texts[i] == absentText {
				texts[i] = unknownText
			}
		}
	}
	for i, label := range labels {
		s.All = append(s.All, newSide(label, texts[i]))
	}
	if len(f.Lines) > 0 && len(f.Others()) > 0 && IsText(shown.Recorded, shown.Live) {
		s.Record = Lines(shown.Recorded, shown.Live)
	}
	return s
}
