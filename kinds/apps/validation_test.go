package apps

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// defaulted validates objects after defaulting.
func defaulted[T any](fill func(T), validate func(T, *feature.Set) field.ErrorList) func(T) field.ErrorList {
	return func(obj T) field.ErrorList {
		fill(obj)
		return validate(obj, feature.Default())
	}
}

func newDeployment() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: meta(), Spec: appsv1.DeploymentSpec{Selector: selector(), Template: pods()}}
}

func newDaemonSet() *appsv1.DaemonSet {
	return &appsv1.DaemonSet{ObjectMeta: meta(), Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: pods()}}
}

func newStatefulSet() *appsv1.StatefulSet {
	return &appsv1.StatefulSet{ObjectMeta: meta(), Spec: appsv1.StatefulSetSpec{Selector: selector(), Template: pods()}}
}

// claims returns claim templates for volumes of these names.
func claims(names ...string) []corev1.PersistentVolumeClaim {
	list := make([]corev1.PersistentVolumeClaim, len(names))
	for i, name := range names {
		list[i].Name = name
		list[i].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		list[i].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	}
	return list
}

func TestDeployments(t *testing.T) {
	rolls := func(unavailable, surge string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{
				MaxUnavailable: new(intstr.Parse(unavailable)), MaxSurge: new(intstr.Parse(surge)),
			}
		}
	}
	const unavailable = "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "
	check := registrytest.Rules(t, newDeployment, defaulted(defaultDeployment, validateDeployment))
	check("an empty spec", func(d *appsv1.Deployment) { d.Spec = appsv1.DeploymentSpec{} },
		"spec.selector: Required value",
		"spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
		"spec.template.spec.containers: Required value")
	check("the restart policy is Always", func(d *appsv1.Deployment) { d.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever },
		`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`)
	check("an empty selector is rejected", func(d *appsv1.Deployment) { d.Spec.Selector = &metav1.LabelSelector{} },
		"spec.selector: Invalid value: {}: empty selector is invalid for deployment")
	check("replicas are not negative", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(-1)) },
		"spec.replicas: Invalid value: -1: must be greater than or equal to 0")
	check("Recreate has no rolling update", func(d *appsv1.Deployment) {
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{}}
	}, "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'")
	check("strategies are known", func(d *appsv1.Deployment) { d.Spec.Strategy.Type = "Jump" },
		`spec.strategy: Unsupported value: {"Type":"Jump","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"`)
	check("maxUnavailable and maxSurge are not both 0", rolls("0", "0"), unavailable+"0: may not be 0 when `maxSurge` is 0")
	check("percentages are not both 0", rolls("0%", "0"), unavailable+`"0%": may not be 0 when `+"`maxSurge` is 0")
	check("maxUnavailable is at most 100%", rolls("101%", "1"), unavailable+`"101%": must not be greater than 100%`)
	check("maxSurge may exceed 100%", rolls("0", "200%"))
	check("a string is a percentage", rolls("some", "1"),
		unavailable+`"some": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`)
	check("the progress deadline exceeds minReadySeconds", func(d *appsv1.Deployment) {
		d.Spec.MinReadySeconds, d.Spec.ProgressDeadlineSeconds = 5, new(int32(5))
	}, "spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds")
}

func TestDaemonSets(t *testing.T) {
	rolls := func(unavailable, surge int32) func(*appsv1.DaemonSet) {
		return func(d *appsv1.DaemonSet) {
			d.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{
				MaxUnavailable: new(intstr.FromInt32(unavailable)), MaxSurge: new(intstr.FromInt32(surge)),
			}
		}
	}
	const at = "spec.updateStrategy.rollingUpdate"
	check := registrytest.Rules(t, newDaemonSet, defaulted(defaultDaemonSet, validateDaemonSet))
	check("maxUnavailable only", rolls(1, 0))
	check("maxSurge only", rolls(0, 1))
	check("maxSurge and maxUnavailable are not both set", rolls(1, 1), at+".maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero")
	check("maxSurge and maxUnavailable are not both 0", rolls(0, 0), at+".maxUnavailable: Required value: cannot be 0 when maxSurge is 0")
	check("strategies are known", func(d *appsv1.DaemonSet) { d.Spec.UpdateStrategy.Type = "Jump" },
		`spec.updateStrategy: Unsupported value: {"Type":"Jump","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"`)
	check("selector is required", func(d *appsv1.DaemonSet) { d.Spec.Selector = nil },
		"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`")
}

