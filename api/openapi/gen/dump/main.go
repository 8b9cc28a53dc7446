//go:build generated

// Dump writes the definitions that openapi-gen has generated in this directory to a file, in both
// versions of OpenAPI.
package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	// The modules of the types. Only the generated code imports their packages.
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	builderutil "k8s.io/kube-openapi/pkg/builder3/util"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/schemamutation"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// definition is the schema of one type in the format of package openapi.
type definition struct {
	V2   *spec.Schema `json:"v2"`
	V3   *spec.Schema `json:"v3"`
	Deps []string     `json:"deps,omitempty"`
}

func main() {
	if err := write(os.Args[1], definitions()); err != nil {
		log.Fatal(err)
	}
}

func definitions() map[string]definition {
	v2 := GetOpenAPIDefinitions(refTo("#/definitions/"))
	v3 := GetOpenAPIDefinitions(refTo("#/components/schemas/"))
	all := map[string]definition{}
	for name, d := range v2 {
		old, current := d.Schema, v3[name].Schema
		if own, ok := old.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
			old = own
		}
		delete(current.Extensions, common.ExtensionV2Schema)
		all[name] = definition{V2: withoutDefaults(&old), V3: builderutil.WrapRefs(&current), Deps: d.Dependencies}
	}
	return all
}

func refTo(prefix string) common.ReferenceCallback {
	return func(name string) spec.Ref { return spec.MustCreateRef(prefix + name) }
}

// withoutDefaults removes defaults, which kube-apiserver does not serve in version 2.
func withoutDefaults(schema *spec.Schema) *spec.Schema {
	walker := schemamutation.Walker{
		SchemaCallback: func(s *spec.Schema) *spec.Schema {
			if s.Default == nil {
				return s
			}
			plain := *s
			plain.Default = nil
			return &plain
		},
		RefCallback: schemamutation.RefCallbackNoop,
	}
	return walker.WalkSchema(schema)
}

func write(path string, all map[string]definition) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	out.Comment = versions()
	return errors.Join(json.NewEncoder(out).Encode(all), out.Close())
}

// versions returns the versions of the types' modules. A test compares them with go.mod to detect
// an outdated file.
func versions() string {
	modules := []string{"k8s.io/api", "k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/kube-aggregator"}
	var list []string
	info, ok := debug.ReadBuildInfo()
	if !ok {
		log.Fatal("built without module support")
	}
	for _, dep := range info.Deps {
		if slices.Contains(modules, dep.Path) {
			list = append(list, dep.Path+" "+dep.Version)
		}
	}
	return strings.Join(list, ", ")
}
