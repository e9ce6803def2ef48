package workcopy

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// read adds the blocks of a resource.
func (b *Blocks) read(body hcl.Body) {
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		b.readJSON(body)
		return
	}
	for _, block := range native.Blocks {
		b.Names = append(b.Names, block.Type)
	}
	b.below(native, nil)
}

// below adds the dynamic blocks in a native body and in its nested blocks.
func (b *Blocks) below(body *hclsyntax.Body, path []string) {
	for _, block := range body.Blocks {
		name := block.Type
		if name == "dynamic" && len(block.Labels) == 1 {
			name = block.Labels[0]
		}
		at := append(slices.Clone(path), name)
		if name != block.Type {
			b.Dynamic = append(b.Dynamic, at)
			continue // the content is as unknown as the block
		}
		b.below(block.Body, at)
	}
}

// readJSON adds the arguments of a body in JSON. They may be blocks that contain dynamic blocks.
func (b *Blocks) readJSON(body hcl.Body) {
	attributes, _ := body.JustAttributes()
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		b.Dynamic = append(b.Dynamic, []string{name})
	}
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "dynamic", LabelNames: []string{"name"}}}})
	for _, block := range content.Blocks {
		b.Dynamic = append(b.Dynamic, block.Labels)
	}
}
