package kind

import (
	"fmt"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WarningsForName returns warnings for kinds whose names become part of the names of pods.
func WarningsForName(name string) []string {
	messages := utilvalidation.IsDNS1123Label(name)
	if len(messages) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, "+
		"which can result in surprising behavior; a DNS label is recommended: %v", messages)}
}

// WarningsForNodeLabel returns warnings for labels of nodes that have new names.
func WarningsForNodeLabel(at *field.Path, label string) []string {
	var since, now string
	switch label {
	case "beta.kubernetes.io/arch":
		since, now = "v1.14", "kubernetes.io/arch"
	case "beta.kubernetes.io/os":
		since, now = "v1.14", "kubernetes.io/os"
	case "failure-domain.beta.kubernetes.io/region":
		since, now = "v1.17", "topology.kubernetes.io/region"
	case "failure-domain.beta.kubernetes.io/zone":
		since, now = "v1.17", "topology.kubernetes.io/zone"
	case "beta.kubernetes.io/instance-type":
		since, now = "v1.17", "node.kubernetes.io/instance-type"
	default:
		return nil
	}
	return []string{fmt.Sprintf("%s: deprecated since %s; use %q instead", at, since, now)}
}

// OncePerGeneration returns the function WarningsOnUpdate of a kind whose warnings are not repeated
// by updates that keep the generation.
func OncePerGeneration[T Object](warnings func(obj T) []string) func(obj, old T) []string {
	return func(obj, old T) []string {
		if obj.GetGeneration() == old.GetGeneration() {
			return nil
		}
		return warnings(obj)
	}
}
