package notify

// mergedInto returns a map from the ID of each merged finding to the ID of the finding
// that it was merged into.
func mergedInto(in Input) map[string]string {
	merged := map[string]string{}
	for i := range in.Recent {
		if f := &in.Recent[i]; f.MergedInto != "" {
			merged[f.ID] = f.MergedInto
		}
	}
	for i := range in.Findings {
		for _, id := range in.Findings[i].Merged {
			merged[id] = in.Findings[i].ID
		}
	}
	return merged
}

// inheritThreads puts each open finding without a thread into the thread of a finding
// that was merged into it, in place of the merged one.
func (pl *planner) inheritThreads() {
	for i := range pl.findings {
		f := &pl.findings[i]
		for n := len(f.Merged) - 1; n >= 0 && pl.member[f.ID] == nil; n-- {
			if t := pl.member[f.Merged[n]]; t != nil && !t.Members[f.Merged[n]].Ended() {
				t.rename(f.Merged[n], f.ID)
				delete(pl.member, f.Merged[n])
				pl.member[f.ID] = t
			}
		}
	}
}

// rename moves the last notice of finding from to finding to.
func (t *thread) rename(from, to string) {
	t.Members[to] = t.Members[from]
	delete(t.Members, from)
	t.changed = true
}
