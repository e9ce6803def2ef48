package notify

// mergedInto maps the IDs of merged findings to the IDs of the findings that they were
// merged into.
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

// adopt adds an open finding without a thread to the thread of a finding that was merged
// into it, and replaces the merged one there.
func (pl *planner) adopt() {
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

// rename moves the last notice of one finding to another.
func (t *thread) rename(from, to string) {
	t.Members[to] = t.Members[from]
	delete(t.Members, from)
	t.changed = true
}
