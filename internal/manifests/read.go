package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Object is an object of a manifest file.
type Object struct {
	*unstructured.Unstructured
	// File is the path of the file.
	File string
}

// String returns the file, kind and name of the object.
func (o Object) String() string {
	name := o.GetName()
	if namespace := o.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return fmt.Sprintf("%s: %s %s", o.File, o.GetKind(), name)
}

// Read returns the objects of files and folders. A file has one JSON document or any number of YAML
// documents. A List is replaced by its items. In a folder, Read reads the files ending in .yaml,
// .yml or .json, but no subfolders.
func Read(paths ...string) ([]Object, error) {
	var objects []Object
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			found, err := parse(file, data)
			if err != nil {
				return nil, err
			}
			objects = append(objects, found...)
		}
	}
	return objects, nil
}

// Definitions returns the CustomResourceDefinitions among objects.
func Definitions(objects []Object) []Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o Object) bool { return !isDefinition(o) })
}

func isDefinition(o Object) bool {
	return o.GroupVersionKind().Group == definitions.Group && o.GetKind() == "CustomResourceDefinition"
}

// filesOf returns the path of a file, or the manifests of a folder.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if !isManifest(entry.Name()) || entry.IsDir() {
			continue
		}
		file := filepath.Join(path, entry.Name())
		if err := checkRegular(file); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// checkRegular returns an error for named pipes and other special files, because reading them can
// block forever. It returns nil for a file that does not exist.
func checkRegular(file string) error {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("%s is not a regular file (%s)", file, info.Mode().Type())
	}
	return nil
}

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

// parse returns the objects of a file's content.
func parse(file string, data []byte) ([]Object, error) {
	var objects []Object
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		var content map[string]any
		if err == nil {
			err = yaml.Unmarshal(document, &content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: document %d is not an object in YAML or JSON: %w", file, n, err)
		}
		if len(content) == 0 { // only comments
			continue
		}
		found, err := expand(&unstructured.Unstructured{Object: content})
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", file, n, err)
		}
		for _, obj := range found {
			objects = append(objects, Object{obj, file})
		}
	}
}

// expand returns the items of a list, or the object itself.
func expand(obj *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if !obj.IsList() {
		return []*unstructured.Unstructured{obj}, nil
	}
	var items []*unstructured.Unstructured
	err := obj.EachListItem(func(item runtime.Object) error {
		items = append(items, item.(*unstructured.Unstructured))
		return nil
	})
	return items, err
}
