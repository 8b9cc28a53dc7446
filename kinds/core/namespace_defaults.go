package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultNamespace(n *corev1.Namespace) {
	labelNamespace(n)
	kind.SetDefault(&n.Status.Phase, corev1.NamespaceActive)
}
