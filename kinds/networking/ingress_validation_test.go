package networking

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func serviceBackend() networkingv1.IngressBackend {
	return networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}
}

func newIngress() *networkingv1.Ingress {
	return &networkingv1.Ingress{Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{
		Host: "*.exam.org", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
			Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: new(networkingv1.PathTypePrefix), Backend: serviceBackend()}},
		}},
	}}}}
}

func TestIngresses(t *testing.T) {
	type ingress = networkingv1.Ingress
	host := func(name string) func(*ingress) { return func(i *ingress) { i.Spec.Rules[0].Host = name } }
	check := registrytest.Rules(t, newIngress, validateNewIngress)
	check("a default backend is sufficient", func(i *ingress) { i.Spec = networkingv1.IngressSpec{DefaultBackend: new(serviceBackend())} })
	check("a backend or a rule is required", func(i *ingress) { i.Spec = networkingv1.IngressSpec{} },
		"spec: Invalid value: null: either `defaultBackend` or `rules` must be specified")
	check("hosts are DNS names", host("10.0.0.1"), `spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address`)
	check("hosts are in lower case", host("A"), `spec.rules[0].host: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of `+
		`lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character `+
		`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`)
	check("a wildcard is the first label", host("a.*.org"), `spec.rules[0].host: Invalid value: "a.*.org": a wildcard DNS-1123 subdomain `+
		`must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with `+
		`an alphanumeric character (e.g. '*.example.com', regex used for validation is '\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`)
	check("secret names are valid", func(i *ingress) {
		i.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{"a.org"}, SecretName: "a/b"}}
	},
		`spec.tls[0].secretName: Invalid value: "a/b": a lowercase RFC 1123 subdomain must consist of `+
			`lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character `+
			`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`)
	check("the class is set in one place", func(i *ingress) {
		i.Annotations, i.Spec.IngressClassName = map[string]string{classAnnotation: "a"}, new("b")
	}, "annotations.kubernetes.io/ingress.class: Invalid value: \"a\": must match `ingressClassName` when both are specified")
	check("paths are required", func(i *ingress) { i.Spec.Rules[0].HTTP.Paths = nil }, "spec.rules[0].http.paths: Required value")
}

func TestPathsOfIngresses(t *testing.T) {
	const at = "spec.rules[0].http.paths[0]."
	valid := func() *networkingv1.HTTPIngressPath { return &newIngress().Spec.Rules[0].HTTP.Paths[0] }
	check := registrytest.Rules(t, valid, func(p *networkingv1.HTTPIngressPath) field.ErrorList {
		i := newIngress()
		i.Spec.Rules[0].HTTP.Paths[0] = *p
		return validateIngress(i)
	})
	path := func(text string) func(*networkingv1.HTTPIngressPath) {
		return func(p *networkingv1.HTTPIngressPath) { p.Path = text }
	}
	backend := func(b networkingv1.IngressBackend) func(*networkingv1.HTTPIngressPath) {
		return func(p *networkingv1.HTTPIngressPath) { p.Backend = b }
	}
	port := func(name string, number int32) func(*networkingv1.HTTPIngressPath) {
		return func(p *networkingv1.HTTPIngressPath) {
			p.Backend.Service.Port = networkingv1.ServiceBackendPort{Name: name, Number: number}
		}
	}
	check("pathType is required", func(p *networkingv1.HTTPIngressPath) { p.PathType = nil },
		at+"pathType: Required value: pathType must be specified")
	check("path types are known", func(p *networkingv1.HTTPIngressPath) { p.PathType = new(networkingv1.PathType("x")) },
		at+`pathType: Unsupported value: "x": supported values: "Exact", "ImplementationSpecific", "Prefix"`)
	check("ImplementationSpecific allows an empty path", func(p *networkingv1.HTTPIngressPath) {
		p.PathType, p.Path = new(networkingv1.PathTypeImplementationSpecific), ""
	})
	check("paths are absolute", path("x"), at+`path: Invalid value: "x": must be an absolute path`)
	check("paths are normalized", path("/a//../b%2f."),
		at+`path: Invalid value: "/a//../b%2f.": must not contain '//'`,
		at+`path: Invalid value: "/a//../b%2f.": must not contain '/../'`,
		at+`path: Invalid value: "/a//../b%2f.": must not contain '%2f'`)
	check("paths do not end with a parent directory", path("/.."), at+`path: Invalid value: "/..": cannot end with '/..'`)
	check("a backend has a service or a resource", backend(networkingv1.IngressBackend{}),
		at+`backend: Invalid value: "": resource or service backend is required`)
	check("a backend has one target", backend(networkingv1.IngressBackend{Service: serviceBackend().Service, Resource: &corev1.TypedLocalObjectReference{}}),
		at+`backend: Invalid value: "": cannot set both resource and service backends`)
	check("a resource has a kind and a name", backend(networkingv1.IngressBackend{Resource: &corev1.TypedLocalObjectReference{}}),
		at+"backend.resource.kind: Required value", at+"backend.resource.name: Required value")
	check("a service has a name and a port", backend(networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{}}),
		at+"backend.service.name: Required value", at+"backend: Required value: port name or number is required")
	check("a port has a name or a number", port("http", 80), at+`backend: Invalid value: "": cannot set both port name & port number`)
	check("port numbers are in range", port("", 70000), at+"backend.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive")
}

func TestIngressLoadBalancerPoints(t *testing.T) {
	const at = "status.loadBalancer.ingress[0]."
	check := registrytest.Rules(t, newIngress, func(i *networkingv1.Ingress) field.ErrorList { return validateIngressStatus(i, newIngress()) })
	point := func(ip, host string) func(*networkingv1.Ingress) {
		return func(i *networkingv1.Ingress) {
			i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: ip, Hostname: host}}
		}
	}
	check("a hostname", point("", "a.org"))
	check("an IP address", point("10.0.0.1", ""))
	check("ip is an IP address", point("x", ""), at+`ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`)
	check("hostname is not an IP address", point("", "10.0.0.1"), at+`hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address`)
	stored := newIngress()
	point("010.0.0.1", "")(stored)
	if got := registrytest.Texts(validateIngressStatus(stored, stored)); got != nil {
		t.Errorf("an address that was malformed already: %q", got)
	}
	if got := warningsForPoints(stored); len(got) != 1 {
		t.Errorf("warnings %q", got)
	}
}
