package faults

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/miniapi/miniapi/storage"
)

// faultKind is the kind of the objects of the API. Their storage has no apiVersion and kind, as for
// all custom resources.
var faultKind = schema.GroupVersionKind{Group: Group, Version: "v1alpha1", Kind: "Fault"}

// storagePath is the path of the keys of the objects.
const storagePath = Group + "/faults"

// content is the content of the objects, beside the metadata.
type content struct {
	Spec   Spec   `json:"spec" doc:"The requests, and the failure that is injected into them."`
	Status Counts `json:"status" doc:"The requests so far. A change of the spec begins a new count."`
}

func keyOf(name string) string { return "/" + storagePath + "/" + name }

func nameOf(key string) string { return strings.TrimPrefix(key, keyOf("")) }

// newObject returns the object of a fault that is created now.
func newObject(fault Fault, now time.Time) (*unstructured.Unstructured, error) {
	object, err := toMap(content{Spec: Spec{fault.Match, fault.Effect}})
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetName(fault.Name)
	u.SetUID(uuid.NewUUID())
	u.SetCreationTimestamp(metav1.NewTime(now))
	u.SetGeneration(1)
	return u, nil
}

// faultOf returns the fault of a valid object.
func faultOf(u *unstructured.Unstructured) (Fault, error) {
	c, err := contentOf(u)
	return Fault{Name: u.GetName(), Match: c.Spec.Match, Effect: c.Spec.Effect}, err
}

func contentOf(u *unstructured.Unstructured) (content, error) {
	var c content
	data, err := json.Marshal(map[string]any{"spec": u.Object["spec"], "status": u.Object["status"]})
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	return c, err
}

// faultIn returns the fault in an entry.
func faultIn(entry *storage.Entry) (Fault, error) {
	obj, err := entry.Object()
	if err != nil {
		return Fault{}, err
	}
	return faultOf(obj.(*unstructured.Unstructured))
}

// toMap returns a value as the decoded JSON of an object.
func toMap(value any) (map[string]any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	return object, utiljson.Unmarshal(data, &object)
}

// contentType is the Go type of the objects, beside the metadata.
var contentType = reflect.TypeFor[content]()
