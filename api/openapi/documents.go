package openapi

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/registry"
)

// Documents are all OpenAPI documents of one content of a catalog. Safe for
// concurrent use.
type Documents struct {
	config Config
	// kinds of each model.
	kinds func() map[string][]schema.GroupVersionKind
	v2    func() (*Document, error)
	v3    map[string]func() (*Document, error)
}

// Config is what the documents describe.
type Config struct {
	// Groups and Resources of a catalog, which do not change.
	Groups    []registry.Group
	Resources []*registry.Resource
	// Scheme knows their types.
	Scheme *runtime.Scheme
	// Release of Kubernetes, such as "1.36".
	Release string
}

// New returns the documents of a catalog's content. Nothing is built yet.
func New(config Config) *Documents {
	d := &Documents{config: config, v3: map[string]func() (*Document, error){}}
	d.kinds = sync.OnceValue(func() map[string][]schema.GroupVersionKind { return kindsOf(config.Scheme) })
	d.v2 = sync.OnceValues(d.buildV2)
	for _, part := range d.parts() {
		d.v3[part.name] = sync.OnceValues(func() (*Document, error) { return d.buildV3(part) })
	}
	return d
}

// Document is a document and its name in time. It must not be written to.
type Document struct {
	JSON []byte
	// Hash of the content.
	Hash string
	// Protobuf returns the same in gnostic's protobuf encoding.
	Protobuf func() ([]byte, error)
}

func newDocument(content []byte, toProto func([]byte) (proto.Message, error)) *Document {
	return &Document{
		JSON: content,
		Hash: fmt.Sprintf("%X", sha512.Sum512(content)),
		Protobuf: sync.OnceValues(func() ([]byte, error) {
			message, err := toProto(content)
			if err != nil {
				return nil, fmt.Errorf("OpenAPI in protobuf: %w", err)
			}
			return proto.Marshal(message)
		}),
	}
}

// V2 returns the one document of version 2.
func (d *Documents) V2() (*Document, error) { return d.v2() }

// V3 returns the document of a path such as "apis/apps/v1"; it is nil if there
// is none.
func (d *Documents) V3(path string) (*Document, error) {
	if build, ok := d.v3[path]; ok {
		return build()
	}
	return nil, nil
}

// Index lists the documents of version 3, with the URLs that name their present
// content.
func (d *Documents) Index() ([]byte, error) {
	type link struct {
		URL string `json:"serverRelativeURL"`
	}
	paths := map[string]link{}
	for path, build := range d.v3 {
		document, err := build()
		if err != nil {
			return nil, err
		}
		paths[path] = link{"/openapi/v3/" + path + "?hash=" + document.Hash}
	}
	return json.Marshal(object{"paths": paths})
}

func (d *Documents) info() object {
	return object{"title": "Kubernetes", "version": d.config.Release}
}

// part is what one document of version 3 is about.
type part struct {
	name   string // its path
	gv     schema.GroupVersion
	routes func() []route
}

// parts are the roots, the groups and the group versions.
func (d *Documents) parts() []part {
	root := func(name string, o operation) part {
		return part{name: name, routes: func() []route { return []route{{"/" + name + "/", []operation{o}}} }}
	}
	code := information("getCodeVersion", "version", "get the version information for this server", version.Info{})
	code.answer.media = encodings[:1]
	parts := []part{
		root("version", code),
		root("apis", information("getAPIVersions", "apis", "get available API versions", metav1.APIGroupList{})),
	}
	for _, g := range d.config.Groups {
		path := "api"
		if g.Name != "" {
			path = "apis/" + g.Name
			parts = append(parts, root(path, information("get"+camel(g.Name)+"APIGroup", groupTag(g.Name), "get information of a group", metav1.APIGroup{})))
		} else {
			parts = append(parts, root(path, information("getCoreAPIVersions", "core", "get available API versions", metav1.APIVersions{})))
		}
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v}
			parts = append(parts, part{name: path + "/" + v, gv: gv, routes: func() []route { return d.versionRoutes(gv) }})
		}
	}
	return parts
}

// information is an operation that reads what is no resource.
func information(id, tag, description string, model any) operation {
	o := operation{method: "get", id: id, tag: tag, description: description}
	o.answer = answer{[]int{http.StatusOK}, modelName(model), encodings}
	return o
}

// versionRoutes are those of a group version.
func (d *Documents) versionRoutes(gv schema.GroupVersion) []route {
	list := information(operationID("get", gv, "APIResources"), tagOf(gv), "get available resources", metav1.APIResourceList{})
	b := resourceRoutes{gv: gv, options: d.newObject}
	routes := []route{{b.root() + "/", []operation{list}}}
	for _, r := range d.config.Resources {
		served, ok := r.Version(gv.Version)
		if r.Group != gv.Group || !ok {
			continue
		}
		b.resource, b.version = r, served
		routes = append(routes, b.build()...)
	}
	return routes
}

// newObject returns an object of a kind, nil for one that nobody knows.
func (d *Documents) newObject(kind schema.GroupVersionKind) any {
	obj, err := d.config.Scheme.New(kind)
	if err != nil {
		return nil
	}
	return obj
}

func (d *Documents) buildV3(p part) (*Document, error) {
	content, err := d.v3Document(p.gv, p.routes())
	if err != nil {
		return nil, fmt.Errorf("OpenAPI of %s: %w", p.name, err)
	}
	return newDocument(content, func(content []byte) (proto.Message, error) { return openapi_v3.ParseDocument(content) }), nil
}

func (d *Documents) buildV2() (*Document, error) {
	var routes []route
	for _, p := range d.parts() {
		routes = append(routes, p.routes()...)
	}
	content, err := d.v2Document(routes)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI: %w", err)
	}
	return newDocument(content, func(content []byte) (proto.Message, error) { return openapi_v2.ParseDocument(content) }), nil
}

// Release cuts a version such as "v1.36.3" to "1.36".
func Release(v version.Info) string {
	return strings.TrimPrefix(v.Major+"."+v.Minor, "v")
}
