package phrase

import "github.com/driftd/driftd/internal/model"

// A Sheet is a field with all its sides in full.
type Sheet struct {
	Field
	// All are the declared, the recorded and the live side, and the running one
	// where it differs. There are none where there are Claims.
	All []Side
	// Record is the difference of the recorded and the live text, where Lines
	// compare another one.
	Record []DiffLine
}

// NewSheet returns the sheet of a change, as Finding.Public returns it, with its
// field.
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
