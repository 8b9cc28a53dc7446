package core

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func nodes() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.Node{},
		List:         &corev1.NodeList{},
		Resource:     "nodes",
		StoragePath:  "minions",
		ShortNames:   []string{"no"},
		Status:       true,
		// A kubelet registers its node together with the status.
		StatusOnCreate: true,
		Default:        kind.Defaults(defaultNode),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  kind.OnCreate(func(n *corev1.Node) { n.Spec.ConfigSource, n.Status.Config = nil, nil }),
				Validate: kind.CheckCreate(validateNode), Warnings: kind.WarnCreate(warnOfNode),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            kind.OnUpdate(dropConfigSource),
				Validate:           kind.CheckUpdate(validateNodeUpdate), Warnings: kind.WarnAgain(warnOfNode),
			},
		},
		StatusStrategy: registry.UpdateStrategy{
			Prepare:  kind.OnUpdate(dropNodeConfig),
			Validate: kind.CheckUpdate(validateNodeStatus),
		},
		FieldLabel: kind.FieldLabels("metadata.name", "spec.unschedulable"),
		Fields: kind.Fields(func(n *corev1.Node) fields.Set {
			return fields.Set{"spec.unschedulable": strconv.FormatBool(n.Spec.Unschedulable)}
		}),
		Columns:      registry.Columns{Definitions: nodeColumns(), Row: kind.Row(nodeRow)},
		Subresources: []registry.Subresource{nodeProxy()},
	}.Build()
}

// dropConfigSource leaves it to the nodes that have one: there are no kubelets
// any more that would configure themselves from it.
func dropConfigSource(n, old *corev1.Node) {
	if old.Spec.ConfigSource == nil {
		n.Spec.ConfigSource = nil
	}
}

func dropNodeConfig(n, old *corev1.Node) {
	if old.Status.Config == nil {
		n.Status.Config = nil
	}
}

func nodeColumns() []metav1.TableColumnDefinition {
	status, info := corev1.NodeStatus{}.SwaggerDoc(), corev1.NodeSystemInfo{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Status", "string", "The status of the node"),
		kind.Column("Roles", "string", "The roles of the node"),
		kind.AgeColumn(),
		kind.Column("Version", "string", info["kubeletVersion"]),
		kind.WideColumn("Internal-IP", "string", status["addresses"]),
		kind.WideColumn("External-IP", "string", status["addresses"]),
		kind.WideColumn("OS-Image", "string", info["osImage"]),
		kind.WideColumn("Kernel-Version", "string", info["kernelVersion"]),
		kind.WideColumn("Container-Runtime", "string", info["containerRuntimeVersion"]),
	}
}

func nodeRow(n *corev1.Node) []any {
	const unknown = "<unknown>"
	info := n.Status.NodeInfo
	return []any{
		n.Name, nodeReadiness(n), nodeRoles(n), kind.Age(n.CreationTimestamp), info.KubeletVersion,
		cmp.Or(nodeAddress(n, corev1.NodeInternalIP), kind.None),
		cmp.Or(nodeAddress(n, corev1.NodeExternalIP), kind.None),
		cmp.Or(info.OSImage, unknown), cmp.Or(info.KernelVersion, unknown), cmp.Or(info.ContainerRuntimeVersion, unknown),
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
