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
	return kind.Definition{
		GroupVersion: appsv1.SchemeGroupVersion,
		Object:       &appsv1.DaemonSet{},
		List:         &appsv1.DaemonSetList{},
		Resource:     "daemonsets",
		Finalizers:   kind.Finalizers,
		ShortNames:   []string{"ds"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		Default:      kind.Defaults(defaultDaemonSet),
		Restore:      kind.Defaults(defaultDaemonSet),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  kind.OnCreate(prepareDaemonSet),
				Validate: kind.CheckCreate(validateDaemonSet),
				Warnings: kind.WarnCreate(warnOfDaemonSet),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            kind.OnUpdate(prepareDaemonSetUpdate),
				Validate:           kind.CheckUpdate(validateDaemonSetUpdate),
				Warnings:           kind.WarnGeneration(warnOfDaemonSet),
			},
		},
		StatusStrategy: registry.UpdateStrategy{
			Prepare:  kind.OnUpdate(keepTemplateGeneration),
			Validate: kind.CheckUpdate(validateDaemonSetStatus),
		},
		Columns:  registry.Columns{Definitions: daemonSetColumns(), Row: kind.Row(daemonSetRow)},
		Metadata: withoutTemplateGeneration,
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

func daemonSetColumns() []metav1.TableColumnDefinition {
	spec, status := appsv1.DaemonSetSpec{}.SwaggerDoc(), appsv1.DaemonSetStatus{}.SwaggerDoc()
	columns := []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Desired", "integer", status["desiredNumberScheduled"]),
		kind.Column("Current", "integer", status["currentNumberScheduled"]),
		kind.Column("Ready", "integer", status["numberReady"]),
		kind.Column("Up-to-date", "integer", status["updatedNumberScheduled"]),
		kind.Column("Available", "integer", status["numberAvailable"]),
		kind.Column("Node Selector", "string", corev1.PodSpec{}.SwaggerDoc()["nodeSelector"]),
		kind.AgeColumn(),
	}
	columns = append(columns, kind.ContainerColumns()...)
	return append(columns, kind.WideColumn("Selector", "string", spec["selector"]))
}

func daemonSetRow(d *appsv1.DaemonSet) []any {
	names, images := kind.ContainerCells(d.Spec.Template.Spec.Containers)
	return []any{
		d.Name, int64(d.Status.DesiredNumberScheduled), int64(d.Status.CurrentNumberScheduled), int64(d.Status.NumberReady),
		int64(d.Status.UpdatedNumberScheduled), int64(d.Status.NumberAvailable),
		labels.FormatLabels(d.Spec.Template.Spec.NodeSelector), kind.Age(d.CreationTimestamp),
		names, images, metav1.FormatLabelSelector(d.Spec.Selector),
	}
}
