package resource

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateNewSlice(s *resourcev1.ResourceSlice) field.ErrorList { return validateSlice(s, nil) }

func validateSlice(s, old *resourcev1.ResourceSlice) field.ErrorList {
	spec := field.NewPath("spec")
	most := resourcev1.ResourceSliceMaxDevices
	if slices.ContainsFunc(s.Spec.Devices, isAdvanced) {
		most = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
	}
	perDevice := s.Spec.PerDeviceNodeSelection != nil && *s.Spec.PerDeviceNodeSelection
	return slices.Concat(
		validateDriverName(s.Spec.Driver, spec.Child("driver")),
		validatePool(s.Spec.Pool, spec.Child("pool")),
		validatePlace(s, old, spec),
		validateNodes(&s.Spec, spec),
		each(s.Spec.Devices, most, spec.Child("devices"), func(d resourcev1.Device, at *field.Path) field.ErrorList {
			return validateDevice(&d, deviceIn(old, d.Name), perDevice, at)
		}),
		unique(s.Spec.Devices, spec.Child("devices"), func(d resourcev1.Device) string { return d.Name }),
		each(s.Spec.SharedCounters, resourcev1.ResourceSliceMaxCounterSets, spec.Child("sharedCounters"),
			func(c resourcev1.CounterSet, at *field.Path) field.ErrorList {
				return validateCounters(c.Name, c.Counters, at, "name", resourcev1.ResourceSliceMaxCountersPerCounterSet)
			}),
		uniqueObjects(s.Spec.SharedCounters, spec.Child("sharedCounters"), func(c resourcev1.CounterSet) string { return c.Name }),
	)
}

// validatePlace rejects changes of the pool, the driver and the node of a slice.
func validatePlace(s, old *resourcev1.ResourceSlice, spec *field.Path) field.ErrorList {
	if old == nil {
		return nil
	}
	return slices.Concat(
		kind.Immutable(spec.Child("pool", "name"), s.Spec.Pool.Name, old.Spec.Pool.Name),
		kind.Immutable(spec.Child("driver"), s.Spec.Driver, old.Spec.Driver),
		kind.Immutable(spec.Child("nodeName"), s.Spec.NodeName, old.Spec.NodeName),
	)
}

// isAdvanced reports whether a device has taints or consumes counters. A slice with such devices
// has a lower limit.
func isAdvanced(d resourcev1.Device) bool { return len(d.Taints)+len(d.ConsumesCounters) > 0 }

func validatePool(p resourcev1.ResourcePool, at *field.Path) field.ErrorList {
	errs := validatePoolName(p.Name, at.Child("name"))
	if p.ResourceSliceCount <= 0 {
		errs = append(errs, field.Invalid(at.Child("resourceSliceCount"), p.ResourceSliceCount, "must be greater than zero"))
	}
	if p.Generation < 0 {
		errs = append(errs, field.Invalid(at.Child("generation"), p.Generation, "must be greater than or equal to zero"))
	}
	return errs
}

