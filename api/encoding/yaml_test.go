package encoding

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/kinds"
)

// yamlPods returns n pods with values that YAML quotes, folds and writes as blocks.
func yamlPods(n int) []runtime.Object {
	values := []string{
		"", "plain", "true", "12", "1e3", "null", "- a", "a: b", "# x", "'", `"`, "trailing ", " leading", "é\u2028\U0001F600",
		"a\nb\n", "a\n\nb", "\n a\n  b\n\n", "tab\there", "\x01", strings.Repeat("word ", 100), strings.Repeat("x", 300), "key: |\n  " + strings.Repeat("y ", 90),
	}
	pods := make([]runtime.Object, n)
	for i := range pods {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i), Annotations: map[string]string{}}}
		for j, value := range values {
			pod.Annotations[fmt.Sprint("k", (i+j)%len(values))] = value
			pod.Annotations[strings.Repeat("k", 20*j)] = value // a key of more than 128 bytes is written as "? key"
		}
		if i%7 == 0 {
			pod = &corev1.Pod{}
		}
		pods[i] = pod
	}
	return pods
}

// A list that is converted in batches has the same bytes as a list that is converted as a whole, as
// in kube-apiserver.
func TestYAMLListsAreIndependentOfBatches(t *testing.T) {
	const batches = 2
	p := NewResponder(Config{Scheme: kinds.Scheme()})
	media, err := p.ForContentType(runtime.ContentTypeYAML)
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{0, 1, 2, 40} {
		objects := yamlPods(count)
		for name, list := range map[string]List{
			"without headers": {Header: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Meta: metav1.ListMeta{ResourceVersion: "9", Continue: "x"}},
			"with headers":    {Header: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ItemHeader: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ShowEmptyMeta: true},
		} {
			list.Len, list.Items = count, bodiesOf(p.JSON(), objects)
			var document bytes.Buffer
			if err := jsonList(&document, list); err != nil {
				t.Fatal(err)
			}
			if count == 40 && document.Len() < batches*yamlBatch {
				t.Fatalf("%d bytes are not %d batches", document.Len(), batches)
			}
			w := httptest.NewRecorder()
			if err := p.WriteList(w, httptest.NewRequest("GET", "/", nil), Format{MediaType: media}, list); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(convertYAML(t, document.Bytes()), w.Body.String()); diff != "" {
				t.Errorf("%s, %d pods (-want +got):\n%s", name, count, diff)
			}
		}
	}
}

func convertYAML(t *testing.T, document []byte) string {
	t.Helper()
	converted, err := yaml.JSONToYAML(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(converted)
}
