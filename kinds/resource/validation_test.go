package resource

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newClaim() *resourcev1.ResourceClaim {
	exactly := &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: "ExactCount", Count: 1}
	return &resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
		Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: exactly}},
	}}}
}

func allocated() *resourcev1.ResourceClaim {
	c := newClaim()
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
		Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: "d", Pool: "p", Device: "x"}},
	}}
	return c
}

func TestRequests(t *testing.T) {
	type request = resourcev1.DeviceRequest
	const at = "spec.devices.requests[0]"
	valid := func() *request { return &newClaim().Spec.Devices.Requests[0] }
	check := registrytest.Rules(t, valid, func(r *request) field.ErrorList {
		c := newClaim()
		c.Spec.Devices.Requests[0] = *r
		return validateClaim(c)
	})
	check("a request has a name and exactly one form", func(r *request) { *r = request{} },
		at+`.name: Invalid value: "": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and `+
			`end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
		at+": Required value: exactly one of `exactly` or `firstAvailable` is required")
	check("both forms", func(r *request) { r.FirstAvailable = make([]resourcev1.DeviceSubRequest, 1) },
		at+": Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
		at+".firstAvailable[0].deviceClassName: Required value")
	check("deviceClassName is required", func(r *request) { r.Exactly.DeviceClassName = "" }, at+".exactly.deviceClassName: Required value")
	check("count is positive", func(r *request) { r.Exactly.Count = 0 }, at+".exactly.count: Invalid value: 0: must be greater than zero")
	check("mode All has no count", func(r *request) { r.Exactly.AllocationMode = "All" },
		at+".exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'")
	check("allocation modes are known", func(r *request) { r.Exactly.AllocationMode = "x" },
		at+`.exactly.allocationMode: Unsupported value: "x": supported values: "All", "ExactCount"`)
	check("cel is required in selectors", func(r *request) { r.Exactly.Selectors = make([]resourcev1.DeviceSelector, 1) },
		at+".exactly.selectors[0].cel: Required value")
	selects := func(expression string) func(*request) {
		return func(r *request) {
			r.Exactly.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}
		}
	}
	const selector = at + ".exactly.selectors[0].cel.expression: "
	check("a valid expression", selects(`device.driver == "d" && device.attributes["d"].model == "m"`))
	check("expressions are of type bool", selects(`device.driver`),
		selector+`Invalid value: "device.driver": must evaluate to bool or the unknown type, not string`)
	check("expressions have a cost limit", selects(`device.capacity.all(a, device.capacity.all(b, device.capacity.all(c, device.capacity.all(d, true))))`),
		selector+"Forbidden: too complex, exceeds cost limit")
	check("effects of taints and tolerations are known", func(r *request) {
		r.Exactly.Tolerations = []resourcev1.DeviceToleration{{Operator: "Exists", Value: "v", Effect: "x"}}
	},
		at+".exactly.tolerations[0].value: Invalid value: \"v\": must be empty for operator `Exists`",
		at+`.exactly.tolerations[0].effect: Unsupported value: "x": supported values: "NoExecute", "NoSchedule", "None"`)
}

func TestClaims(t *testing.T) {
	type claim = resourcev1.ResourceClaim
	const at = "spec.devices."
	check := registrytest.Rules(t, newClaim, validateClaim)
	check("request names are unique", func(c *claim) { c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, c.Spec.Devices.Requests[0]) },
		at+`requests[1]: Duplicate value: {"name":"r","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":1}}`)
	check("constraints refer to requests", func(c *claim) {
		c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{Requests: []string{"s"}, MatchAttribute: new(resourcev1.FullyQualifiedName("a"))}}
	},
		at+`constraints[0].requests[0]: Invalid value: "s": must be the name of a request in the claim or `+
			`the name of a request and a subrequest separated by '/'`,
		at+`constraints[0].matchAttribute: Invalid value: "a": a fully qualified name must be a domain and a name separated by a slash`)
	check("the domain of an attribute is a DNS subdomain", func(c *claim) {
		name := resourcev1.FullyQualifiedName("../a")
		c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &name}}
	}, at+`constraints[0].matchAttribute: Invalid value: "..": prefix: a lowercase RFC 1123 subdomain must consist of lower case `+
		`alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', `+
		`regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`)
	check("opaque parameters are required", func(c *claim) {
		c.Spec.Devices.Config = []resourcev1.DeviceClaimConfiguration{{DeviceConfiguration: resourcev1.DeviceConfiguration{
			Opaque: &resourcev1.OpaqueDeviceConfiguration{Driver: "d", Parameters: runtime.RawExtension{Raw: []byte("[]")}},
		}}}
	}, at+`config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object`)
	if got := registrytest.Texts(claimUpdateValidation(feature.Default())(&claim{}, newClaim())); len(got) != 1 {
		t.Errorf("another spec: %q", got)
	}
}

