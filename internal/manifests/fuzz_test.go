package manifests

import "testing"

// The content of a manifest is an error, or objects whose kind and name can be read.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n# nothing\n---\nkind: Namespace\n",
		`{"apiVersion":"v1","kind":"List","items":[{"kind":"Pod","metadata":{"name":"p"}},null,1]}`,
		"items: 1", "kind: 1\nmetadata: []\napiVersion: {}\nitems: [{}]", "a: &a [*a]", "---\n---\n", "[]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		objects, err := parse("a.yaml", []byte(data))
		if err != nil {
			return
		}
		for _, object := range inOrder(objects) {
			if object.String() == "" {
				t.Error("an object has no description")
			}
			_ = isDefinition(object)
		}
	})
}
