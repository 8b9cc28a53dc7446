package manifests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// folder creates a folder with files, given by name and content.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	const object = `{"kind":"A","metadata":{"name":"a"}}`
	for name, c := range map[string]struct {
		files map[string]string
		path  string
		want  []string
	}{
		"files of a folder in the order of their names, filtered by extension": {
			files: map[string]string{"b.yaml": object, "a.json": object, "c.yml": object, "d.txt": object, "e": object},
			want:  []string{"a.json: A a", "b.yaml: A a", "c.yml: A a"},
		},
		"no subfolders": {
			files: map[string]string{"a/b.yaml": object, "c.yaml/d.yaml": object},
		},
		"a file with any extension": {
			files: map[string]string{"a.txt": object}, path: "a.txt",
			want: []string{"a.txt: A a"},
		},
		"all documents of a file": {
			files: map[string]string{"a.yaml": "# head\n---\nkind: A\nmetadata: {name: a}\n---\n---\n# nothing\n---\nkind: B\nmetadata: {name: b, namespace: ns}\n"},
			want:  []string{"a.yaml: A a", "a.yaml: B ns/b"},
		},
		"items of a list": {
			files: map[string]string{"a.yaml": "apiVersion: v1\nkind: List\nitems: [" + object + "," + object + "]"},
			want:  []string{"a.yaml: A a", "a.yaml: A a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, c.files)
			objects, err := Read(filepath.Join(dir, c.path))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, object := range objects {
				got = append(got, strings.TrimPrefix(object.String(), dir+"/"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	dir := folder(t, map[string]string{"a.yaml": "kind: A\n---\nkind: [\n", "b.json": `"text"`})
	for path, want := range map[string]string{
		"a.yaml":  "a.yaml: document 2 is not an object in YAML or JSON: ",
		"b.json":  "b.json: document 1 is not an object in YAML or JSON: ",
		"nowhere": "nowhere: no such file or directory",
	} {
		_, err := Read(filepath.Join(dir, path))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestOrder(t *testing.T) {
	var objects []Object
	for i, kind := range []string{"ValidatingWebhookConfiguration", "Mine", "Pod", "Role", "Namespace", "Pod", "CustomResourceDefinition"} {
		objects = append(objects, Object{&unstructured.Unstructured{Object: map[string]any{"kind": kind}}, fmt.Sprint(i)})
	}
	var got []string
	for _, o := range inOrder(objects) {
		got = append(got, o.File+" "+o.GetKind())
	}
	want := []string{"6 CustomResourceDefinition", "4 Namespace", "3 Role", "1 Mine", "2 Pod", "5 Pod", "0 ValidatingWebhookConfiguration"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
