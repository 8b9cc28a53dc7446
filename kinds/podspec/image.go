package podspec

import (
	"regexp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// maxRepository is the longest path of an image in its registry.
const maxRepository = 255

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
		repository := strings.TrimSuffix(name, ":latest")
		if len(repositoryOf(repository)) <= maxRepository && !isDigest(repository) && reference().MatchString(image) {
			return corev1.PullAlways
		}
	}
	return corev1.PullIfNotPresent
}

// isDigest reports whether a name consists of 64 hexadecimal digits, which no repository has.
func isDigest(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// repositoryOf returns the path of an image in its registry. The official images of the default
// registry are in the folder library.
func repositoryOf(name string) string {
	host, path, ok := strings.Cut(name, "/")
	switch {
	case !ok:
		return "library/" + name
	case host != "localhost" && !strings.ContainsAny(host, ".:") && strings.ToLower(host) == host:
		return name
	case (host == "docker.io" || host == "index.docker.io") && !strings.Contains(path, "/"):
		return "library/" + path
	}
	return path
}
