package core

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func nodes(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.Node]{
		GroupVersion:         corev1.SchemeGroupVersion,
		Object:               &corev1.Node{},
		List:                 &corev1.NodeList{},
		Resource:             "nodes",
		GenerateNameOnUpdate: true,
		StoragePath:          "minions",
		ShortNames:           []string{"no"},
		Status:               true,
		// A kubelet creates its node together with the status.
		StatusOnCreate:           true,
		Default:                  defaultNode,
		Warnings:                 warningsForNode,
		PrepareForCreate:         func(_ context.Context, n *corev1.Node) { n.Spec.ConfigSource, n.Status.Config = nil, nil },
		ValidateCreate:           validateNode,
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         dropConfigSource,
		ValidateUpdate:           func(n, old *corev1.Node) field.ErrorList { return validateNodeUpdate(n, old, features) },
		PrepareForStatusUpdate:   dropNodeConfig,
		ValidateStatusUpdate:     func(n, old *corev1.Node) field.ErrorList { return validateNodeStatus(n, old, features) },
		GatedFields: kind.Gated(feature.InPlacePodVerticalScalingSchedulerPreemption, "spec.podPreemptionPolicy").And(
			kind.Gated(feature.NodeDeclaredFeatures, "status.declaredFeatures")).And(
			kind.Gated(feature.KubeletInUserNamespace, "status.nodeInfo.runningInUserNamespace")),
		FieldLabel: kind.FieldLabels("metadata.name", "spec.unschedulable"),
		Fields: func(n *corev1.Node) fields.Set {
			return fields.Set{"spec.unschedulable": strconv.FormatBool(n.Spec.Unschedulable)}
		},
		Columns:      nodeColumns(),
		Subresources: []registry.Subresource{nodeProxy()},
	}.Build(features)
}

// dropConfigSource drops the removed field spec.configSource, unless old has it.
func dropConfigSource(_ context.Context, n, old *corev1.Node) {
	if old.Spec.ConfigSource == nil {
		n.Spec.ConfigSource = nil
	}
}

func dropNodeConfig(_ context.Context, n, old *corev1.Node) {
	if old.Status.Config == nil {
		n.Status.Config = nil
	}
}

func nodeColumns() []kind.Column[*corev1.Node] {
	status, info := corev1.NodeStatus{}.SwaggerDoc(), corev1.NodeSystemInfo{}.SwaggerDoc()
	return []kind.Column[*corev1.Node]{
		kind.NameColumn[*corev1.Node](),
		kind.TextColumn("Status", "The status of the node", func(n *corev1.Node) any { return nodeReadiness(n) }),
		kind.TextColumn("Roles", "The roles of the node", func(n *corev1.Node) any { return nodeRoles(n) }),
		kind.AgeColumn[*corev1.Node](),
		kind.TextColumn("Version", info["kubeletVersion"],
			func(n *corev1.Node) any { return n.Status.NodeInfo.KubeletVersion }),
		kind.WideColumn("Internal-IP", status["addresses"],
			func(n *corev1.Node) any { return cmp.Or(nodeAddress(n, corev1.NodeInternalIP), kind.None) }),
		kind.WideColumn("External-IP", status["addresses"],
			func(n *corev1.Node) any { return cmp.Or(nodeAddress(n, corev1.NodeExternalIP), kind.None) }),
		kind.WideColumn("OS-Image", info["osImage"],
			func(n *corev1.Node) any { return cmp.Or(n.Status.NodeInfo.OSImage, unknownCell) }),
		kind.WideColumn("Kernel-Version", info["kernelVersion"],
			func(n *corev1.Node) any { return cmp.Or(n.Status.NodeInfo.KernelVersion, unknownCell) }),
		kind.WideColumn("Container-Runtime", info["containerRuntimeVersion"],
			func(n *corev1.Node) any { return cmp.Or(n.Status.NodeInfo.ContainerRuntimeVersion, unknownCell) }),
	}
}

func nodeReadiness(n *corev1.Node) string {
	words := []string{"Unknown"}
	for _, c := range n.Status.Conditions {
		switch {
		case c.Type != corev1.NodeReady:
		case c.Status == corev1.ConditionTrue:
			words[0] = string(corev1.NodeReady)
		default:
			words[0] = "Not" + string(corev1.NodeReady)
		}
	}
	if n.Spec.Unschedulable {
		words = append(words, "SchedulingDisabled")
	}
	return strings.Join(words, ",")
}

func nodeRoles(n *corev1.Node) string {
	var roles []string
	for label, value := range n.Labels {
		role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/")
		if label == "kubernetes.io/role" {
			role, ok = value, true
		}
		if ok && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return cmp.Or(strings.Join(slices.Compact(roles), ","), kind.None)
}

func nodeAddress(n *corev1.Node, kind corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == kind {
			return a.Address
		}
	}
	return ""
}

// unknownCell is the cell of a field that the kubelet has not set.
const unknownCell = "<unknown>"
