package openapi

import (
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// camel returns the name of a group in camel case, such as "RbacAuthorization". The domain k8s.io
// is omitted; the legacy group is "Core".
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

// tagOf returns the tag of the operations of a group version.
func tagOf(gv schema.GroupVersion) string {
	return groupTag(gv.Group) + "_" + gv.Version
}

func groupTag(group string) string {
	name := camel(group)
	return strings.ToLower(name[:1]) + name[1:]
}

// operationID returns an identifier with the group version after the verb, which makes it unique
// across documents.
func operationID(verb string, gv schema.GroupVersion, rest string) string {
	return verb + camel(gv.Group) + title(gv.Version) + rest
}

func title(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// withArticle returns a kind with "a" or "an" before it. Plurals have no article.
func withArticle(kind string) string {
	if strings.HasSuffix(kind, "s") && !strings.HasSuffix(kind, "ss") {
		return kind
	}
	if strings.ContainsRune("aeiouAEIOU", rune(kind[0])) {
		return "an " + kind
	}
	return "a " + kind
}
