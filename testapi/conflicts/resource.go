package conflicts

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	openapi "github.com/miniapi/miniapi/testapi/schema"
	"github.com/miniapi/miniapi/versioner"
)

var kind = schema.GroupVersionKind{Group: "miniapi.dev", Version: "v1alpha1", Kind: "Conflict"}

// Resource returns the resource conflicts.miniapi.dev, which serves the conflicts of a log.
func Resource(l *Log) *registry.Resource {
	return &registry.Resource{
		Group: kind.Group, Name: "conflicts", Singular: "conflict", Kind: kind.Kind,
		Verbs:   []string{"get", "list", "watch"},
		Custom:  true, // objects without a Go type for clients, in JSON and YAML
		Virtual: &registry.Virtual{Feed: l},
		Fields:  selectable,
		Columns: registry.Columns{Definitions: columns(), Row: row},
		Versions: []registry.Version{{
			Name:       kind.Version,
			New:        newObject,
			NewList:    func() runtime.Object { return &unstructured.UnstructuredList{} },
			Model:      openapi.OfKind(kind, "Conflict is a write that was answered with a conflict, and its explanation.", reflect.TypeFor[Conflict]()),
			FieldLabel: fieldLabel,
		}},
	}
}

func newObject() runtime.Object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u
}

// entryOf returns the object of a conflict.
func entryOf(c *Conflict, revision int64) *storage.Entry {
	return storage.NewEntry(c.Name, revision, func() (runtime.Object, error) {
		data, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(data, &u.Object); err != nil {
			return nil, err
		}
		u.SetName(c.Name)
		u.SetCreationTimestamp(metav1.NewTime(c.Time))
		u.SetResourceVersion(versioner.Format(revision))
		return u, nil
	})
}

// selectors are the fields that a field selector can have. They do not change.
var selectors = [][]string{
	{"object", "resource"}, {"object", "namespace"}, {"object", "name"},
	{"loser", "fieldManager"}, {"loser", "userAgent"}, {"loser", "user"},
	{"winner", "fieldManager"}, {"winner", "userAgent"}, {"winner", "user"},
}

// selectable returns the selectable fields of a conflict.
func selectable(obj runtime.Object) fields.Set {
	set := fields.Set{}
	for _, path := range selectors {
		value, _, _ := unstructured.NestedString(obj.(*unstructured.Unstructured).Object, path...)
		set[strings.Join(path, ".")] = value
	}
	return set
}

func fieldLabel(label, value string) (hubLabel, hubValue string, err error) {
	for _, path := range selectors {
		if label == strings.Join(path, ".") {
			return label, value, nil
		}
	}
	return runtime.DefaultMetaV1FieldSelectorConversion(label, value)
}

func columns() []metav1.TableColumnDefinition {
	text := func(name, description string) metav1.TableColumnDefinition {
		return metav1.TableColumnDefinition{Name: name, Type: "string", Description: description}
	}
	name := text("Name", "The name of the conflict: the name of the object and a number.")
	name.Format = "name"
	return []metav1.TableColumnDefinition{
		name,
		text("Object", "The object of the write."),
		text("Loser", "The field manager or user agent of the rejected write."),
		text("Winner", "The field manager or user agent of the write that came first."),
		text("Fields", "The fields that both changed."),
		text("Retried", "Whether the loser tried again, and whether it succeeded."),
		text("Age", "The time since the conflict."),
	}
}

func row(obj runtime.Object) ([]any, []metav1.TableRowCondition) {
	u := obj.(*unstructured.Unstructured)
	c, err := fromUnstructured(u)
	if err != nil {
		return []any{u.GetName(), "", "", "", "", "", ""}, nil
	}
	return append([]any{u.GetName()}, append(c.cells(), duration.HumanDuration(time.Since(u.GetCreationTimestamp().Time)))...), nil
}

func fromUnstructured(u *unstructured.Unstructured) (*Conflict, error) {
	data, err := json.Marshal(u.Object)
	if err != nil {
		return nil, err
	}
	c := &Conflict{}
	return c, json.Unmarshal(data, c)
}

// cells returns the object, the loser, the winner, the fields and the retry as columns.
func (c *Conflict) cells() []any {
	clashing := strings.Join(c.Clashing, ",")
	if clashing == "" {
		clashing = "<none>"
	}
	return []any{c.Object.String(), c.Loser.Who(), c.Winner.Who(), clashing, c.Retry()}
}
