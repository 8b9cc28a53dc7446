package policy_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMutations(t *testing.T) {
	e := start(t)
	for _, c := range []struct {
		rule      string
		mutations []admissionregistrationv1.Mutation
		want      map[string]string
		message   string
	}{
		{"an apply configuration", []admissionregistrationv1.Mutation{
			apply(`Object{data: {"size": object.data.size + "ger", "new": namespaceObject.metadata.name}}`),
		}, map[string]string{"size": "bigger", "new": "default"}, ""},
		{"a JSON patch", []admissionregistrationv1.Mutation{
			jsonPatch(`[JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("a/b"), value: "c"}, JSONPatch{op: "remove", path: "/data/size"}]`),
		}, map[string]string{"a/b": "c"}, `ConfigMap "c" is invalid: data[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`},
		{"mutations are applied in order", []admissionregistrationv1.Mutation{
			jsonPatch(`[JSONPatch{op: "replace", path: "/data/size", value: "small"}]`),
			apply(`Object{data: {"was": object.data.size}}`),
		}, map[string]string{"size": "small", "was": "small"}, ""},
		{"a failed test operation skips the patch", []admissionregistrationv1.Mutation{
			jsonPatch(`[JSONPatch{op: "test", path: "/data/size", value: "small"}, JSONPatch{op: "remove", path: "/data/size"}]`),
		}, map[string]string{"size": "big"}, ""},
		{"an evaluation error is rejected", []admissionregistrationv1.Mutation{apply(`Object{data: {"a": object.data.none}}`)}, nil,
			`policy 'p' with binding 'p' denied request: expression 'Object{data: {"a": object.data.none}}' resulted in error: no such key: none`},
		{"an unknown field is rejected", []admissionregistrationv1.Mutation{apply(`Object{spec: Object.spec{replicas: 1}}`)}, nil,
			`policy 'p' with binding 'p' denied request: error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema`},
		{"an atomic list is rejected", []admissionregistrationv1.Mutation{
			apply(`Object{metadata: Object.metadata{managedFields: [Object.metadata.managedFields{manager: "m"}]}}`),
		}, nil, `policy 'p' with binding 'p' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .metadata.managedFields`},
		{"a field with the type of another field is rejected", []admissionregistrationv1.Mutation{
			jsonPatch(`[JSONPatch{op: "add", path: "/metadata", value: Object.metadata{labels: Object.data{}}}]`),
		}, nil, `policy 'p' with binding 'p' denied request: type mismatch: unexpected type name "Object.data", expected "Object.metadata.labels", which matches field name path from root Object type`},
		{"values of a JSON patch can be lists and objects", []admissionregistrationv1.Mutation{
			jsonPatch(`[JSONPatch{op: "add", path: "/metadata/finalizers", value: ["f"].map(f, "example.com/" + f)},
				JSONPatch{op: "add", path: "/data", value: {"a": "<\u00e9\n>"}},
				JSONPatch{op: "move", path: "/data/b", from: "/data/a"}]`),
		}, map[string]string{"b": "<\u00e9\n>"}, ""},
		{"a JSON patch of a missing path is rejected", []admissionregistrationv1.Mutation{
			jsonPatch(`[JSONPatch{op: "remove", path: "/data/none"}]`),
		}, nil, `policy 'p' with binding 'p' denied request: JSON Patch: error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e.mutating("p", admissionregistrationv1.MutatingAdmissionPolicySpec{Mutations: c.mutations}, admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{})
			got, err := e.dryCreate(configMap("c", "size", "big"))
			if c.message != "" {
				wantStatus(t, err, statusCode(err), metav1.StatusReasonInvalid, c.message)
			} else if diff := cmp.Diff(c.want, got.Data); err != nil || diff != "" {
				t.Errorf("error %v, data (-want +got):\n%s", err, diff)
			}
			e.remove("p")
		})
	}
}

func TestUndecodableMutations(t *testing.T) {
	e := start(t)
	for _, c := range []struct{ rule, operation, message string }{
		{"an unknown field", `JSONPatch{op: "add", path: "/unknown", value: 1}`, `Internal error occurred: strict decoding error: unknown field "unknown"`},
		{"a value of another type", `JSONPatch{op: "add", path: "/data/a", value: 1}`, `Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type string`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e.mutating("p", admissionregistrationv1.MutatingAdmissionPolicySpec{
				Mutations: []admissionregistrationv1.Mutation{jsonPatch("[" + c.operation + "]")},
			}, admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{})
			_, err := e.dryCreate(configMap("c", "size", "big"))
			wantStatus(t, err, http.StatusInternalServerError, metav1.StatusReasonInternalError, c.message)
			e.remove("p")
		})
	}
}

func TestMutationOfTypedLists(t *testing.T) {
	e := start(t)
	e.mutating("p", admissionregistrationv1.MutatingAdmissionPolicySpec{
		MatchConstraints: matching("CREATE", "pods"),
		ParamKind:        &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
		Variables:        []admissionregistrationv1.Variable{{Name: "image", Expression: "params.data.image"}},
		Mutations: []admissionregistrationv1.Mutation{apply(`Object{spec: Object.spec{initContainers: [
			Object.spec.initContainers{name: "side", image: variables.image, restartPolicy: "Always"}]}}`)},
	}, admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{
		ParamRef: &admissionregistrationv1.ParamRef{Name: "side", ParameterNotFoundAction: new(admissionregistrationv1.DenyAction)},
	})
	must(t, e.client.CoreV1().ConfigMaps("default").Create, configMap("side", "image", "i:2"))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	got := must(t, e.client.CoreV1().Pods("default").Create, pod)
	if len(got.Spec.InitContainers) != 1 || got.Spec.InitContainers[0].Image != "i:2" ||
		got.Spec.InitContainers[0].TerminationMessagePath == "" || len(got.Spec.Containers) != 1 {
		t.Errorf("containers %v and %v", got.Spec.InitContainers, got.Spec.Containers)
	}
}

func TestReinvocation(t *testing.T) {
	e := start(t)
	// Each policy writes the number of keys that it finds.
	count := func(name string, policy admissionregistrationv1.ReinvocationPolicyType) {
		e.mutating(name, admissionregistrationv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: policy,
			Mutations:          []admissionregistrationv1.Mutation{apply(`Object{data: {"` + name + `": string(size(object.data))}}`)},
		}, admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{})
	}
	count("a", admissionregistrationv1.IfNeededReinvocationPolicy)
	count("b", admissionregistrationv1.NeverReinvocationPolicy)
	count("c", admissionregistrationv1.NeverReinvocationPolicy)
	got, err := e.dryCreate(configMap("c", "x", "y"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"x": "y", "a": "4", "b": "2", "c": "3"}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}