func TestClaimTemplatesHaveOnlyLabelsAndAnnotations(t *testing.T) {
	valid := func() *resourcev1.ResourceClaimTemplate {
		labels := map[string]string{"a": "b"}
		return &resourcev1.ResourceClaimTemplate{Spec: resourcev1.ResourceClaimTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: labels}, Spec: newClaim().Spec,
		}}
	}
	check := registrytest.Rules(t, valid, validateTemplate)
	check("no name and no finalizers", func(c *resourcev1.ResourceClaimTemplate) {
		c.Spec.Name, c.Spec.Finalizers = "n", []string{}
	}, "spec.metadata.name: Forbidden: cannot be set", "spec.metadata.finalizers: Forbidden: cannot be set")
}

func TestStatusOfClaims(t *testing.T) {
	type claim = resourcev1.ResourceClaim
	first := registrytest.Rules(t, allocated, func(c *claim) field.ErrorList { return validateClaimStatus(c, newClaim(), feature.Default()) })
	first("what is allocated was asked for", func(c *claim) { c.Status.Allocation.Devices.Results[0].Request = "s" },
		`status.allocation.devices.results[0].request: Invalid value: "s": must be the name of a request in the claim or `+
			`the name of a request and a subrequest separated by '/'`)
	first("a pool and a share", func(c *claim) {
		c.Status.Allocation.Devices.Results[0].Pool, c.Status.Allocation.Devices.Results[0].ShareID = "p//q", new(types.UID("x"))
	}, `status.allocation.devices.results[0].pool: Invalid value: "p//q": segment 1: must not be empty`,
		`status.allocation.devices.results[0].shareID: Invalid value: "x": must be a lowercase UUID in 8-4-4-4-12 format`)
	first("nothing is kept for nobody", func(c *claim) {
		c.Status.Allocation, c.Status.ReservedFor = nil, make([]resourcev1.ResourceClaimConsumerReference, 1)
	},
		"status.reservedFor[0].resource: Required value", "status.reservedFor[0].name: Required value", "status.reservedFor[0].uid: Required value",
		"status.reservedFor: Forbidden: may not be specified when `allocated` is not set")
	first("of a device that is allocated", func(c *claim) {
		c.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: "d", Pool: "p", Device: "y"}}
	},
		`status.devices[0]: Invalid value: {"Driver":"d","Pool":"p","Device":"y","ShareID":""}: must be an allocated device in the claim`)
	moved := allocated()
	moved.Status.Allocation.Devices.Results[0].Device = "y"
	if got := registrytest.Texts(validateClaimStatus(moved, allocated(), feature.Default())); len(got) != 1 {
		t.Errorf("another allocation: %q", got)
	}
}

