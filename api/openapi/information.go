package openapi

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// root is the path of what is no resource, and the operation that reads it.
type root struct {
	name string
	operation
}

// roots are the version, the groups, and what a server tells of its tokens.
func roots(config Config) []root {
	list := []root{
		{"version", information("getCodeVersion", "version", "get the version information for this server", version.Info{})},
		{"apis", information("getAPIVersions", "apis", "get available API versions", metav1.APIGroupList{})},
	}
	list[0].answer.media = encodings[:1]
	for _, g := range config.Groups {
		switch {
		case g.Name == "":
			list = append(list, root{"api", information("getCoreAPIVersions", "core", "get available API versions", metav1.APIVersions{})})
		case !g.Custom:
			list = append(list, root{"apis/" + g.Name, information("get"+camel(g.Name)+"APIGroup", groupTag(g.Name), "get information of a group", metav1.APIGroup{})})
		}
	}
	if config.OpenID {
		list = append(list, openIDRoots()...)
	}
	return list
}

func openIDRoots() []root {
	configuration := information("getServiceAccountIssuerOpenIDConfiguration", "WellKnown",
		"get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'", "")
	configuration.answer.media = encodings[:1]
	keys := information("getServiceAccountIssuerOpenIDKeyset", "openid",
		"get service account issuer OpenID JSON Web Key Set (contains public token verification keys)", "")
	keys.answer.media = []string{"application/jwk-set+json"}
	return []root{{".well-known/openid-configuration", configuration}, {"openid/v1/jwks", keys}}
}

// information is an operation that reads what is no resource.
func information(id, tag, description string, model any) operation {
	o := operation{method: "get", id: id, tag: tag, description: description}
	o.answer = answer{[]int{http.StatusOK}, modelName(model), encodings}
	return o
}

// listOfResources is the route that tells what a group version has.
func listOfResources(gv schema.GroupVersion) route {
	list := information(operationID("get", gv, "APIResources"), tagOf(gv), "get available resources", metav1.APIResourceList{})
	return route{rootOf(gv) + "/", []operation{list}}
}
