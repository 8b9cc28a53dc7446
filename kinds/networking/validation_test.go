package networking

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
	check("parameters are a choice", func(c *class) { c.Spec.Parameters = nil })
	check("a controller is needed", func(c *class) { c.Spec.Controller = "" }, "spec.controller: Required value")
	check("with a domain", func(c *class) { c.Spec.Controller = "c" },
		`spec.controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")`)
	check("parameters are somewhere", func(c *class) { c.Spec.Parameters.Namespace = nil },
		"spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'")
	check("or nowhere", func(c *class) { c.Spec.Parameters.Scope = new("Cluster") },
		"spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'")
	check("not elsewhere", func(c *class) { c.Spec.Parameters.Scope = new("x") },
		`spec.parameters.scope: Unsupported value: "x": supported values: "Cluster", "Namespace"`)
	check("they have a kind, a name and a scope", func(c *class) { c.Spec.Parameters = &networkingv1.IngressClassParametersReference{} },
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
	check("there are two types", types("Ingress", "Egress"))
	check("no other", types("x"), `spec.policyTypes[0]: Unsupported value: "x": supported values: "Ingress", "Egress"`)
	check("not three", types("Ingress", "Egress", "Ingress"),
		`spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes`)
	check("labels select pods", func(p *policy) {
		p.Spec.PodSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}
	},
		"spec.podSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'")
	check("the other way too", func(p *policy) {
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
	check("all ports", func(p *port) { p.Port, p.EndPort = nil, nil })
	check("an end has a beginning", func(p *port) { p.Port = nil },
		at+"endPort: Invalid value: 90: may not be specified when `port` is not specified")
	check("that is a number", func(p *port) { p.Port = new(intstr.FromString("http")) },
		at+"endPort: Invalid value: 90: may not be specified when `port` is non-numeric")
	check("and comes first", func(p *port) { p.EndPort = new(int32(79)) },
		at+"endPort: Invalid value: 80: must be greater than or equal to `port`")
	check("ports are small", func(p *port) { p.Port = new(intstr.FromInt32(70000)); p.EndPort = nil },
		at+"port: Invalid value: 70000: must be between 1 and 65535, inclusive")
	check("of three protocols", func(p *port) { p.Protocol = new(corev1.Protocol("x")) },
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
	check("pods or addresses, not both", func(p *peer) { p.PodSelector = &metav1.LabelSelector{} },
		at+": Forbidden: may not specify both ipBlock and another peer")
	check("addresses are needed", func(p *peer) { p.IPBlock.CIDR = "" }, at+".ipBlock.cidr: Required value")
	check("in a known form", func(p *peer) { p.IPBlock.CIDR = "x" },
		at+`.ipBlock.cidr: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`)
	check("exceptions are of them", func(p *peer) { p.IPBlock.Except[0] = "11.0.0.0/16" },
		at+".ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be a strict subset of `cidr`")
	check("not all of them", func(p *peer) { p.IPBlock.Except[0] = "10.0.0.0/8" },
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
	check("something has it", func(a *address) { a.Spec.ParentRef = nil }, "spec.parentRef: Required value")
	check("that has a resource and a name", func(a *address) { *a.Spec.ParentRef = networkingv1.ParentReference{} },
		"spec.parentRef.resource: Required value", "spec.parentRef.name: Required value")
	registrytest.Rules(t, valid, func(a *address) field.ErrorList { return validateAddressUpdate(a, valid()) })(
		"and keeps it", func(a *address) { a.Spec.ParentRef.Name = "t" },
		`spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"a","Name":"t"}: field is immutable`)
}

func TestServiceCIDRs(t *testing.T) {
	type cidr = networkingv1.ServiceCIDR
	of := func(cidrs ...string) *cidr { return &cidr{Spec: networkingv1.ServiceCIDRSpec{CIDRs: cidrs}} }
	set := func(cidrs ...string) func(*cidr) { return func(c *cidr) { c.Spec.CIDRs = cidrs } }
	valid := func() *cidr { return of("10.0.0.0/16") }
	check := registrytest.Rules(t, valid, validateCIDRs)
	check("one of each family", set("10.0.0.0/16", "fd00::/64"))
	check("not none", set(), "spec.cidrs: Required value: at least one CIDR required")
	check("nor two of one", set("10.0.0.0/16", "10.1.0.0/16"), `spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: `+
		"may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64")
	check("in canonical form", set("10.0.0.1/16"),
		`spec.cidrs[0]: Invalid value: "10.0.0.1/16": must not have bits set beyond the prefix length`)
	change := registrytest.Rules(t, valid, func(c *cidr) field.ErrorList { return validateCIDRsUpdate(c, valid()) })
	change("another family may come", set("10.0.0.0/16", "fd00::/64"))
	change("the first one stays", set("10.1.0.0/16"), `spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable`)
	change("and does not go", set(), `spec.cidrs: Invalid value: null: field is immutable`)
}