func TestSlices(t *testing.T) {
	type resourceSlice = resourcev1.ResourceSlice
	valid := func() *resourceSlice {
		return &resourceSlice{Spec: resourcev1.ResourceSliceSpec{
			Driver: "d", Pool: resourcev1.ResourcePool{Name: "p", ResourceSliceCount: 1}, NodeName: new("n"),
			Devices: []resourcev1.Device{{Name: "x", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: new("a")}}}},
		}}
	}
	const types = "one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
	const nodes = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	check := registrytest.Rules(t, valid, validateNewSlice)
	check("an empty spec", func(s *resourceSlice) { s.Spec = resourcev1.ResourceSliceSpec{} },
		"spec.driver: Required value", "spec.pool.name: Required value",
		"spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero", "spec: Required value: "+nodes)
	check("one field selects the nodes", func(s *resourceSlice) { s.Spec.AllNodes = new(true) },
		"spec: Invalid value: \"{`nodeName`, `allNodes`}\": "+nodes+", but multiple fields are set")
	check("allNodes is not false", func(s *resourceSlice) { s.Spec.NodeName, s.Spec.AllNodes = nil, new(false) },
		"spec.allNodes: Invalid value: false: must be either unset or set to true", "spec: Required value: "+nodes)
	check("device names are unique", func(s *resourceSlice) { s.Spec.Devices = append(s.Spec.Devices, s.Spec.Devices[0]) },
		`spec.devices[1]: Duplicate value: "x"`)
	check("attributes have one value", func(s *resourceSlice) { s.Spec.Devices[0].Attributes["model"] = resourcev1.DeviceAttribute{} },
		`spec.devices[0].attributes[model]: Invalid value: "": must specify `+types)
	check("attributes have no second value", func(s *resourceSlice) {
		s.Spec.Devices[0].Attributes["model"] = resourcev1.DeviceAttribute{StringValue: new("a"), IntValue: new(int64(1)), BoolValues: []bool{}}
	}, `spec.devices[0].attributes[model]: Invalid value: "{int, string}": must specify exactly `+types)
	check("versions are semantic versions", func(s *resourceSlice) {
		s.Spec.Devices[0].Attributes["model"] = resourcev1.DeviceAttribute{VersionValue: new("1")}
	},
		`spec.devices[0].attributes[model].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0`)
	check("effects of taints and tolerations are known", func(s *resourceSlice) { s.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "a"}} },
		"spec.devices[0].taints[0].effect: Required value")
	capacity := func(policy resourcev1.CapacityRequestPolicy) func(*resourceSlice) {
		return func(s *resourceSlice) {
			s.Spec.Devices[0].AllowMultipleAllocations = new(true)
			s.Spec.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
				"m": {Value: resource.MustParse("8"), RequestPolicy: &policy},
			}
		}
	}
	const policy = "spec.devices[0].capacity[m].requestPolicy."
	check("valid values of capacity requests", capacity(resourcev1.CapacityRequestPolicy{
		Default: new(resource.MustParse("1")), ValidValues: []resource.Quantity{resource.MustParse("4"), resource.MustParse("2")},
	}),
		policy+`validValues[1]: Invalid value: "2": values must be sorted in ascending order`,
		policy+`validValues: Invalid value: "1": default value is not valid according to the requestPolicy`)
	check("valid ranges of capacity requests", capacity(resourcev1.CapacityRequestPolicy{
		Default: new(resource.MustParse("4")),
		ValidRange: &resourcev1.CapacityRequestPolicyRange{
			Min: new(resource.MustParse("1")), Max: new(resource.MustParse("9")), Step: new(resource.MustParse("2")),
		},
	}),
		policy+`validRange.max: Invalid value: "9": max is larger than capacity value: 8`,
		policy+`validRange.step: Invalid value: "4": value is not a multiple of a given step (2) from (1)`)
	check("binding conditions need failure conditions", func(s *resourceSlice) { s.Spec.Devices[0].BindingConditions = []string{"a"} },
		"spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions")
	check("counter sets need counters", func(s *resourceSlice) {
		s.Spec.Devices, s.Spec.SharedCounters = nil, []resourcev1.CounterSet{{Name: "c"}}
	},
		"spec.sharedCounters[0].counters: Required value")
	registrytest.Rules(t, valid, func(s *resourceSlice) field.ErrorList { return validateSlice(s, valid()) })(
		"a slice stays where it is", func(s *resourceSlice) { s.Spec.Pool.Name, s.Spec.NodeName = "q", new("m") },
		`spec.pool.name: Invalid value: "q": field is immutable`, `spec.nodeName: Invalid value: "m": field is immutable`)
}