// validateNodes requires exactly one field that selects the nodes of the devices.
func validateNodes(s *resourcev1.ResourceSliceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	var set []string
	if name := s.NodeName; name != nil {
		if *name == "" {
			errs = append(errs, field.Invalid(at.Child("nodeName"), "", "must be either unset or set to a non-empty string"))
		} else {
			set = append(set, "`nodeName`")
			errs = append(errs, kind.Invalid(at.Child("nodeName"), *name, utilvalidation.IsDNS1123Subdomain(*name))...)
		}
	}
	if s.NodeSelector != nil {
		set = append(set, "`nodeSelector`")
		errs = append(errs, podspec.ValidateNodeSelector(s.NodeSelector, at.Child("nodeSelector"))...)
		if terms := s.NodeSelector.NodeSelectorTerms; len(terms) != 1 {
			errs = append(errs, field.Invalid(at.Child("nodeSelector", "nodeSelectorTerms"), kind.GoJSON(terms), "must have exactly one node selector term"))
		}
	}
	flag := func(name string, value *bool) {
		switch {
		case value == nil:
		case *value:
			set = append(set, "`"+name+"`")
		default:
			errs = append(errs, field.Invalid(at.Child(name), false, "must be either unset or set to true"))
		}
	}
	flag("allNodes", s.AllNodes)
	flag("perDeviceNodeSelection", s.PerDeviceNodeSelection)
	const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	switch len(set) {
	case 0:
		errs = append(errs, field.Required(at, one))
	case 1:
	default:
		errs = append(errs, field.Invalid(at, "{"+strings.Join(set, ", ")+"}", one+", but multiple fields are set"))
	}
	if s.SharedCounters != nil && s.Devices != nil {
		errs = append(errs, field.Invalid(at, "", "only one of `sharedCounters` or `devices` is allowed"))
	}
	return errs
}

// deviceIn returns a device by its name, nil if there is none.
func deviceIn(s *resourcev1.ResourceSlice, name string) *resourcev1.Device {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.Spec.Devices, func(d resourcev1.Device) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Spec.Devices[i]
}

// validateDevice validates a device. It accepts unchanged taints.
func validateDevice(d, old *resourcev1.Device, perDevice bool, at *field.Path) field.ErrorList {
	errs := dnsLabel(d.Name, at.Child("name"))
	if n := len(d.Attributes) + len(d.Capacity); n > resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice {
		errs = append(errs, field.Invalid(at, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d",
			resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice)))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
		errs = append(errs, validateQualifiedName(string(name), at.Child("attributes"))...)
		errs = append(errs, validateAttribute(d.Attributes[name], at.Child("attributes").Key(shorten(string(name))))...)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		errs = append(errs, validateQualifiedName(string(name), at.Child("capacity"))...)
		shared := d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations
		errs = append(errs, validateCapacity(d.Capacity[name], shared, at.Child("capacity").Key(shorten(string(name))))...)
	}
	if old == nil || !equality.Semantic.DeepEqual(old.Taints, d.Taints) {
		errs = append(errs, each(d.Taints, resourcev1.DeviceTaintsMaxLength, at.Child("taints"), validateTaint)...)
	}
	counters := at.Child("consumesCounters")
	return slices.Concat(errs,
		each(d.ConsumesCounters, resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice, counters,
			func(c resourcev1.DeviceCounterConsumption, at *field.Path) field.ErrorList {
				return validateCounters(c.CounterSet, c.Counters, at, "counterSet", resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption)
			}),
		uniqueObjects(d.ConsumesCounters, counters, func(c resourcev1.DeviceCounterConsumption) string { return c.CounterSet }),
		validateDeviceNodes(d, perDevice, at),
		validateBinding(d.BindingConditions, d.BindingFailureConditions, at),
	)
}

// shorten shortens a name that is too long for an error message.
func shorten(name string) string {
	const longest = resourcev1.DeviceMaxDomainLength + 1 + resourcev1.DeviceMaxIDLength
	if len(name) <= longest {
		return name
	}
	const kept = longest - len("...")
	return name[:(kept+1)/2] + "..." + name[len(name)-kept/2:]
}

