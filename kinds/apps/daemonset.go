package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func daemonSets() *registry.Resource {
	return kind.Definition[*appsv1.DaemonSet]{
		GroupVersion:             appsv1.SchemeGroupVersion,
		Object:                   &appsv1.DaemonSet{},
		List:                     &appsv1.DaemonSetList{},
		Resource:                 "daemonsets",
		ShortNames:               []string{"ds"},
		Categories:               []string{"all"},
		Namespaced:               true,
		Generation:               true,
		Status:                   true,
		Default:                  defaultDaemonSet,
		Restore:                  defaultDaemonSet,
		PrepareForCreate:         prepareDaemonSet,
		ValidateCreate:           validateDaemonSet,
		WarningsOnCreate:         warningsForDaemonSet,
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         prepareDaemonSetUpdate,
		ValidateUpdate:           validateDaemonSetUpdate,
		WarningsOnUpdate:         kind.OncePerGeneration(warningsForDaemonSet),
		PrepareForStatusUpdate:   keepTemplateGeneration,
		ValidateStatusUpdate:     validateDaemonSetStatus,
		Columns:                  daemonSetColumns(),
		Metadata:                 withoutTemplateGeneration,
	}.Build()
}

func prepareDaemonSet(d *appsv1.DaemonSet) {
	podspec.DropDisabledOfTemplate(&d.Spec.Template, nil)
	startTemplateGeneration(d)
}

func prepareDaemonSetUpdate(d, old *appsv1.DaemonSet) {
	podspec.DropDisabledOfTemplate(&d.Spec.Template, &old.Spec.Template)
	countTemplateGeneration(d, old)
}

func daemonSetColumns() []kind.Column[*appsv1.DaemonSet] {
	spec, status := appsv1.DaemonSetSpec{}.SwaggerDoc(), appsv1.DaemonSetStatus{}.SwaggerDoc()
	return []kind.Column[*appsv1.DaemonSet]{
		kind.NameColumn[*appsv1.DaemonSet](),
		{
			Name: "Desired", Type: "integer",
			Description: status["desiredNumberScheduled"],
			Cell:        func(d *appsv1.DaemonSet) any { return int64(d.Status.DesiredNumberScheduled) },
		},
		{
			Name: "Current", Type: "integer",
			Description: status["currentNumberScheduled"],
			Cell:        func(d *appsv1.DaemonSet) any { return int64(d.Status.CurrentNumberScheduled) },
		},
		{
			Name: "Ready", Type: "integer",
			Description: status["numberReady"],
			Cell:        func(d *appsv1.DaemonSet) any { return int64(d.Status.NumberReady) },
		},
		{
			Name: "Up-to-date", Type: "integer",
			Description: status["updatedNumberScheduled"],
			Cell:        func(d *appsv1.DaemonSet) any { return int64(d.Status.UpdatedNumberScheduled) },
		},
		{
			Name: "Available", Type: "integer",
			Description: status["numberAvailable"],
			Cell:        func(d *appsv1.DaemonSet) any { return int64(d.Status.NumberAvailable) },
		},
		{
			Name:        "Node Selector",
			Description: corev1.PodSpec{}.SwaggerDoc()["nodeSelector"],
			Cell:        func(d *appsv1.DaemonSet) any { return labels.FormatLabels(d.Spec.Template.Spec.NodeSelector) },
		},
		kind.AgeColumn[*appsv1.DaemonSet](),
		kind.ContainersColumn(daemonSetContainers),
		kind.ImagesColumn(daemonSetContainers),
		{
			Name: "Selector", Priority: kind.Wide,
			Description: spec["selector"],
			Cell:        func(d *appsv1.DaemonSet) any { return metav1.FormatLabelSelector(d.Spec.Selector) },
		},
	}
}

func daemonSetContainers(d *appsv1.DaemonSet) []corev1.Container {
	return d.Spec.Template.Spec.Containers
}
