package notify

// mergedInto maps the IDs of findings that were merged to the IDs of those that
// have their fields now.
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

// adopt puts an open finding that no thread of the receiver speaks of into the
// thread of one that was merged into it, in its place.
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

// rename makes what was told of one finding what was told of another.
func (t *thread) rename(from, to string) {
	t.Members[to] = t.Members[from]
	delete(t.Members, from)
	t.changed = true
}
