package podspec

import (
	"regexp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// maxImage is the longest name of an image.
const maxImage = 255

// reference matches the name of an image: a registry, a path, a tag and a digest.
var reference = sync.OnceValue(func() *regexp.Regexp {
	const (
		label    = `(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`
		host     = `(?:` + label + `(?:\.` + label + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
		segment  = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
		path     = segment + `(?:/` + segment + `)*`
		tag      = `[\w][\w.-]{0,127}`
		scheme   = `[A-Za-z][A-Za-z0-9]*`
		checksum = scheme + `(?:[-_+.]` + scheme + `)*:[[:xdigit:]]{32,}`
	)
	return regexp.MustCompile(`^(?:` + host + `/)?` + path + `(?::` + tag + `)?(?:@` + checksum + `)?$`)
})

// pullPolicy returns Always for an image with the tag latest or without a tag, else IfNotPresent.
// Malformed names are left to validation.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, digested := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if tag == "latest" || !tagged && !digested {
		if len(name) <= maxImage && reference().MatchString(image) {
			return corev1.PullAlways
		}
	}
	return corev1.PullIfNotPresent
}
