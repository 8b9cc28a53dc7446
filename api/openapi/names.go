package openapi

import (
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// camel joins the words of a group's name: "RbacAuthorization". What Kubernetes
// itself owns goes without its domain; the legacy group is called core.
func camel(group string) string {
	if group == "" {
		return "Core"
	}
	var name strings.Builder
	for word := range strings.FieldsFuncSeq(strings.TrimSuffix(group, ".k8s.io"), isPunctuation) {
		name.WriteString(title(word))
	}
	return name.String()
}

func isPunctuation(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

// tagOf is what operations of a group version are filed under.
func tagOf(gv schema.GroupVersion) string {
	return groupTag(gv.Group) + "_" + gv.Version
}

func groupTag(group string) string {
	name := camel(group)
	return strings.ToLower(name[:1]) + name[1:]
}

// operationID puts the group version behind the verb, which keeps identifiers
// unique across documents.
func operationID(verb string, gv schema.GroupVersion, rest string) string {
	return verb + camel(gv.Group) + title(gv.Version) + rest
}

func title(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// withArticle puts "a" or "an" in front of a kind; plurals go without.
func withArticle(kind string) string {
	if strings.HasSuffix(kind, "s") && !strings.HasSuffix(kind, "ss") {
		return kind
	}
	if strings.ContainsRune("aeiouAEIOU", rune(kind[0])) {
		return "an " + kind
	}
	return "a " + kind
}
