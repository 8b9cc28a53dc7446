package networking

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func rulesFor(hosts ...string) []networkingv1.IngressRule {
	rules := make([]networkingv1.IngressRule, len(hosts))
	for i, host := range hosts {
		rules[i].Host = host
	}
	return rules
}

func TestIngressHosts(t *testing.T) {
	cases := map[string]struct {
		rules []networkingv1.IngressRule
		want  string
	}{
		"a rule without a host matches all hosts": {rulesFor(""), "*"},
		"three are shown":                         {rulesFor("a", "b", "c"), "a,b,c"},
		"other hosts are counted":                 {rulesFor("a", "b", "c", "d", "e"), "a,b,c + 2 more..."},
		"rules without a host count as more":      {rulesFor("a", "b", "c", ""), "a,b,c + 1 more..."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ingressHosts(c.rules); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestIngressAddressesAreSortedAndUnique(t *testing.T) {
	got := ingressAddresses([]networkingv1.IngressLoadBalancerIngress{
		{Hostname: "lb.example.com"}, {IP: "192.0.2.1", Hostname: "unused"}, {IP: "192.0.2.1"}, {},
	})
	if want := "192.0.2.1,lb.example.com"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIngressClassParameters(t *testing.T) {
	class := &networkingv1.IngressClass{}
	class.Spec.Parameters = &networkingv1.IngressClassParametersReference{Kind: "Params", Name: "p"}
	if got := registrytest.Cells(ingressClasses(feature.Default()), class)[2]; got != "Params/p" {
		t.Errorf("core group: %v", got)
	}
	class.Spec.Parameters.APIGroup = ptr.To("example.com")
	if got := registrytest.Cells(ingressClasses(feature.Default()), class)[2]; got != "Params.example.com/p" {
		t.Errorf("another group: %v", got)
	}
}

func TestAddressNamesAreCanonical(t *testing.T) {
	const noAddress = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
	for name, want := range map[string]string{
		"10.9.8.7":       "",
		"2001:db8::ffff": "",
		"2001:DB8::FFFF": `must be in canonical form ("2001:db8::ffff")`,
		"2001:db8:0::1":  `must be in canonical form ("2001:db8::1")`,
		"010.9.8.7":      noAddress,
		"fe80::1%eth0":   noAddress,
		"Bad_Name/x":     noAddress,
		"10.9.8.7/32":    noAddress,
	} {
		got := ""
		if errs := validateAddressName(name, false); len(errs) > 0 {
			got = errs[0]
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
