package api

import (
	"fmt"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// The work of a patch is bounded by the shape of the document, not only by the size of the patch.
func TestApplyOperationsIsBounded(t *testing.T) {
	nested := strings.Repeat(`{"a":`, 700) + "1" + strings.Repeat("}", 700)
	inside := "/x" + strings.Repeat("/a", 699)
	list := `[` + strings.Repeat("1,", 9_999) + `1]`
	inserts := strings.Repeat(`,{"op":"add","path":"/l/0","value":1}`, 9_000)
	const tooDeep, tooLong = "nested more than 1000 levels deep", "move more than 33554432 items"
	for rule, c := range map[string]struct{ patch, err string }{
		"a nested value":              {`{"op":"add","path":"/x","value":` + nested + `}`, ""},
		"two nested values":           {`{"op":"add","path":"/x","value":` + nested + `},{"op":"add","path":"/y","value":` + nested + `}`, ""},
		"a nested value in another":   {`{"op":"add","path":"/x","value":` + nested + `},{"op":"add","path":"` + inside + `/a","value":` + nested + `}`, tooDeep},
		"a move of a nested value":    {`{"op":"add","path":"/x","value":` + nested + `},{"op":"move","from":"/x","path":"/y"}`, ""},
		"a move into a nested value":  {`{"op":"add","path":"/x","value":` + nested + `},{"op":"add","path":"/y","value":` + nested + `},{"op":"move","from":"/y","path":"` + inside + `/a"}`, tooDeep},
		"a copy into a nested value":  {`{"op":"add","path":"/x","value":` + nested + `},{"op":"copy","from":"/x","path":"` + inside + `/a"}`, tooDeep},
		"many moves":                  {`{"op":"add","path":"/x","value":1}` + strings.Repeat(`,{"op":"move","from":"/x","path":"/y"},{"op":"move","from":"/y","path":"/x"}`, 4_000), ""},
		"inserts into a long list":    {`{"op":"add","path":"/l","value":` + list + `}` + inserts, tooLong},
		"inserts into a stored list":  {`{"op":"move","from":"/long","path":"/l"}` + inserts, tooLong},
		"inserts into a short list":   {`{"op":"remove","path":"/long"},{"op":"add","path":"/l","value":[]}` + inserts[:len(inserts)/5], ""},
		"keys of a map beside a list": {`{"op":"add","path":"/m","value":{}}` + strings.Repeat(`,{"op":"add","path":"/m/k","value":1}`, 9_000), ""},
	} {
		t.Run(rule, func(t *testing.T) {
			operations, err := jsonpatch.DecodePatch([]byte("[" + c.patch + "]"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = applyOperations(t.Context(), operations, []byte(`{"long":`+list+`,"text":"[[[{\"\\","z":{"a":[]}}`))
			if got := fmt.Sprint(err); c.err == "" && err != nil || !strings.Contains(got, c.err) {
				t.Errorf("got error %.200v", err)
			}
		})
	}
}

// The result may be nested as deep as the stored object, even if that is deeper than the limit.
func TestPatchedDepthOfStoredObject(t *testing.T) {
	stored := `{"deep":` + strings.Repeat(`{"a":`, maxPatchedDepth) + "1" + strings.Repeat("}", maxPatchedDepth) + `,"x":{}}`
	for patch, want := range map[string]string{
		`[{"op":"add","path":"/y","value":1}]`:                   "<nil>",
		`[{"op":"move","from":"/deep","path":"/y"}]`:             "<nil>",
		`[{"op":"move","from":"/deep","path":"/x/y"}]`:           "the patched object is nested more than 1001 levels deep",
		`[{"op":"copy","from":"/deep/a/a/a","path":"/x/y/z"}]`:   "missing",
		`[{"op":"add","path":"/x/y","value":{"z":{"a":[[1]]}}}]`: "<nil>",
	} {
		operations, err := jsonpatch.DecodePatch([]byte(patch))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = applyOperations(t.Context(), operations, []byte(stored)); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: got error %.200v, want %s", patch, err, want)
		}
	}
}

// Each copy decodes the whole document, however small the copied value is.
func TestDocumentsOfCopiesAreLimited(t *testing.T) {
	const size = 8 << 20
	document := `{"a":1,"b":"` + strings.Repeat("x", size) + `"}`
	patch := "[" + strings.Repeat(`{"op":"copy","from":"/a","path":"/c"},`, maxEncodedBytes/size) + `{"op":"test","path":"/a","value":2}]`
	operations, err := jsonpatch.DecodePatch([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	_, err = applyOperations(t.Context(), operations, []byte(document))
	if want := "the patch copies values in documents of more than 134217728 bytes together"; err == nil || err.Error() != want {
		t.Errorf("got error %.200v", err)
	}
}

// The limit counts the bytes of the encoded values that a patch copies, as in kube-apiserver. The
// count is exact.
func TestCopiedBytesAreLimited(t *testing.T) {
	long := `"` + strings.Repeat("x", 1<<20-2) + `"`
	document := []byte(`{"a":` + long + `,"<":"<","l":[1,null,` + long + `],"m/~":{"n":` + long + `}}`)
	const tooMany = "exceeding the limit 3145728"
	copies := func(from string) string {
		return strings.Repeat(fmt.Sprintf(`{"op":"copy","from":"%s","path":"/b"},`, from), 3)
	}
	const (
		one     = `{"op":"copy","from":"/l/0","path":"/b"}`
		null    = `{"op":"copy","from":"/l/1","path":"/b"}`
		escaped = `{"op":"copy","from":"/<","path":"/b"}`
	)
	var doubled strings.Builder
	for i := range 20 {
		fmt.Fprintf(&doubled, `{"op":"copy","from":"/small","path":"/d"},{"op":"move","from":"/d","path":"/small/%d"},`, i)
	}
	for rule, c := range map[string]struct{ patch, err string }{
		"the limit":          {copies("/a") + null, ""},
		"beyond the limit":   {copies("/a") + one, tooMany},
		"an item":            {copies("/l/2") + one, tooMany},
		"the last item":      {copies("/l/-1") + one, tooMany},
		"an escaped token":   {copies("/m~1~0/n") + one, tooMany},
		"escaped characters": {copies("/a")[len(copies("/a"))/3:] + escaped + `,{"op":"copy","from":"/a","path":"/b"}`, "is 3145736, exceeding the limit"},
		"copies of copies":   {`{"op":"add","path":"/small","value":{"a":"bcdefgh"}},` + doubled.String() + null, tooMany},
		"the whole document": {`{"op":"copy","from":"","path":"/b"}`, "missing from path"},
	} {
		t.Run(rule, func(t *testing.T) {
			operations, err := jsonpatch.DecodePatch([]byte("[" + c.patch + "]"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = applyOperations(t.Context(), operations, document)
			if got := fmt.Sprint(err); c.err == "" && err != nil || !strings.Contains(got, c.err) {
				t.Errorf("got error %.200v", err)
			}
		})
	}
}
