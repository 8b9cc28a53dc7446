package kubelet

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

const (
	kubeletManager   = "kubelet"
	schedulerManager = "kube-scheduler"
)

// New returns the controllers of nodes and pods. It starts nothing.
func New(config reconcile.Config) []reconcile.Controller {
	return []reconcile.Controller{newNodes(config), newPods(config)}
}

func nodeObjects(config reconcile.Config) reconcile.Objects[*corev1.Node] {
	return reconcile.Objects[*corev1.Node]{Catalog: config.Catalog, Resource: corev1.Resource("nodes"), Manager: kubeletManager}
}

func podObjects(config reconcile.Config, manager string) reconcile.Objects[*corev1.Pod] {
	return reconcile.Objects[*corev1.Pod]{Catalog: config.Catalog, Resource: corev1.Resource("pods"), Manager: manager}
}

// asKubelet returns a context with the user of the kubelet of a node.
func asKubelet(ctx context.Context, node string) context.Context {
	return registry.WithUser(ctx, &authenticationv1.UserInfo{
		Username: "system:node:" + node, Groups: []string{"system:nodes", "system:authenticated"},
	})
}

// asScheduler returns a context with the user of kube-scheduler.
func asScheduler(ctx context.Context) context.Context {
	return registry.WithUser(ctx, &authenticationv1.UserInfo{
		Username: "system:kube-scheduler", Groups: []string{"system:authenticated"},
	})
}
