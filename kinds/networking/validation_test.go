package networking

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newIngressClass() *networkingv1.IngressClass {
	return &networkingv1.IngressClass{Spec: networkingv1.IngressClassSpec{
		Controller: "exam.org/c",
		Parameters: &networkingv1.IngressClassParametersReference{Kind: "K", Name: "n", Scope: new("Namespace"), Namespace: new("a")},
	}}
}

func TestIngressClasses(t *testing.T) {
	type class = networkingv1.IngressClass
	check := registrytest.Rules(t, newIngressClass, validateIngressClass)
	check("parameters are optional", func(c *class) { c.Spec.Parameters = nil })
	check("controller is required", func(c *class) { c.Spec.Controller = "" }, "spec.controller: Required value")
	check("controller has a domain", func(c *class) { c.Spec.Controller = "c" },
		`spec.controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")`)
	check("namespaced parameters need a namespace", func(c *class) { c.Spec.Parameters.Namespace = nil },
		"spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'")
	check("cluster-scoped parameters have no namespace", func(c *class) { c.Spec.Parameters.Scope = new("Cluster") },
		"spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'")
	check("scopes are known", func(c *class) { c.Spec.Parameters.Scope = new("x") },
		`spec.parameters.scope: Unsupported value: "x": supported values: "Cluster", "Namespace"`)
	check("parameters have a kind, a name and a scope", func(c *class) { c.Spec.Parameters = &networkingv1.IngressClassParametersReference{} },
		"spec.parameters.kind: Required value", "spec.parameters.name: Required value", "spec.parameters.scope: Required value")
	registrytest.Rules(t, newIngressClass, func(c *class) field.ErrorList { return validateIngressClassUpdate(c, newIngressClass()) })(
		"a controller stays", func(c *class) { c.Spec.Controller = "exam.org/d" },
		`spec.controller: Invalid value: "exam.org/d": field is immutable`)
}

func newNetworkPolicy() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{
		Ingress: []networkingv1.NetworkPolicyIngressRule{{
			Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(80)), EndPort: new(int32(90))}},
			From:  []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: []string{"10.1.0.0/16"}}}},
		}},
	}}
}

func TestNetworkPolicies(t *testing.T) {
	type policy = networkingv1.NetworkPolicy
	check := registrytest.Rules(t, newNetworkPolicy, validateNetworkPolicy)
	types := func(types ...networkingv1.PolicyType) func(*policy) {
		return func(p *policy) { p.Spec.PolicyTypes = types }
	}
	check("both policy types", types("Ingress", "Egress"))
	check("policy types are known", types("x"), `spec.policyTypes[0]: Unsupported value: "x": supported values: "Ingress", "Egress"`)
	check("at most two policy types", types("Ingress", "Egress", "Ingress"),
		`spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes`)
	check("pod selectors of ingress rules are valid", func(p *policy) {
		p.Spec.PodSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}
	},
		"spec.podSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'")
	check("pod selectors of egress rules are valid", func(p *policy) {
		p.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{To: []networkingv1.NetworkPolicyPeer{{}}}}
	}, "spec.egress[0].to[0]: Required value: must specify a peer")
}

func TestPortsOfNetworkPolicies(t *testing.T) {
	const at = "spec.ingress[0].ports[0]."
	valid := func() *networkingv1.NetworkPolicyPort { return &newNetworkPolicy().Spec.Ingress[0].Ports[0] }
	type port = networkingv1.NetworkPolicyPort
	check := registrytest.Rules(t, valid, func(port *port) field.ErrorList {
		p := newNetworkPolicy()
		p.Spec.Ingress[0].Ports[0] = *port
		return validateNetworkPolicy(p)
	})
	check("no port matches all ports", func(p *port) { p.Port, p.EndPort = nil, nil })
	check("endPort needs a port", func(p *port) { p.Port = nil },
		at+"endPort: Invalid value: 90: may not be specified when `port` is not specified")
	check("endPort needs a numeric port", func(p *port) { p.Port = new(intstr.FromString("http")) },
		at+"endPort: Invalid value: 90: may not be specified when `port` is non-numeric")
	check("endPort is not less than the port", func(p *port) { p.EndPort = new(int32(79)) },
		at+"endPort: Invalid value: 79: must be greater than or equal to `port`")
	check("ports are in range", func(p *port) { p.Port = new(intstr.FromInt32(70000)); p.EndPort = nil },
		at+"port: Invalid value: 70000: must be between 1 and 65535, inclusive")
	check("protocols are known", func(p *port) { p.Protocol = new(corev1.Protocol("x")) },
		at+`protocol: Unsupported value: "x": supported values: "TCP", "UDP", "SCTP"`)
}

