package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/registry"
)

// ClusterIP returns a function that resolves a Service to its cluster IP or its external name, as
// kube-apiserver does. find returns the store of Services.
func ClusterIP(find func() (registry.Reader, bool)) ResolveFunc {
	return func(ctx context.Context, ref Service) (string, error) {
		store, ok := find()
		if !ok {
			return "", errors.New("resource services is not served")
		}
		service, err := registry.Read[*corev1.Service](ctx, store, ref.Namespace, ref.Name, "")
		if apierrors.IsNotFound(err) {
			// Singular, as in kube-apiserver.
			return "", apierrors.NewNotFound(corev1.Resource("service"), ref.Name)
		}
		if err != nil {
			return "", err
		}
		host, err := hostOf(service, ref.Port)
		return net.JoinHostPort(host, strconv.Itoa(int(ref.Port))), err
	}
}

func hostOf(s *corev1.Service, port int32) (string, error) {
	switch s.Spec.Type {
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName, nil
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
	default:
		return "", fmt.Errorf("unsupported service type %q", s.Spec.Type)
	}
	switch {
	case s.Spec.ClusterIP == corev1.ClusterIPNone:
		return "", errors.New(`cannot route to service with ClusterIP "None"`)
	case s.Spec.ClusterIP == "":
		return "", fmt.Errorf("service %q has no cluster IP", s.Name)
	case !slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port }):
		return "", fmt.Errorf("no service port %d found for service %q", port, s.Name)
	}
	return s.Spec.ClusterIP, nil
}
