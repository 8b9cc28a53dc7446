package podspec

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

// gatedPart is a part of a pod spec that writes lose while its gate is disabled, unless the stored
// spec has it. Its fields may occur several times.
type gatedPart struct {
	gate feature.Gate
	// visit calls f with a pointer to each of the fields.
	visit func(spec *corev1.PodSpec, f func(pointer any))
}

var gatedParts = []gatedPart{
	{feature.GenericWorkload, func(s *corev1.PodSpec, f func(any)) { f(&s.SchedulingGroup) }},
	{feature.EvictionRequestAPI, func(s *corev1.PodSpec, f func(any)) { f(&s.EvictionResponders) }},
	{feature.ContainerStopSignals, visitStopSignals},
	{feature.VolumeBindMountOptions, visitMountOptions},
	{feature.GRPCContainerProbeTLS, visitGRPCModes},
	{feature.H2CContainerProbe, visitHTTPProtocols},
	{feature.EmptyDirVolumeMode, visitEmptyDirModes},
	{feature.ClusterTrustBundleProjection, func(s *corev1.PodSpec, f func(any)) {
		visitProjections(s, func(p *corev1.VolumeProjection) { f(&p.ClusterTrustBundle) })
	}},
	{feature.PodCertificateRequest, func(s *corev1.PodSpec, f func(any)) {
		visitProjections(s, func(p *corev1.VolumeProjection) { f(&p.PodCertificate) })
	}},
	{feature.AtomicWriteVolumeUserFields, visitVolumeUsers},
}

// GatedFields returns the gated fields of a kind with a pod spec. spec may return nil.
func GatedFields[T kind.Object](spec func(obj T) *corev1.PodSpec) []kind.GatedField[T] {
	list := make([]kind.GatedField[T], len(gatedParts))
	for i, part := range gatedParts {
		list[i] = kind.GatedField[T]{
			Gate: part.gate,
			Used: func(obj T) bool { return part.isUsed(spec(obj)) },
			Drop: func(obj T) { part.drop(spec(obj)) },
		}
	}
	return list
}

// GatedFieldsOfTemplate is GatedFields for a kind with a template. template may return nil.
func GatedFieldsOfTemplate[T kind.Object](template func(obj T) *corev1.PodTemplateSpec) []kind.GatedField[T] {
	return GatedFields(func(obj T) *corev1.PodSpec {
		if t := template(obj); t != nil {
			return &t.Spec
		}
		return nil
	})
}

// DropDisabled drops the fields of a spec whose gates are disabled, unless old has them.
func DropDisabled(features *feature.Set, spec, old *corev1.PodSpec) {
	for _, part := range gatedParts {
		if !features.Enabled(part.gate) && part.isUsed(spec) && !part.isUsed(old) {
			part.drop(spec)
		}
	}
}

func (p gatedPart) isUsed(spec *corev1.PodSpec) bool {
	used := false
	if spec != nil {
		p.visit(spec, func(pointer any) { used = used || !reflect.ValueOf(pointer).Elem().IsZero() })
	}
	return used
}

func (p gatedPart) drop(spec *corev1.PodSpec) {
	p.visit(spec, func(pointer any) { reflect.ValueOf(pointer).Elem().SetZero() })
	if p.gate == feature.ContainerStopSignals {
		dropEmptyLifecycles(spec)
	}
}

func visitStopSignals(spec *corev1.PodSpec, f func(any)) {
	visitContainers(spec, nil, func(c *corev1.Container, _ *field.Path) {
		if c.Lifecycle != nil {
			f(&c.Lifecycle.StopSignal)
		}
	})
}

func dropEmptyLifecycles(spec *corev1.PodSpec) {
	visitContainers(spec, nil, func(c *corev1.Container, _ *field.Path) {
		if c.Lifecycle != nil && *c.Lifecycle == (corev1.Lifecycle{}) {
			c.Lifecycle = nil
		}
	})
}

func visitMountOptions(spec *corev1.PodSpec, f func(any)) {
	visitContainers(spec, nil, func(c *corev1.Container, _ *field.Path) {
		for i := range c.VolumeMounts {
			f(&c.VolumeMounts[i].BindMountOptions)
		}
	})
}

func visitProbes(spec *corev1.PodSpec, visit func(p *corev1.Probe)) {
	visitContainers(spec, nil, func(c *corev1.Container, _ *field.Path) {
		for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
			if p != nil {
				visit(p)
			}
		}
	})
}

func visitGRPCModes(spec *corev1.PodSpec, f func(any)) {
	visitProbes(spec, func(p *corev1.Probe) {
		if p.GRPC != nil {
			f(&p.GRPC.Mode)
		}
	})
}

func visitHTTPProtocols(spec *corev1.PodSpec, f func(any)) {
	visitAction := func(a *corev1.HTTPGetAction) {
		if a != nil {
			f(&a.Protocol)
		}
	}
	visitProbes(spec, func(p *corev1.Probe) { visitAction(p.HTTPGet) })
	visitContainers(spec, nil, func(c *corev1.Container, _ *field.Path) {
		if c.Lifecycle == nil {
			return
		}
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				visitAction(h.HTTPGet)
			}
		}
	})
}

func visitEmptyDirModes(spec *corev1.PodSpec, f func(any)) {
	for i := range spec.Volumes {
		if dir := spec.Volumes[i].EmptyDir; dir != nil {
			f(&dir.Mode)
		}
	}
}

func visitProjections(spec *corev1.PodSpec, visit func(*corev1.VolumeProjection)) {
	for _, v := range spec.Volumes {
		if v.Projected != nil {
			for i := range v.Projected.Sources {
				visit(&v.Projected.Sources[i])
			}
		}
	}
}

// visitVolumeUsers visits the users that own the files of volumes.
func visitVolumeUsers(spec *corev1.PodSpec, f func(any)) {
	for i := range spec.Volumes {
		v := &spec.Volumes[i]
		if v.Secret != nil {
			f(&v.Secret.DefaultUser)
			visitKeyUsers(v.Secret.Items, f)
		}
		if v.ConfigMap != nil {
			f(&v.ConfigMap.DefaultUser)
			visitKeyUsers(v.ConfigMap.Items, f)
		}
		if v.DownwardAPI != nil {
			f(&v.DownwardAPI.DefaultUser)
			visitFileUsers(v.DownwardAPI.Items, f)
		}
		if v.Projected != nil {
			f(&v.Projected.DefaultUser)
		}
	}
	visitProjections(spec, func(p *corev1.VolumeProjection) { visitProjectionUsers(p, f) })
}

func visitProjectionUsers(p *corev1.VolumeProjection, f func(any)) {
	if p.Secret != nil {
		visitKeyUsers(p.Secret.Items, f)
	}
	if p.ConfigMap != nil {
		visitKeyUsers(p.ConfigMap.Items, f)
	}
	if p.DownwardAPI != nil {
		visitFileUsers(p.DownwardAPI.Items, f)
	}
	if p.ServiceAccountToken != nil {
		f(&p.ServiceAccountToken.User)
	}
	if p.ClusterTrustBundle != nil {
		f(&p.ClusterTrustBundle.User)
	}
	if p.PodCertificate != nil {
		f(&p.PodCertificate.User)
	}
}

func visitKeyUsers(items []corev1.KeyToPath, f func(any)) {
	for i := range items {
		f(&items[i].User)
	}
}

func visitFileUsers(items []corev1.DownwardAPIVolumeFile, f func(any)) {
	for i := range items {
		f(&items[i].User)
	}
}
