package apps

import (
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func controllerRevisions(features *feature.Set) *registry.Resource {
	return kind.Definition[*appsv1.ControllerRevision]{
		GroupVersion:             appsv1.SchemeGroupVersion,
		Object:                   &appsv1.ControllerRevision{},
		List:                     &appsv1.ControllerRevisionList{},
		Resource:                 "controllerrevisions",
		GenerateNameOnUpdate:     true,
		Namespaced:               true,
		ValidateCreate:           validateNewRevision,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateRevisionUpdate,
		Columns: kind.StandardColumns(
			kind.TextColumn("Controller", "Controller of the object",
				func(r *appsv1.ControllerRevision) any { return controllerCell(r) }),
			kind.TextColumn("Revision", appsv1.ControllerRevision{}.SwaggerDoc()["revision"],
				func(r *appsv1.ControllerRevision) any { return r.Revision }),
		),
	}.Build(features)
}

// controllerCell returns the controller in kubectl's notation: statefulset.apps/web.
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

func validateNewRevision(r *appsv1.ControllerRevision) field.ErrorList {
	return append(kind.NonNegative(field.NewPath("revision"), &r.Revision), validateData(r.Data.Raw, field.NewPath("data"))...)
}

// validateData requires a JSON object.
func validateData(data []byte, at *field.Path) field.ErrorList {
	if data == nil {
		return field.ErrorList{field.Required(at, "data is mandatory")}
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return field.ErrorList{field.Invalid(at, "<value omitted>", "error parsing data: "+err.Error())}
	}
	if value == nil {
		return field.ErrorList{field.Required(at, "data is mandatory")}
	}
	if _, ok := value.(map[string]any); !ok {
		return field.ErrorList{field.Required(at, "data must be a valid JSON object")}
	}
	return nil
}

func validateRevisionUpdate(r, old *appsv1.ControllerRevision) field.ErrorList {
	return append(kind.NonNegative(field.NewPath("revision"), &r.Revision), validation.ValidateImmutableField(r.Data, old.Data, field.NewPath("data"))...)
}
