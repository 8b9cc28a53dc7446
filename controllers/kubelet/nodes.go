package kubelet

import (
	"context"
	"runtime"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

const (
	// nodeName is the node that is registered if there is none.
	nodeName = "miniapi"
	// hostIP is the address of nodes that have none.
	hostIP = "100.64.0.1"
	// kubeletVersion suits API servers of its release and of the following ones.
	kubeletVersion = "v1.36.0+miniapi"
)

// nodes makes nodes ready. It implements reconcile.Controller.
type nodes struct {
	*reconcile.Queue
	objects reconcile.Objects[*corev1.Node]
}

func newNodes(config reconcile.Config) *nodes {
	n := &nodes{objects: nodeObjects(config)}
	n.Queue = reconcile.NewQueue(config, reconcile.QueueConfig{Name: "nodes", Workers: 1, Reconcile: n.reconcile})
	return n
}

// Reset implements reconcile.Controller.
func (n *nodes) Reset() { n.Add(nodeName) }

// Handle implements reconcile.Controller.
func (n *nodes) Handle(change reconcile.Change) {
	if change.Located && change.Location.Store.Resource().GroupResource() == n.objects.Resource {
		n.Add(change.Location.Name)
	}
}

// reconcile makes a new node ready, and registers a node if there is none.
func (n *nodes) reconcile(ctx context.Context, name string) error {
	node, err := n.objects.Get(ctx, "", name)
	switch {
	case apierrors.IsNotFound(err):
		return n.register(ctx)
	case err != nil:
		return err
	case nodeCondition(node, corev1.NodeReady) != nil:
		return nil
	}
	ctx = asKubelet(ctx, name)
	// A node that is ready is left alone, so its taint is removed before.
	if node, err = n.objects.Update(ctx, node, removeNotReady); err != nil {
		return err
	}
	_, err = n.objects.UpdateStatus(ctx, node, func(node *corev1.Node) { makeReady(node, metav1.NewTime(registry.Now(ctx))) })
	return err
}

// register creates a node if there is none.
func (n *nodes) register(ctx context.Context) error {
	all, err := n.objects.List(ctx, "", nil)
	if err != nil || len(all) > 0 {
		return err
	}
	_, err = n.objects.Create(asKubelet(ctx, nodeName), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: nodeName,
		Labels: map[string]string{
			corev1.LabelHostname: nodeName, corev1.LabelOSStable: "linux", corev1.LabelArchStable: runtime.GOARCH,
		},
	}})
	return err
}

// makeReady sets the status of a new node. Fields that are set stay.
func makeReady(node *corev1.Node, now metav1.Time) {
	status := &node.Status
	if nodeCondition(node, corev1.NodeReady) != nil {
		return
	}
	status.Conditions = append(status.Conditions, corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status",
		LastHeartbeatTime: now, LastTransitionTime: now,
	})
	if len(status.Capacity) == 0 {
		status.Capacity = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1k"), corev1.ResourceMemory: resource.MustParse("1Ti"),
			corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("1M"),
		}
	}
	if len(status.Allocatable) == 0 {
		status.Allocatable = status.Capacity.DeepCopy()
	}
	if len(status.Addresses) == 0 {
		status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: hostIP}, {Type: corev1.NodeHostName, Address: node.Name},
		}
	}
	if status.NodeInfo.KubeletVersion == "" {
		status.NodeInfo.KubeletVersion = kubeletVersion
		status.NodeInfo.OperatingSystem, status.NodeInfo.Architecture = "linux", runtime.GOARCH
	}
}

// removeNotReady removes the taint that admission adds to new nodes.
func removeNotReady(node *corev1.Node) {
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeNotReady && t.Effect == corev1.TaintEffectNoSchedule
	})
}

func nodeCondition(node *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if condition := &node.Status.Conditions[i]; condition.Type == kind {
			return condition
		}
	}
	return nil
}

func isReady(node *corev1.Node) bool {
	ready := nodeCondition(node, corev1.NodeReady)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

func internalIP(node *corev1.Node) string {
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			return address.Address
		}
	}
	return hostIP
}
