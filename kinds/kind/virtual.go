package kind

import "github.com/miniapi/miniapi/registry"

// BuildVirtual returns the resource as one that is computed and never stored.
func (d Definition) BuildVirtual(virtual registry.Virtual) *registry.Resource {
	r := d.Build()
	r.StoragePath, r.Codec, r.Strategy = "", nil, registry.Strategy{}
	r.Virtual = &virtual
	return r
}