func TestStatefulSets(t *testing.T) {
	check := registrytest.Rules(t, newStatefulSet, defaulted(func(s *appsv1.StatefulSet) { defaultStatefulSet(s, feature.Default()) }, validateNewStatefulSet))
	mount := func(s *appsv1.StatefulSet) {
		s.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	}
	check("mounted volumes exist", mount, `spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"`)
	check("claim templates are volumes", func(s *appsv1.StatefulSet) {
		mount(s)
		s.Spec.VolumeClaimTemplates = claims("data", "data")
	})
	check("claim templates replace volumes of the same name", func(s *appsv1.StatefulSet) {
		s.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}}}
		s.Spec.VolumeClaimTemplates = claims("data")
	})
	check("a claim requests storage", func(s *appsv1.StatefulSet) {
		s.Spec.VolumeClaimTemplates = claims("data")
		s.Spec.VolumeClaimTemplates[0].Spec.Resources = corev1.VolumeResourceRequirements{}
	}, "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value")
	check("pods have no host name", func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Hostname = "a.b" })
	check("selector is required", func(s *appsv1.StatefulSet) { s.Spec.Selector = nil },
		"spec.selector: Required value",
		"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`")
	check("pod management policies are known", func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = "Odd" },
		`spec.podManagementPolicy: Invalid value: "Odd": must be 'OrderedReady' or 'Parallel'`)
	check("OnDelete has no rolling update", func(s *appsv1.StatefulSet) {
		s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{
			Type: appsv1.OnDeleteStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{},
		}
	}, `spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":0,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate'`)
	check("the partition is not negative and maxUnavailable is positive", func(s *appsv1.StatefulSet) {
		s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: new(intstr.FromInt32(0))}
	}, "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0")
	check("maxUnavailable is a number or a percentage", func(s *appsv1.StatefulSet) {
		s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: new(intstr.FromString("1"))}
	}, `spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "1": a valid percent string must be a numeric string `+
		`followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`)
	check("retention policies are known", func(s *appsv1.StatefulSet) {
		s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: "Sell"}
	}, `spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Sell": supported values: "Retain", "Delete"`)
	check("the first ordinal is not negative", func(s *appsv1.StatefulSet) { s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: -1} },
		"spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0")
	check("serviceName is a DNS label", func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "a.b" },
		`spec.serviceName: Invalid value: "a.b": must not contain dots`)
}

func TestStatefulSetsRatchetErrors(t *testing.T) {
	faulty := func() *appsv1.StatefulSet {
		s := newStatefulSet()
		s.Spec.ServiceName, s.Spec.VolumeClaimTemplates = "a.b", make([]corev1.PersistentVolumeClaim, 1)
		s.Spec.Template.Spec.Hostname, s.Spec.Template.Spec.DNSPolicy = "a.b", "x"
		return s
	}
	sound := func() *appsv1.StatefulSet {
		s := newStatefulSet()
		s.Spec.ServiceName = "a.b"
		return s
	}
	update := func(old func() *appsv1.StatefulSet) func(*appsv1.StatefulSet) field.ErrorList {
		return func(s *appsv1.StatefulSet) field.ErrorList {
			was := old()
			defaultStatefulSet(s, feature.Default())
			defaultStatefulSet(was, feature.Default())
			return statefulSetUpdateValidation(feature.Default())(s, was)
		}
	}
	registrytest.Rules(t, faulty, update(faulty))("a template that follows an invalid spec is not validated", func(s *appsv1.StatefulSet) {
		s.Spec.Template.Spec.DNSPolicy = "y"
	})
	registrytest.Rules(t, sound, update(sound))("one that follows a sound one is", func(s *appsv1.StatefulSet) {
		s.Spec.Template.Spec.DNSPolicy = "y"
	}, `spec.template.spec.dnsPolicy: Unsupported value: "y": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`)
}

