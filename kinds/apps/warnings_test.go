package apps

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestTemplateWarningsOncePerGeneration(t *testing.T) {
	template := pods()
	template.Spec.TerminationGracePeriodSeconds = new(int64(-1))
	const gone = "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
	const name = "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; " +
		"a DNS label is recommended: [must not contain dots]"
	const history = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
	dotted := meta()
	dotted.Name = "a.b"
	for about, tc := range map[string]struct {
		resource             *registry.Resource
		obj                  runtime.Object
		create, touch, raise []string
	}{
		"Deployment": {
			deployments(feature.Default()), &appsv1.Deployment{ObjectMeta: dotted, Spec: appsv1.DeploymentSpec{Selector: selector(), Template: template}},
			[]string{name, gone}, nil, []string{gone},
		},
		"ReplicaSet": {
			replicaSets(feature.Default()), &appsv1.ReplicaSet{ObjectMeta: dotted, Spec: appsv1.ReplicaSetSpec{Selector: selector(), Template: template}},
			[]string{name, gone}, nil, []string{gone},
		},
		"DaemonSet": {
			daemonSets(feature.Default()), &appsv1.DaemonSet{ObjectMeta: dotted, Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: template}},
			[]string{gone}, nil, []string{gone},
		},
		"StatefulSet, whose history is mentioned always": {
			statefulSets(feature.Default()), &appsv1.StatefulSet{ObjectMeta: meta(), Spec: appsv1.StatefulSetSpec{
				Selector: selector(), Template: template, RevisionHistoryLimit: new(int32(-1)),
			}},
			[]string{gone, history}, []string{history}, []string{gone, history},
		},
	} {
		t.Run(about, func(t *testing.T) {
			w := warned{registrytest.New(t, nil, tc.resource), tc.resource.GroupResource().String()}
			for step, pair := range map[string]struct{ want, got []string }{
				"a new one":        {tc.create, w.create(tc.obj)},
				"another label":    {tc.touch, w.update(tc.obj, func(obj runtime.Object) { registrytest.Meta(obj).SetLabels(selector().MatchLabels) })},
				"another template": {tc.raise, w.update(tc.obj, func(obj runtime.Object) { templateOf(obj).Spec.SchedulerName = "other" })},
			} {
				if diff := cmp.Diff(pair.want, pair.got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", step, diff)
				}
			}
		})
	}
}

func templateOf(obj runtime.Object) *corev1.PodTemplateSpec {
	switch x := obj.(type) {
	case *appsv1.Deployment:
		return &x.Spec.Template
	case *appsv1.ReplicaSet:
		return &x.Spec.Template
	case *appsv1.DaemonSet:
		return &x.Spec.Template
	default:
		return &x.(*appsv1.StatefulSet).Spec.Template
	}
}

// warned creates and updates objects of a resource and returns the warnings.
type warned struct {
	*registrytest.Env
	resource string
}

func (w warned) create(obj runtime.Object) []string {
	w.Helper()
	obj = obj.DeepCopyObject()
	w.Default(w.resource, obj)
	ctx, warnings := registry.WithWarnings(w.Context())
	if _, err := w.Store(w.resource).Create(ctx, registry.CreateRequest{Namespace: "default", Object: obj}); err != nil {
		w.Fatal(err)
	}
	return warnings.List()
}

func (w warned) update(obj runtime.Object, change func(runtime.Object)) []string {
	w.Helper()
	ctx, warnings := registry.WithWarnings(w.Context())
	_, err := w.Store(w.resource).Update(ctx, registry.UpdateRequest{
		Namespace: "default",
		Name:      registrytest.Meta(obj).GetName(),
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.DeepCopyObject()
			change(next)
			return next, nil
		},
	})
	if err != nil {
		w.Fatal(err)
	}
	return warnings.List()
}
