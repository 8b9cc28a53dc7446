package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func daemonSets(features *feature.Set) *registry.Resource {
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
		GatedFields:              podspec.GatedFields("spec.template.spec"),
		PrepareForCreate:         startTemplateGeneration,
		ValidateCreate:           func(d *appsv1.DaemonSet) field.ErrorList { return validateDaemonSet(d, features) },
		WarningsOnCreate:         warningsForDaemonSet,
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         countTemplateGeneration,
		ValidateUpdate:           func(d, old *appsv1.DaemonSet) field.ErrorList { return validateDaemonSetUpdate(d, old, features) },
		WarningsOnUpdate:         kind.OncePerGeneration(warningsForDaemonSet),
		PrepareForStatusUpdate:   keepTemplateGeneration,
		ValidateStatusUpdate:     validateDaemonSetStatus,
		Empty:                    emptyDaemonSet,
		Columns:                  daemonSetColumns(),
		Metadata:                 withoutTemplateGeneration,
	}.Build(features)
}

func daemonSetColumns() []kind.Column[*appsv1.DaemonSet] {
	spec, status := appsv1.DaemonSetSpec{}.SwaggerDoc(), appsv1.DaemonSetStatus{}.SwaggerDoc()
	columns := kind.WorkloadColumns(daemonSetTemplate,
		kind.IntegerColumn("Desired", status["desiredNumberScheduled"],
			func(d *appsv1.DaemonSet) any { return int64(d.Status.DesiredNumberScheduled) }),
		kind.IntegerColumn("Current", status["currentNumberScheduled"],
			func(d *appsv1.DaemonSet) any { return int64(d.Status.CurrentNumberScheduled) }),
		kind.IntegerColumn("Ready", status["numberReady"],
			func(d *appsv1.DaemonSet) any { return int64(d.Status.NumberReady) }),
		kind.IntegerColumn("Up-to-date", status["updatedNumberScheduled"],
			func(d *appsv1.DaemonSet) any { return int64(d.Status.UpdatedNumberScheduled) }),
		kind.IntegerColumn("Available", status["numberAvailable"],
			func(d *appsv1.DaemonSet) any { return int64(d.Status.NumberAvailable) }),
		kind.TextColumn("Node Selector", corev1.PodSpec{}.SwaggerDoc()["nodeSelector"],
			func(d *appsv1.DaemonSet) any { return labels.FormatLabels(d.Spec.Template.Spec.NodeSelector) }),
	)
	return append(columns, kind.WideColumn("Selector", spec["selector"],
		func(d *appsv1.DaemonSet) any { return metav1.FormatLabelSelector(d.Spec.Selector) }))
}

func daemonSetTemplate(d *appsv1.DaemonSet) *corev1.PodTemplateSpec { return &d.Spec.Template }
