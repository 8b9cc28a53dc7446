// Package rootca publishes the certificate authority of the server in the ConfigMap
// kube-root-ca.crt of every active namespace, as kube-controller-manager's
// root-ca-certificate-publisher-controller does. A server without HTTPS has nothing to publish.
package rootca

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/reconcile"
)

const (
	configMapName = "kube-root-ca.crt"
	dataKey       = "ca.crt"

	descriptionAnnotation = "kubernetes.io/description"
	description           = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."
)

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	resource := corev1.Resource("configmaps")
	p := &publisher{ca: string(config.CA), configMaps: reconcile.Objects[*corev1.ConfigMap]{Catalog: config.Catalog, Resource: resource}}
	return reconcile.New(config, reconcile.Spec[*corev1.Namespace]{
		Name:    "root-ca-certificate-publisher-controller",
		Account: "root-ca-cert-publisher",
		Objects: reconcile.Objects[*corev1.Namespace]{Catalog: config.Catalog, Resource: corev1.Resource("namespaces")},
		Affects: func(change reconcile.Change) (namespace, name string, ok bool) {
			return "", change.Location.Namespace, change.Is(resource, configMapName)
		},
		Reconcile: p.publish,
	})
}

type publisher struct {
	ca         string
	configMaps reconcile.Objects[*corev1.ConfigMap]
}

// publish creates the ConfigMap of a namespace, or restores its content.
func (p *publisher) publish(ctx context.Context, ns *corev1.Namespace) (time.Duration, error) {
	if p.ca == "" || ns.Status.Phase == corev1.NamespaceTerminating {
		return 0, nil
	}
	current, err := p.configMaps.Get(ctx, ns.Name, configMapName)
	switch {
	case apierrors.IsNotFound(err):
		created := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: configMapName}}
		p.set(created)
		_, err = p.configMaps.Create(ctx, created)
	case err == nil:
		_, err = p.configMaps.Update(ctx, current, p.set)
	}
	return 0, reconcile.IgnoreTerminating(err)
}

func (p *publisher) set(c *corev1.ConfigMap) {
	c.Data = map[string]string{dataKey: p.ca}
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, descriptionAnnotation, description)
}
