package core

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func componentStatuses(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.ComponentStatus]{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.ComponentStatus{},
		List:         &corev1.ComponentStatusList{},
		Resource:     "componentstatuses",
		ShortNames:   []string{"cs"},
		Verbs:        []string{"get", "list"},
		Columns: []kind.Column[*corev1.ComponentStatus]{
			kind.NameColumn[*corev1.ComponentStatus](),
			kind.TextColumn("Status", "Status of the component conditions", componentHealth),
			kind.TextColumn("Message", "Message of the component conditions",
				func(component *corev1.ComponentStatus) any { return healthCondition(component).Message }),
			kind.TextColumn("Error", "Error of the component conditions",
				func(component *corev1.ComponentStatus) any { return healthCondition(component).Error }),
		},
	}.BuildVirtual(features, registry.Virtual{Get: getComponentStatus, List: listComponentStatuses})
}

func listComponentStatuses(ctx context.Context, catalog *registry.Catalog) ([]runtime.Object, error) {
	registry.AddWarning(ctx, "v1 ComponentStatus is deprecated in v1.19+")
	return []runtime.Object{
		componentStatus("controller-manager", absent("10257")),
		componentStatus("scheduler", absent("10259")),
		componentStatus("etcd-0", storageCondition(ctx, catalog)),
	}, nil
}

func getComponentStatus(ctx context.Context, catalog *registry.Catalog, name string) (runtime.Object, error) {
	list, err := listComponentStatuses(ctx, catalog)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(obj runtime.Object) bool { return obj.(*corev1.ComponentStatus).Name == name })
	if i < 0 {
		// As in kube-apiserver, the resource in the error is singular.
		return nil, apierrors.NewNotFound(corev1.Resource("componentstatus"), name)
	}
	return list[i], nil
}

func componentStatus(name string, condition corev1.ComponentCondition) *corev1.ComponentStatus {
	return &corev1.ComponentStatus{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Conditions: []corev1.ComponentCondition{condition},
	}
}

// absent returns the condition of a component that does not run on the host of kube-apiserver. None
// runs here, so the component is not contacted.
func absent(port string) corev1.ComponentCondition {
	return corev1.ComponentCondition{
		Type:   corev1.ComponentHealthy,
		Status: corev1.ConditionFalse,
		Message: `Get "https://127.0.0.1:` + port + `/healthz": dial tcp 127.0.0.1:` + port +
			`: connect: connection refused`,
	}
}

// storageCondition reads an object. Either it or NotFound shows that the storage answers.
func storageCondition(ctx context.Context, lookup registry.Lookup) corev1.ComponentCondition {
	condition := corev1.ComponentCondition{Type: corev1.ComponentHealthy, Status: corev1.ConditionTrue, Message: "ok"}
	namespaces, ok := lookup.Store(corev1.Resource("namespaces"))
	if !ok {
		return condition
	}
	if _, err := namespaces.Get(ctx, "", metav1.NamespaceDefault, ""); err != nil && !apierrors.IsNotFound(err) {
		condition.Status, condition.Message, condition.Error = corev1.ConditionFalse, "", err.Error()
	}
	return condition
}

func componentHealth(component *corev1.ComponentStatus) any {
	switch healthCondition(component).Status {
	case "":
		return "Unknown"
	case corev1.ConditionTrue:
		return "Healthy"
	default:
		return "Unhealthy"
	}
}

// healthCondition returns the zero condition for a component without one.
func healthCondition(component *corev1.ComponentStatus) corev1.ComponentCondition {
	for _, condition := range component.Conditions {
		if condition.Type == corev1.ComponentHealthy {
			return condition
		}
	}
	return corev1.ComponentCondition{}
}