func TestPeersOfNetworkPolicies(t *testing.T) {
	const at = "spec.ingress[0].from[0]"
	type peer = networkingv1.NetworkPolicyPeer
	valid := func() *peer { return &newNetworkPolicy().Spec.Ingress[0].From[0] }
	policy := func(peer *peer) *networkingv1.NetworkPolicy {
		p := newNetworkPolicy()
		p.Spec.Ingress[0].From[0] = *peer
		return p
	}
	check := registrytest.Rules(t, valid, func(p *peer) field.ErrorList { return validateNetworkPolicy(policy(p)) })
	check("a peer has a selector or an IP block", func(p *peer) { p.PodSelector = &metav1.LabelSelector{} },
		at+": Forbidden: may not specify both ipBlock and another peer")
	check("cidr is required", func(p *peer) { p.IPBlock.CIDR = "" }, at+".ipBlock.cidr: Required value")
	check("cidr is valid", func(p *peer) { p.IPBlock.CIDR = "x" },
		at+`.ipBlock.cidr: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`)
	check("exceptions are within the CIDR", func(p *peer) { p.IPBlock.Except[0] = "11.0.0.0/16" },
		at+".ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be a strict subset of `cidr`")
	check("an exception is smaller than the CIDR", func(p *peer) { p.IPBlock.Except[0] = "10.0.0.0/8" },
		at+".ipBlock.except[0]: Invalid value: \"10.0.0.0/8\": must be a strict subset of `cidr`")
	odd := policy(&peer{IPBlock: &networkingv1.IPBlock{CIDR: "010.0.0.0/8"}})
	if got := registrytest.Texts(validateNetworkPolicy(odd)); len(got) != 1 {
		t.Errorf("leading zeros: %q", got)
	}
	if got := registrytest.Texts(validateNetworkPolicyUpdate(odd, odd)); got != nil {
		t.Errorf("leading zeros that were there: %q", got)
	}
	if got := warningsForBlocks(odd); len(got) != 1 {
		t.Errorf("warnings %q", got)
	}
}

func TestIPAddresses(t *testing.T) {
	type address = networkingv1.IPAddress
	valid := func() *address {
		return &address{Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: "a", Name: "s"}}}
	}
	check := registrytest.Rules(t, valid, validateAddress)
	check("parentRef is required", func(a *address) { a.Spec.ParentRef = nil }, "spec.parentRef: Required value")
	check("parentRef has a resource and a name", func(a *address) { *a.Spec.ParentRef = networkingv1.ParentReference{} },
		"spec.parentRef.resource: Required value", "spec.parentRef.name: Required value")
	registrytest.Rules(t, valid, func(a *address) field.ErrorList { return validateAddressUpdate(a, valid(), feature.Default()) })(
		"and keeps it", func(a *address) { a.Spec.ParentRef.Name = "t" }, `spec.parentRef: Invalid value: null: field is immutable`)
}

func TestServiceCIDRs(t *testing.T) {
	type cidr = networkingv1.ServiceCIDR
	of := func(cidrs ...string) *cidr { return &cidr{Spec: networkingv1.ServiceCIDRSpec{CIDRs: cidrs}} }
	set := func(cidrs ...string) func(*cidr) { return func(c *cidr) { c.Spec.CIDRs = cidrs } }
	valid := func() *cidr { return of("10.0.0.0/16") }
	check := registrytest.Rules(t, valid, validateCIDRs)
	check("one CIDR of each family", set("10.0.0.0/16", "fd00::/64"))
	check("a CIDR is required", set(), "spec.cidrs: Required value: at least one CIDR required")
	check("CIDRs have different families", set("10.0.0.0/16", "10.1.0.0/16"), `spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: `+
		"may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64")
	check("CIDRs are canonical", set("10.0.0.1/16"),
		`spec.cidrs[0]: Invalid value: "10.0.0.1/16": must not have bits set beyond the prefix length`)
	change := registrytest.Rules(t, valid, func(c *cidr) field.ErrorList { return validateCIDRsUpdate(c, valid()) })
	change("another family may come", set("10.0.0.0/16", "fd00::/64"))
	change("the first one stays", set("10.1.0.0/16"), `spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable`)
	change("and does not go", set(), `spec.cidrs: Invalid value: null: field is immutable`)
}
