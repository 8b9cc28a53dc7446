package apps

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func controllerRevisions() *registry.Resource {
	return kind.Definition{
		GroupVersion: appsv1.SchemeGroupVersion,
		Object:       &appsv1.ControllerRevision{},
		List:         &appsv1.ControllerRevisionList{},
		Resource:     "controllerrevisions",
		Namespaced:   true,
		Strategy: registry.Strategy{
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Validate:           kind.CheckUpdate(validateRevisionUpdate),
			},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Controller", "string", "Controller of the object"),
				kind.Column("Revision", "string", appsv1.ControllerRevision{}.SwaggerDoc()["revision"]),
				kind.AgeColumn(),
			},
			Row: kind.Row(func(r *appsv1.ControllerRevision) []any {
				return []any{r.Name, controllerCell(r), r.Revision, kind.Age(r.CreationTimestamp)}
			}),
		},
	}.Build()
}

// controllerCell names the controller as kubectl takes it: statefulset.apps/web.
func controllerCell(obj metav1.Object) string {
	owner := metav1.GetControllerOf(obj)
	if owner == nil {
		return kind.None
	}
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return kind.None
	}
	name := strings.ToLower(owner.Kind)
	if gv.Group != "" {
		name = fmt.Sprintf("%s.%s", name, gv.Group)
	}
	return name + "/" + owner.Name
}

func validateRevisionUpdate(obj, old *appsv1.ControllerRevision) field.ErrorList {
	if equality.Semantic.DeepEqual(obj.Data, old.Data) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("data"), obj.Data, "field is immutable")}
}
