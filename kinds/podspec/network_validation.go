package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The limits of the resolver of Linux.
const (
	maxNameservers      = 3
	maxSearchPaths      = 32
	maxSearchCharacters = 2048
)

// maxHostname is the limit of Linux.
const maxHostname = 64

func validateDNS(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	c := spec.DNSConfig
	if spec.DNSPolicy == corev1.DNSNone {
		switch {
		case c == nil:
			return field.ErrorList{field.Required(at, "must provide `dnsConfig` when `dnsPolicy` is None")}
		case len(c.Nameservers) == 0:
			return field.ErrorList{field.Required(at.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")}
		}
	}
	if c == nil {
		return nil
	}
	var errs field.ErrorList
	nameservers := at.Child("nameservers")
	if len(c.Nameservers) > maxNameservers {
		errs = append(errs, field.Invalid(nameservers, c.Nameservers, fmt.Sprintf("must not have more than %d nameservers", maxNameservers)))
	}
	for i, address := range c.Nameservers {
		errs = append(errs, utilvalidation.IsValidIPForLegacyField(nameservers.Index(i), address, true, nil)...)
	}
	errs = append(errs, validateSearches(c.Searches, at.Child("searches"))...)
	for i, option := range c.Options {
		if option.Name == "" {
			errs = append(errs, field.Required(at.Child("options").Index(i), "must not be empty"))
		}
	}
	return errs
}

// validateSearches accepts a final dot, and a single dot.
func validateSearches(searches []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(searches) > maxSearchPaths {
		errs = append(errs, field.Invalid(at, searches, fmt.Sprintf("must not have more than %d search paths", maxSearchPaths)))
	}
	if len(strings.Join(searches, " ")) > maxSearchCharacters {
		errs = append(errs, field.Invalid(at, searches, fmt.Sprintf("must not have more than %d characters (including spaces) in the search list", maxSearchCharacters)))
	}
	for i, search := range searches {
		if search != "." {
			search = strings.TrimSuffix(search, ".")
			errs = append(errs, kind.Invalid(at.Index(i), search, utilvalidation.IsDNS1123SubdomainWithUnderscore(search))...)
		}
	}
	return errs
}

func validateHostAliases(aliases []corev1.HostAlias, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, alias := range aliases {
		at := at.Index(i)
		errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Child("ip"), alias.IP, true, nil)...)
		for j, name := range alias.Hostnames {
			errs = append(errs, kind.Invalid(at.Child("hostnames").Index(j), name, utilvalidation.IsDNS1123Subdomain(name))...)
		}
	}
	return errs
}

// validateHostname validates the host name and the subdomain of the pod.
func validateHostname(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.Hostname != "" {
		errs = append(errs, kind.Invalid(at.Child("hostname"), spec.Hostname, utilvalidation.IsDNS1123Label(spec.Hostname))...)
	}
	if spec.Subdomain != "" {
		errs = append(errs, kind.Invalid(at.Child("subdomain"), spec.Subdomain, utilvalidation.IsDNS1123Label(spec.Subdomain))...)
	}
	return errs
}

// validateHostnameOverride validates the name that replaces all others.
func validateHostnameOverride(spec *corev1.PodSpec, override *field.Path) field.ErrorList {
	name := spec.HostnameOverride
	if name == nil {
		return nil
	}
	var errs field.ErrorList
	if spec.SetHostnameAsFQDN != nil && *spec.SetHostnameAsFQDN {
		errs = append(errs, field.Forbidden(override, "may not be specified when setHostnameAsFQDN is true"))
	}
	if spec.HostNetwork {
		errs = append(errs, field.Forbidden(override, "may not be specified when hostNetwork is true"))
	}
	if len(*name) > maxHostname {
		errs = append(errs, field.TooLong(override, *name, maxHostname))
	}
	return append(errs, kind.Invalid(override, *name, utilvalidation.IsDNS1123Subdomain(*name))...)
}

// validateHostPorts requires host ports that equal the container ports in the network of the node.
// Templates may leave them out, because defaults set them for pods.
func validateHostPorts(s *scope, at *field.Path) field.ErrorList {
	if !s.HostNetwork {
		return nil
	}
	var errs field.ErrorList
	for i := range s.Containers {
		for j, port := range s.Containers[i].Ports {
			if port.HostPort != port.ContainerPort && (s.pod != nil || port.HostPort != 0) {
				errs = append(errs, field.Invalid(at.Index(i).Child("ports").Index(j).Child("hostPort"), port.HostPort,
					"must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return errs
}
