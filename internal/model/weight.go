package model

// The memory of values and records without their texts, in bytes.
const (
	valueWeight  = 32
	nodeWeight   = 48
	fieldWeight  = 16
	recordWeight = 1 << 10
	stepWeight   = 64
	schemaWeight = 256
	entryWeight  = 64
)

// Weight returns the approximate memory use of the value in bytes.
func (v Value) Weight() int64 {
	total := int64(valueWeight + len(v.text))
	if v.node == nil {
		return total
	}
	total += nodeWeight
	for _, item := range v.node.items {
		total += item.Weight()
	}
	for _, f := range v.node.fields {
		total += fieldWeight + int64(len(f.Name)) + f.Value.Weight()
	}
	return total
}

// Weight returns the approximate memory use of the resource in bytes.
func (r *Resource) Weight() int64 {
	total := recordWeight + r.Value.Weight() + r.Record.Weight()
	if r.LastApplied != nil {
		total += r.LastApplied.Weight()
	}
	for i := range r.Owners {
		total += r.Owners[i].Fields.weight()
	}
	return total
}

func (f *FieldSet) weight() int64 {
	var total int64
	for i := range f.steps {
		total += stepWeight + int64(len(f.steps[i].Text)) + f.steps[i].below.weight()
	}
	return total
}

// Weight returns the approximate memory use of the claim in bytes.
func (c *Claim) Weight() int64 {
	total := recordWeight + c.Value.Weight()
	for _, v := range []*Value{c.Recorded, c.Written} {
		if v != nil {
			total += v.Weight()
		}
	}
	for i := range c.Otherwise {
		total += c.Otherwise[i].Weight()
	}
	if c.LiveRead != nil {
		total += c.LiveRead.Value.Weight()
	}
	return total
}

// Weight returns the approximate memory use of the snapshot in bytes; 0 if s is nil.
func (s *Snapshot) Weight() int64 {
	var total int64
	if s == nil {
		return 0
	}
	for i := range s.Resources {
		total += s.Resources[i].Weight()
	}
	return total + KindsWeight(s.Kinds)
}

// KindsWeight returns the approximate memory use of the kinds and their schemas in bytes. A schema
// that is used in several places is counted once.
func KindsWeight(kinds map[string]*Kind) int64 {
	var total int64
	seen := map[*Schema]bool{}
	for _, k := range kinds {
		if k != nil {
			total += schemaWeight + k.Schema.weight(seen)
		}
	}
	return total
}

func (s *Schema) weight(seen map[*Schema]bool) int64 {
	if s == nil || seen[s] {
		return 0
	}
	seen[s] = true
	total := schemaWeight + s.Each.weight(seen)
	for name, field := range s.Fields {
		total += entryWeight + int64(len(name)) + field.weight(seen)
	}
	for _, key := range s.Keys {
		total += valueWeight + int64(len(key))
	}
	if s.Default != nil {
		total += s.Default.Weight()
	}
	return total
}

// Weight returns the approximate memory use of the declaration in bytes, without Live.
func (d *Declaration) Weight() int64 {
	var total int64
	for i := range d.Claims {
		total += d.Claims[i].Weight()
	}
	for i := range d.Problems {
		total += recordWeight + int64(len(d.Problems[i].Reason))
	}
	return total
}
