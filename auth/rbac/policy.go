package rbac

import (
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// policy is all roles and bindings at one time.
//
// Invariant: it never changes after it is built.
type policy struct {
	roles           map[string]*rbacv1.Role // by namespace/name
	clusterRoles    map[string]*rbacv1.ClusterRole
	bindings        map[string][]*rbacv1.RoleBinding // by namespace, in the order of names
	clusterBindings []*rbacv1.ClusterRoleBinding     // in the order of names
}

// grant names the binding, and the subject in it, that rules come from.
type grant struct {
	kind, binding string
	role          rbacv1.RoleRef
	subject       rbacv1.Subject
	namespace     string
}

func (g grant) String() string {
	subject := g.subject.Name
	if g.subject.Kind == rbacv1.ServiceAccountKind {
		namespace := g.subject.Namespace
		if namespace == "" {
			namespace = g.namespace
		}
		subject += "/" + namespace
	}
	binding := g.binding
	if g.namespace != "" {
		binding += "/" + g.namespace
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q", g.kind, binding, g.role.Kind, g.role.Name, g.subject.Kind, subject)
}

// visitor sees the rules of one binding, or why they cannot be found. It
// returns whether to go on.
type visitor func(source grant, rules []rbacv1.PolicyRule, err error) bool

// visit shows all that bindings give a user: cluster-wide, then in the
// namespace if there is one.
func (p *policy) visit(user *authenticationv1.UserInfo, namespace string, see visitor) {
	if user == nil {
		return
	}
	for _, b := range p.clusterBindings {
		if subject, ok := subjectFor(user, b.Subjects, ""); ok {
			rules, err := p.rulesOf(b.RoleRef, "")
			source := grant{kind: "ClusterRoleBinding", binding: b.Name, role: b.RoleRef, subject: subject}
			if !see(source, rules, err) {
				return
			}
		}
	}
	if namespace == "" {
		return
	}
	for _, b := range p.bindings[namespace] {
		if subject, ok := subjectFor(user, b.Subjects, namespace); ok {
			rules, err := p.rulesOf(b.RoleRef, namespace)
			source := grant{kind: "RoleBinding", binding: b.Name, role: b.RoleRef, subject: subject, namespace: namespace}
			if !see(source, rules, err) {
				return
			}
		}
	}
}

// rulesFor returns all rules that hold for a user in a namespace, and what
// stood in the way of others.
func (p *policy) rulesFor(user *authenticationv1.UserInfo, namespace string) (rules []rbacv1.PolicyRule, faults []error) {
	p.visit(user, namespace, func(_ grant, found []rbacv1.PolicyRule, err error) bool {
		rules = append(rules, found...)
		if err != nil {
			faults = append(faults, err)
		}
		return true
	})
	return rules, faults
}

// rulesOf returns the rules of the role that a binding in a namespace, or in
// none, refers to.
func (p *policy) rulesOf(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	switch ref.Kind {
	case "Role":
		if role, ok := p.roles[namespace+"/"+ref.Name]; ok {
			return role.Rules, nil
		}
		return nil, apierrors.NewNotFound(rbacv1.Resource("role"), ref.Name)
	case "ClusterRole":
		if role, ok := p.clusterRoles[ref.Name]; ok {
			return role.Rules, nil
		}
		return nil, apierrors.NewNotFound(rbacv1.Resource("clusterrole"), ref.Name)
	default:
		return nil, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
	}
}

// subjectFor returns the first subject that a user is. namespace is that of
// the binding.
func subjectFor(user *authenticationv1.UserInfo, subjects []rbacv1.Subject, namespace string) (rbacv1.Subject, bool) {
	i := slices.IndexFunc(subjects, func(s rbacv1.Subject) bool {
		switch s.Kind {
		case rbacv1.UserKind:
			return s.Name == user.Username
		case rbacv1.GroupKind:
			return slices.Contains(user.Groups, s.Name)
		case rbacv1.ServiceAccountKind:
			home := namespace
			if s.Namespace != "" {
				home = s.Namespace
			}
			return home != "" && user.Username == "system:serviceaccount:"+home+":"+s.Name
		default:
			return false
		}
	})
	if i < 0 {
		return rbacv1.Subject{}, false
	}
	return subjects[i], true
}
