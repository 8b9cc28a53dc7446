package openapi

import (
	"encoding/json"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/registry"
)

// Documents holds all OpenAPI documents of one state of a catalog. Safe for concurrent use.
type Documents struct {
	release string
	library *library
	remote  map[string]string
	parts   []*part // by name
	named   map[string]*part
	v2      func() (*Document, error)
	index   func() ([]byte, error)
}

// Config is the content that the documents describe.
type Config struct {
	// Groups and Resources of a catalog. They must not change.
	Groups    []registry.Group
	Resources []*registry.Resource
	// Scheme holds the Go types of the built-in kinds.
	Scheme *runtime.Scheme
	// Release of Kubernetes, such as "1.36".
	Release string
	// OpenID reports whether the server publishes the keys of its tokens.
	OpenID bool
	// CBOR reports whether the server supports CBOR.
	CBOR bool
	// PatchTypes are the content types of patches.
	PatchTypes []PatchType
	// RemoteDocuments holds URLs of documents on other servers by their paths, such as
	// "apis/GROUP/VERSION". They take precedence over documents of the catalog.
	RemoteDocuments map[string]string
}

// PatchType is a content type of patches.
type PatchType struct {
	ContentType string
	// BuiltInOnly reports whether custom resources do not support it.
	BuiltInOnly bool
}

// New returns the documents of a state of a catalog. It builds none of them, and parts that other
// Documents have built are not built again.
func New(config Config) *Documents {
	d := &Documents{release: config.Release, library: libraryOf(config.Scheme), remote: config.RemoteDocuments, named: map[string]*part{}}
	d.parts = partsOf(config, d.library)
	for _, p := range d.parts {
		d.named[p.name] = p
	}
	d.v2 = sync.OnceValues(d.buildV2)
	d.index = sync.OnceValues(d.buildIndex)
	return d
}

// V2 returns the document of version 2.
func (d *Documents) V2() (*Document, error) { return d.v2() }

// V3 returns the document of version 3 for a path such as "apis/apps/v1", nil if there is none.
func (d *Documents) V3(path string) (*Document, error) {
	if p, ok := d.named[path]; ok {
		return p.v3()
	}
	return nil, nil
}

// Index returns the list of the documents of version 3, with URLs that contain their hashes. The
// result is shared and must not be changed.
func (d *Documents) Index() ([]byte, error) { return d.index() }

func (d *Documents) buildIndex() ([]byte, error) {
	type link struct {
		URL string `json:"serverRelativeURL"`
	}
	paths := map[string]link{}
	for name, url := range d.remote {
		paths[name] = link{url}
	}
	for _, p := range d.parts {
		if _, ok := d.remote[p.name]; ok {
			continue
		}
		document, err := p.v3()
		if err != nil {
			return nil, err
		}
		paths[p.name] = link{"/openapi/v3/" + p.name + "?hash=" + document.Hash}
	}
	return json.Marshal(object{"paths": paths})
}

// Release returns the release whose API a server with the version serves, such as "1.36".
func Release(v version.Info) string {
	return v.EmulationMajor + "." + v.EmulationMinor
}
