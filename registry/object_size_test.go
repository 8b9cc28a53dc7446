package registry

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The result is a lower bound, so no object that fits is rejected. Managed fields do not count
// because the server replaces them.
func TestMinStoredSize(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"a": "b", "c": "\""}}, Spec: corev1.PodSpec{NodeName: "n"}}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		t.Fatal(err)
	}
	managed := pod.DeepCopy()
	managed.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: strings.Repeat("m", 1000), FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}}
	managedContent, err := runtime.DefaultUnstructuredConverter.ToUnstructured(managed)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	for rule, c := range map[string]struct {
		obj runtime.Object
		max int
	}{
		"a Go type":                                  {pod, pod.Size()},
		"a Go type with managed fields":              {managed, pod.Size()},
		"an unstructured object":                     {&unstructured.Unstructured{Object: content}, len(encoded)},
		"an unstructured object with managed fields": {&unstructured.Unstructured{Object: managedContent}, len(encoded)},
	} {
		t.Run(rule, func(t *testing.T) {
			if got := minStoredSize(c.obj); got > c.max || got < c.max*2/3 {
				t.Errorf("lower bound of %d bytes, size %d", got, c.max)
			}
		})
	}
}

// The number of causes in the Status of an object with many invalid fields is limited.
func TestInvalidLimitsCauses(t *testing.T) {
	errs := func(n int) (errs field.ErrorList) {
		for i := range n {
			errs = append(errs, field.Invalid(field.NewPath("f").Index(i), i, "is wrong"))
		}
		return errs
	}
	for sent, want := range map[int]int{1: 1, maxFieldErrors: maxFieldErrors, 50 * maxFieldErrors: maxFieldErrors + 1} {
		status := invalid(schema.GroupKind{Kind: "A"}, "a", errs(sent)).(apierrors.APIStatus).Status()
		causes := status.Details.Causes
		if len(causes) != want {
			t.Errorf("%d errors have %d causes, want %d", sent, len(causes), want)
		}
		if last := fmt.Sprintf("Too many: %d: must have at most %d items", sent, maxFieldErrors); sent > maxFieldErrors && causes[len(causes)-1].Message != last {
			t.Errorf("the last cause is %s", causes[len(causes)-1].Message)
		}
	}
}
