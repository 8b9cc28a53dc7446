package podspec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestVolumes(t *testing.T) {
	volume := func(v corev1.VolumeSource) func(*corev1.PodSpec, *corev1.Container) {
		return func(s *corev1.PodSpec, _ *corev1.Container) {
			s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: v}}
		}
	}
	testRules(t, []rule{
		{"host paths and their types are valid", volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/a/../b", Type: new(corev1.HostPathType("x"))}}),
			[]string{
				`spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain '..'`,
				`spec.volumes[0].hostPath.type: Unsupported value: "x": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"`,
			}},
		{"items have keys, relative paths and modes", volume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "m"}, DefaultMode: new(int32(0o1000)),
			Items: []corev1.KeyToPath{{Key: "a", Path: "..b"}, {Path: "/c"}},
		}}), []string{
			`spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`,
			`spec.volumes[0].configMap.items[0].path: Invalid value: "..b": must not start with '..'`,
			`spec.volumes[0].configMap.items[1].key: Required value`,
			`spec.volumes[0].configMap.items[1].path: Invalid value: "/c": must be a relative path`,
		}},
		{"paths of projected sources are unique", volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Items: []corev1.KeyToPath{{Key: "a", Path: "p"}}}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "m"}, Items: []corev1.KeyToPath{{Key: "a", Path: "p"}}}},
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t", ExpirationSeconds: new(int64(1))}, DownwardAPI: &corev1.DownwardAPIProjection{}},
		}}}), []string{
			`spec.volumes[0].projected: Invalid value: "m": conflicting duplicate paths`,
			`spec.volumes[0].projected.sources[2].serviceAccountToken.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes`,
			`spec.volumes[0].projected.sources[2]: Forbidden: may not specify more than 1 volume type per source`,
		}},
		{"downward API fields are supported", volume(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "a", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}},
			{Path: "b", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}},
			{Path: "c", ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}, {Path: "d"},
		}}}), []string{
			`spec.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", ` +
				`"metadata.name", "metadata.namespace", "metadata.uid"`,
			`spec.volumes[0].downwardAPI.resourceFieldRef.containerName: Required value`,
			`spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required`,
		}},
		{"ephemeral claim templates are validated", volume(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		}}), []string{
			`spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set`,
			`spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required`,
			`spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value`,
		}},
		{"CSI drivers have a name in any case", volume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "A.b", NodePublishSecretRef: &corev1.LocalObjectReference{}}}),
			[]string{`spec.volumes[0].csi.nodePublishSecretRef.name: Required value`}},
		{"image volumes of templates need no reference", volume(corev1.VolumeSource{Image: &corev1.ImageVolumeSource{}}), nil},
		{"iSCSI names have one of three formats", volume(corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{
			TargetPortal: "p", IQN: "iqn.x", Lun: 256, InitiatorName: new("x"), SessionCHAPAuth: true,
		}}), []string{
			`spec.volumes[0].iscsi.iqn: Invalid value: "iqn.x": must be valid format`,
			`spec.volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive`,
			`spec.volumes[0].iscsi.secretRef: Required value`,
			`spec.volumes[0].iscsi.initiatorname: Invalid value: "x": must be valid format starting with iqn, eui, or naa`,
		}},
	})
}

func newPod() *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	podspec.Default(&p.Spec)
	return p
}

// TestPods covers the rules that do not hold for templates.
func TestPods(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*corev1.Pod)
		want   []string
	}{
		{"images have no surrounding spaces", func(p *corev1.Pod) { p.Spec.Containers[0].Image = " i" },
			[]string{`spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace`}},
		{"token volumes need a service account", func(p *corev1.Pod) {
			token := &corev1.ServiceAccountTokenProjection{Path: "t"}
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ServiceAccountToken: token}}},
			}}}
		}, []string{`spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set`}},
		{"ephemeral volumes are not claims of other names", func(p *corev1.Pod) {
			template := &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			}}
			p.Spec.Volumes = []corev1.Volume{
				{Name: "a", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: template}}},
				{Name: "b", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p-a"}}},
			}
		}, []string{`spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-a": must not reference a PVC that gets created for an ephemeral volume`}},
		{"annotations are valid", func(p *corev1.Pod) {
			p.Annotations = map[string]string{
				corev1.PodDeletionCost: "+1", corev1.MirrorPodAnnotationKey: "m", corev1.SeccompPodAnnotationKey: "x",
				corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + "d": "unconfined",
			}
		}, []string{
			`metadata.annotations[container.apparmor.security.beta.kubernetes.io/d]: Invalid value: "d": container not found`,
			`metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer`,
			`metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "m": must set spec.nodeName if mirror pod annotation is set`,
			`metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "x": must be a valid seccomp profile`,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPod()
			tc.change(p)
			podspec.Default(&p.Spec)
			if diff := cmp.Diff(tc.want, registrytest.Texts(podspec.ValidatePod(p, feature.Default()))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestProfilesInAnnotationsAndFieldsAgree(t *testing.T) {
	p := newPod()
	p.Spec.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	p.Spec.SecurityContext.AppArmorProfile = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: new("a")}
	p.Annotations = map[string]string{
		corev1.SeccompPodAnnotationKey:                                  corev1.SeccompProfileNameUnconfined,
		corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + "c": "localhost/b",
	}
	want := []string{
		`spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match`,
		`spec.containers[0].securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match`,
	}
	if diff := cmp.Diff(want, registrytest.Texts(podspec.ValidateProfiles(p.Annotations, &p.Spec, field.NewPath("spec")))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPersistentVolumes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*corev1.PersistentVolumeSpec)
		want   []string
	}{
		{"one source", func(*corev1.PersistentVolumeSpec) {}, nil},
		{"a source is required", func(v *corev1.PersistentVolumeSpec) { v.NFS = nil }, []string{`spec: Required value: must specify a volume type`}},
		{"a second source is rejected", func(v *corev1.PersistentVolumeSpec) { v.Local = &corev1.LocalVolumeSource{} },
			[]string{`spec.local: Forbidden: may not specify more than 1 volume type`}},
		{"local volumes need node affinity", func(v *corev1.PersistentVolumeSpec) { v.NFS, v.Local = nil, &corev1.LocalVolumeSource{Path: "/a"} },
			[]string{`spec.nodeAffinity: Required value: Local volume requires node affinity`}},
		{"capacity is storage only and positive", func(v *corev1.PersistentVolumeSpec) { v.Capacity = quantities("0") }, []string{
			`spec.capacity: Unsupported value: {"cpu":"0"}: supported values: "storage"`,
			`spec.capacity[cpu]: Invalid value: "0": must be greater than zero`,
		}},
		{"ReadWriteOncePod excludes other modes", func(v *corev1.PersistentVolumeSpec) {
			v.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod, corev1.ReadOnlyMany}
		}, []string{`spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := &corev1.PersistentVolumeSpec{
				AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				PersistentVolumeSource:        corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/"}},
				PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			}
			tc.change(v)
			if diff := cmp.Diff(tc.want, registrytest.Texts(podspec.ValidateVolumeSpec(v, "v", field.NewPath("spec")))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