// A StatefulSet that has the strategy Recreate keeps it while the gate is disabled.
func TestRecreatedStatefulSets(t *testing.T) {
	enabled, err := feature.Config{Gates: map[string]bool{"StatefulSetRecreateStrategy": true}}.Set()
	if err != nil {
		t.Fatal(err)
	}
	const refused = `spec.updateStrategy: Invalid value: {"Type":"Recreate","RollingUpdate":null}: must be 'RollingUpdate' or 'OnDelete'`
	rolling, recreated := newStatefulSet(), newStatefulSet()
	recreated.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RecreateStatefulSetStrategyType}
	defaultStatefulSet(rolling, feature.Default())
	defaultStatefulSet(recreated, feature.Default())
	for name, tc := range map[string]struct {
		old      *appsv1.StatefulSet
		features *feature.Set
		want     []string
	}{
		"enabled":                {rolling, enabled, nil},
		"disabled":               {rolling, feature.Default(), []string{refused}},
		"disabled and in effect": {recreated, feature.Default(), nil},
	} {
		if got := registrytest.Texts(statefulSetUpdateValidation(tc.features)(recreated, tc.old)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestImmutableFieldsOfStatefulSets(t *testing.T) {
	old := newStatefulSet()
	changed := newStatefulSet()
	changed.Spec.ServiceName = "b"
	for release, want := range map[feature.Release]string{
		37: `spec.serviceName: Invalid value: "b": field is immutable`,
		36: "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
			"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
	} {
		validate := statefulSetUpdateValidation(feature.At(release))
		texts := registrytest.Texts(validate(changed, old))
		if len(texts) == 0 || texts[len(texts)-1] != want {
			t.Errorf("1.%d: %q, want %s", release, texts, want)
		}
	}
}

func TestRevisions(t *testing.T) {
	valid := func() *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{ObjectMeta: meta(), Data: runtime.RawExtension{Raw: []byte(`{"spec":{}}`)}}
	}
	check := registrytest.Rules(t, valid, validateNewRevision)
	check("data is required", func(r *appsv1.ControllerRevision) { r.Data.Raw = nil }, "data: Required value: data is mandatory")
	check("data is not null", func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte("null") }, "data: Required value: data is mandatory")
	check("data is an object", func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte("[]") }, "data: Required value: data must be a valid JSON object")
	check("revision is not negative", func(r *appsv1.ControllerRevision) { r.Revision = -1 }, "revision: Invalid value: -1: must be greater than or equal to 0")
}

func TestStatuses(t *testing.T) {
	d := newDeployment()
	d.Status = appsv1.DeploymentStatus{Replicas: 1, ReadyReplicas: 2, AvailableReplicas: 3, CollisionCount: new(int32(1))}
	old := d.DeepCopy()
	old.Status.CollisionCount = new(int32(2))
	want := []string{
		"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
		"status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
		"status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
		"status.collisionCount: Invalid value: 1: cannot be decremented",
	}
	if diff := cmp.Diff(want, registrytest.Texts(validateDeploymentStatus(d, old))); diff != "" {
		t.Errorf("deployment (-want +got):\n%s", diff)
	}
	s := newStatefulSet()
	s.Status = appsv1.StatefulSetStatus{Replicas: 1, AvailableReplicas: 1, CurrentReplicas: -1}
	want = []string{
		"status.currentReplicas: Invalid value: -1: must be greater than or equal to 0",
		"status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas",
	}
	if diff := cmp.Diff(want, registrytest.Texts(validateStatefulSetStatus(s, s))); diff != "" {
		t.Errorf("stateful set (-want +got):\n%s", diff)
	}
}
