package core

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// The defaults of the smaller kinds; those of pods and services have files of
// their own, and those of claims, which templates have too, are in
// kinds/podspec. ConfigMaps, Events and ServiceAccounts have none.

func defaultPodTemplate(t *corev1.PodTemplate) { podspec.DefaultTemplate(&t.Template) }

// defaultReplicationController selects by the labels of the template, and has
// them itself.
func defaultReplicationController(r *corev1.ReplicationController) {
	kind.SetDefaultPointer(&r.Spec.Replicas, 1)
	if r.Spec.Template == nil {
		return
	}
	podspec.DefaultTemplate(r.Spec.Template)
	labels := r.Spec.Template.Labels
	if len(r.Spec.Selector) == 0 && labels != nil {
		r.Spec.Selector = maps.Clone(labels)
	}
	if len(r.Labels) == 0 && labels != nil {
		r.Labels = maps.Clone(labels)
	}
}

// defaultSecret also moves stringData, which is never stored, into data.
func defaultSecret(s *corev1.Secret) {
	kind.SetDefault(&s.Type, corev1.SecretTypeOpaque)
	if len(s.StringData) > 0 && s.Data == nil {
		s.Data = make(map[string][]byte, len(s.StringData))
	}
	for k, v := range s.StringData {
		s.Data[k] = []byte(v)
	}
	s.StringData = nil
}

func defaultEndpoints(e *corev1.Endpoints) {
	for i := range e.Subsets {
		ports := e.Subsets[i].Ports
		for j := range ports {
			kind.SetDefault(&ports[j].Protocol, corev1.ProtocolTCP)
		}
	}
}

func defaultNamespace(n *corev1.Namespace) {
	labelNamespace(n)
	kind.SetDefault(&n.Status.Phase, corev1.NamespaceActive)
}

// defaultNode gives to pods what the node has, unless it keeps some back.
func defaultNode(n *corev1.Node) {
	if len(n.Status.Allocatable) == 0 && n.Status.Capacity != nil {
		n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	}
	podspec.RoundUp(n.Status.Capacity)
	podspec.RoundUp(n.Status.Allocatable)
	defaultPodCIDRs(&n.Spec)
}

// defaultPodCIDRs makes the one range the first of the list, and the reverse.
// Where they differ the one range counts.
func defaultPodCIDRs(spec *corev1.NodeSpec) {
	switch {
	case spec.PodCIDR != "" && (len(spec.PodCIDRs) == 0 || spec.PodCIDRs[0] != spec.PodCIDR):
		spec.PodCIDRs = []string{spec.PodCIDR}
	case spec.PodCIDR == "" && len(spec.PodCIDRs) > 0:
		spec.PodCIDR = spec.PodCIDRs[0]
	}
}

func defaultPersistentVolume(v *corev1.PersistentVolume) {
	kind.SetDefault(&v.Status.Phase, corev1.VolumePending)
	kind.SetDefault(&v.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	kind.SetDefaultPointer(&v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	podspec.DefaultVolumeSpec(&v.Spec)
}

// defaultLimitRange lets what a container may have at most or must have at
// least stand in for what it gets if it asks for nothing.
func defaultLimitRange(l *corev1.LimitRange) {
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		if item.Type == corev1.LimitTypeContainer {
			item.Default = fillResources(item.Default, item.Max)
			item.DefaultRequest = fillResources(item.DefaultRequest, item.Default)
			item.DefaultRequest = fillResources(item.DefaultRequest, item.Min)
		}
		for _, list := range []corev1.ResourceList{item.Max, item.Min, item.Default, item.DefaultRequest, item.MaxLimitRequestRatio} {
			podspec.RoundUp(list)
		}
	}
}

func defaultResourceQuota(q *corev1.ResourceQuota) {
	podspec.RoundUp(q.Spec.Hard)
	podspec.RoundUp(q.Status.Hard)
	podspec.RoundUp(q.Status.Used)
}
