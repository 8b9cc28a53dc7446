package encoding

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// decodePod decodes a pod in a media type.
func decodePod(t *testing.T, contentType string, body []byte) (*corev1.Pod, error) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	media, err := NewCodec(Config{Scheme: scheme, CBOR: true}).ForContentType(contentType)
	if err != nil {
		t.Fatal(err)
	}
	obj, _, err := media.DecodeBody(body, DecodeOptions{
		Kind: corev1.SchemeGroupVersion.WithKind("Pod"), Into: &corev1.Pod{}, FieldValidation: metav1.FieldValidationStrict,
	})
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Pod), nil
}

// A quantity with a huge exponent or number of digits is a 400. kube-apiserver computes for
// minutes.
func TestHugeQuantitiesAreRejected(t *testing.T) {
	json := func(quantity string) string {
		return `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":` + quantity + `}}}]}}`
	}
	long := strings.Repeat("9", 1<<20)
	for rule, body := range map[string]struct{ contentType, body string }{
		"a JSON string":             {"application/json", json(`"1e-100000000"`)},
		"a JSON number":             {"application/json", json(`1e-100000000`)},
		"after a JSON type error":   {"application/json", strings.Replace(json(`"1e-100000000"`), `"spec":{`, `"spec":{"priority":1e100000000,`, 1)},
		"an escaped digit":          {"application/json", json(`"1e-1000\u00300000"`)},
		"an escaped exponent":       {"application/json", json(`"1\u0065-100000000"`)},
		"a sign and a fraction":     {"application/json", json(`"-0.1E+100000000"`)},
		"digits":                    {"application/json", json(`"` + long + `"`)},
		"digits and a suffix":       {"application/json", json(`"0.` + long + `Ki"`)},
		"a YAML string":             {"application/yaml", json(`'1e-100000000'`)},
		"an escaped digit in YAML":  {"application/yaml", json(`"1e-1\x300000000"`)},
		"a quantity in a YAML list": {"application/yaml", "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - resources: {limits: {cpu: \"1e-100000000\"}}\n"},
		"protobuf":                  {"application/vnd.kubernetes.protobuf", "k8s\x00\n\x09\n\x02v1\x12\x03Pod\x12\x21\x12\x1f\x12\x1d\x42\x1b\x0a\x19\x0a\x05aaaaa\x12\x10\x0a\x0e1e-10000000000"},
	} {
		t.Run(rule, func(t *testing.T) {
			_, err := decodePod(t, body.contentType, []byte(body.body))
			if err == nil || !strings.Contains(err.Error(), `Pod in version "v1" cannot be handled as a Pod`) || strings.Contains(err.Error(), "strict") {
				t.Errorf("got error %.300v", err)
			}
		})
	}
}

// Numbers that are not in a quantity have no limit.
func TestHugeNumbersElsewhereAreAccepted(t *testing.T) {
	values := []string{"1e100000000", strings.Repeat("9", 10_000), "12e34567", `1\u0065-100000000`}
	for _, value := range values {
		body := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"1e12345","labels":{"a":"` + value + `"}},` +
			`"spec":{"containers":[{"name":"1e12345","resources":{"limits":{"memory":"1e3","cpu":1e-3}}}]}}`
		for _, contentType := range []string{"application/json", "application/yaml"} {
			pod, err := decodePod(t, contentType, []byte(body))
			if err != nil {
				t.Fatalf("%s as %s: %.300v", value, contentType, err)
			}
			if want := strings.ReplaceAll(value, `\u0065`, "e"); pod.Labels["a"] != want {
				t.Errorf("%s: the label is %.100q", contentType, pod.Labels["a"])
			}
			if got := pod.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory]; got.Cmp(resource.MustParse("1000")) != 0 {
				t.Errorf("%s: the limit is %s", contentType, got.String())
			}
		}
	}
	want := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "1e12345", UID: "1e345678-1e34-4e56-9e78-123456789012"},
		Spec:       corev1.PodSpec{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "1234e5678"}}},
	}
	media := NewCodec(Config{Scheme: runtime.NewScheme()})
	protobuf, err := media.ForContentType(runtime.ContentTypeProtobuf)
	if err != nil {
		t.Fatal(err)
	}
	body, err := protobuf.encode(want)
	if err != nil {
		t.Fatal(err)
	}
	document := append([]byte("k8s\x00\n\x09\n\x02v1\x12\x03Pod\x12"), byte(len(body)))
	pod, err := decodePod(t, runtime.ContentTypeProtobuf, append(document, body...))
	if err != nil || pod.Spec.ImagePullSecrets[0].Name != "1234e5678" || pod.UID != want.UID {
		t.Errorf("got %v, %v", pod, err)
	}
}

func TestLimitsOfQuantities(t *testing.T) {
	for rule, c := range map[string]struct {
		quantity string
		valid    bool
	}{
		"the largest exponent":    {"1e999", true},
		"a larger exponent":       {"1e1000", false},
		"a larger negative one":   {"1e-1000", false},
		"the most digits":         {strings.Repeat("9", maxQuantityDigits), true},
		"one digit more":          {strings.Repeat("9", maxQuantityDigits+1), false},
		"as many decimals":        {"0." + strings.Repeat("9", maxQuantityDigits), false},
		"an exponent with zeroes": {"1e0001", false},
	} {
		t.Run(rule, func(t *testing.T) {
			body := `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c","resources":{"limits":{"memory":"` + c.quantity + `"}}}]}}`
			if _, err := decodePod(t, "application/json", []byte(body)); (err == nil) != c.valid {
				t.Errorf("got error %.300v", err)
			}
		})
	}
}

func TestDeepYAMLIsRejected(t *testing.T) {
	for name, nested := range map[string]func(depth int) string{
		"flow":  func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) },
		"block": func(depth int) string { return strings.Repeat("- ", depth) + "x" },
	} {
		for depth, valid := range map[int]bool{5000: true, 10_001: false} {
			_, err := decodePod(t, "application/yaml", []byte("apiVersion: v1\nkind: Pod\nunknown: \n "+nested(depth)+"\n"))
			if exceeded := err != nil && strings.Contains(err.Error(), "exceeded max depth"); exceeded == valid {
				t.Errorf("%s, %d levels: got error %.300v", name, depth, err)
			}
		}
	}
}

// The values of aliases count like copies: 100 KB of YAML stand for 1 GB of JSON.
func TestLargeAliasesAreRejected(t *testing.T) {
	const head = "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    a: &a "
	body := head + strings.Repeat("x", 100_000) + "\nunknown: [" + strings.Repeat("*a,", 10_000) + "]\n"
	_, err := decodePod(t, "application/yaml", []byte(body))
	if err == nil || err.Error() != "Request entity too large: limit is 3145728" {
		t.Errorf("got error %.300v", err)
	}
	body = head + "x\n    b: *a\n"
	pod, err := decodePod(t, "application/yaml", []byte(body))
	if err != nil || pod.Annotations["b"] != "x" {
		t.Errorf("got %v, %v", pod, err)
	}
}
