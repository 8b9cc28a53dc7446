package openapi

import (
	"fmt"
	"maps"
	"slices"
)

// fragment is the contribution of a part to the document of version 2.
type fragment struct {
	// own holds the content that no other part has: paths, and definitions of custom resources.
	own *excerpt
	// models names the definitions of built-in types that own references.
	models []string
	// parameters holds the parameters that own references, by name.
	parameters map[string][]byte
}

func (p *part) buildV2() (*fragment, error) {
	custom, err := p.customModels(true)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI of %s: %w", p.name, err)
	}
	routes, w := p.routes(), newV2Writer()
	own := sections{paths: encodePaths(routes, w.path)}
	for _, name := range slices.Sorted(maps.Keys(custom)) {
		own.definitions.set(name, custom[name]...)
	}
	return &fragment{own: newExcerpt(own), models: p.models(routes), parameters: w.shared}, nil
}

// buildV2 joins the fragments of all parts to one document.
func (d *Documents) buildV2() (*Document, error) {
	all, err := definitions()
	if err != nil {
		return nil, err
	}
	var excerpts []*excerpt
	var models []string
	parameters := map[string][]byte{}
	for _, p := range d.parts {
		f, err := p.v2()
		if err != nil {
			return nil, err
		}
		excerpts = append(excerpts, f.own)
		models = append(models, f.models...)
		maps.Copy(parameters, f.parameters)
	}
	for _, name := range closure(all, models) {
		excerpts = append(excerpts, d.library.excerpt(all, name))
	}
	var shared sections
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		shared.parameters.set(name, parameters[name])
	}
	return v2Joined(d.release, append(excerpts, newExcerpt(shared))), nil
}