func validateDeviceNodes(d *resourcev1.Device, perDevice bool, at *field.Path) field.ErrorList {
	if !perDevice {
		if d.NodeName == nil && d.NodeSelector == nil && d.AllNodes == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(at, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")}
	}
	var errs field.ErrorList
	var set []string
	switch name := at.Child("nodeName"); {
	case d.NodeName == nil:
	case *d.NodeName == "":
		errs = append(errs, field.Invalid(name, "", "must not be empty"))
	default:
		set = append(set, "`nodeName`")
		errs = append(errs, kind.Invalid(name, *d.NodeName, utilvalidation.IsDNS1123Subdomain(*d.NodeName))...)
	}
	if d.NodeSelector != nil {
		set = append(set, "`nodeSelector`")
		errs = append(errs, podspec.ValidateNodeSelector(d.NodeSelector, at.Child("nodeSelector"))...)
	}
	switch {
	case d.AllNodes == nil:
	case *d.AllNodes:
		set = append(set, "`allNodes`")
	default:
		errs = append(errs, field.Invalid(at.Child("allNodes"), false, "must be either unset or set to true"))
	}
	const one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	switch len(set) {
	case 0:
		errs = append(errs, field.Required(at, one))
	case 1:
	default:
		errs = append(errs, field.Invalid(at, "{"+strings.Join(set, ", ")+"}", one))
	}
	return errs
}

func validateTaint(t resourcev1.DeviceTaint, at *field.Path) field.ErrorList {
	return append(validateTaintLabel(t, at), kind.OneOf(at.Child("effect"), t.Effect, taintEffects...)...)
}

// validateTaintLabel validates the key and the value of a taint.
func validateTaintLabel(t resourcev1.DeviceTaint, at *field.Path) field.ErrorList {
	errs := kind.Invalid(at.Child("key"), t.Key, content.IsLabelKey(t.Key))
	if t.Value != "" {
		errs = append(errs, kind.Invalid(at.Child("value"), t.Value, content.IsLabelValue(t.Value))...)
	}
	return errs
}

func validateCounters(name string, counters map[string]resourcev1.Counter, at *field.Path, nameField string, most int) field.ErrorList {
	errs := kind.Formatted(at.Child(nameField), name, utilvalidation.IsDNS1123Label)
	switch n := len(counters); {
	case n == 0:
		return append(errs, field.Required(at.Child("counters"), ""))
	case n > most:
		return append(errs, field.TooMany(at.Child("counters"), n, most))
	}
	for _, counter := range slices.Sorted(maps.Keys(counters)) {
		errs = append(errs, kind.Invalid(at.Child("counters"), counter, utilvalidation.IsDNS1123Label(counter))...)
	}
	return errs
}

// semanticVersion matches the versions of semver.org.
var semanticVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
		`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)
})

// validateAttribute requires a value of exactly one type.
func validateAttribute(a resourcev1.DeviceAttribute, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := a.StringValue; s != nil && len(*s) > resourcev1.DeviceAttributeMaxValueLength {
		errs = append(errs, field.TooLong(at.Child("string"), "", resourcev1.DeviceAttributeMaxValueLength))
	}
	if v := a.VersionValue; v != nil && !semanticVersion().MatchString(*v) {
		errs = append(errs, field.Invalid(at.Child("version"), *v, "must be a string compatible with semver.org spec 2.0.0"))
	}
	if v := a.VersionValue; v != nil && len(*v) > resourcev1.DeviceAttributeMaxValueLength {
		errs = append(errs, field.TooLong(at.Child("version"), "", resourcev1.DeviceAttributeMaxValueLength))
	}
	const types = "one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
	switch set := attributeTypes(a); len(set) {
	case 0:
		errs = append(errs, field.Invalid(at, "", "must specify "+types))
	case 1:
	default:
		errs = append(errs, field.Invalid(at, "{"+strings.Join(set, ", ")+"}", "must specify exactly "+types))
	}
	return errs
}

// attributeTypes returns the names of the fields that are set. Empty lists do not count.
func attributeTypes(a resourcev1.DeviceAttribute) []string {
	var set []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"int", a.IntValue != nil}, {"bool", a.BoolValue != nil},
		{"string", a.StringValue != nil}, {"version", a.VersionValue != nil},
		{"ints", len(a.IntValues) > 0}, {"bools", len(a.BoolValues) > 0},
		{"strings", len(a.StringValues) > 0}, {"versions", len(a.VersionValues) > 0},
	} {
		if f.set {
			set = append(set, f.name)
		}
	}
	return set
}
