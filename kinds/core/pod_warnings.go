package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func warningsForPod(p *corev1.Pod) []string {
	var warnings []string
	if messages := validation.IsDNS1123Label(p.Name); len(messages) > 0 {
		warnings = append(warnings, fmt.Sprintf("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", messages))
	}
	return append(warnings, podspec.Warnings(p)...)
}

func warningsForPodStatus(p *corev1.Pod) []string {
	var warnings []string
	at := field.NewPath("status")
	for i, ip := range p.Status.PodIPs {
		warnings = append(warnings, validation.GetWarningsForIP(at.Child("podIPs").Index(i).Child("ip"), ip.IP)...)
	}
	for i, ip := range p.Status.HostIPs {
		warnings = append(warnings, validation.GetWarningsForIP(at.Child("hostIPs").Index(i).Child("ip"), ip.IP)...)
	}
	return warnings
}
