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

// ClusterIP resolves a Service to its cluster IP or its external name, as
// kube-apiserver does. find returns the store of Services.
func ClusterIP(find func() (*registry.Store, bool)) ResolveFunc {
	return func(ctx context.Context, wanted Service) (string, error) {
		store, ok := find()
		if !ok {
			return "", errors.New("there are no services")
		}
		service, err := registry.Read[*corev1.Service](ctx, store, wanted.Namespace, wanted.Name, "")
		if apierrors.IsNotFound(err) {
			return "", apierrors.NewNotFound(corev1.Resource("service"), wanted.Name) // not the plural, as in kube-apiserver
		}
		if err != nil {
			return "", err
		}
		host, err := hostOf(service, wanted.Port)
		return net.JoinHostPort(host, strconv.Itoa(int(wanted.Port))), err
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
