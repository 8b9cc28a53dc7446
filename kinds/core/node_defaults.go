package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/podspec"
)

// The defaults of the smaller kinds; those of pods and services have files of
// their own, and those of claims, which templates have too, are in
// kinds/podspec. ConfigMaps, Events and ServiceAccounts have none.

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
