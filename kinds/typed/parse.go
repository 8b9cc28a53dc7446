package typed

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// parser parses the notation of one type. rest is the unread input, err the first error.
type parser struct {
	rest string
	uses []string
	err  error
}

func parse(name, notation string) (definition, error) {
	p := &parser{rest: notation}
	ref := p.ref()
	if p.err == nil && p.rest != "" {
		p.fail()
	}
	if p.err != nil {
		return definition{}, fmt.Errorf("type %q: %w", name, p.err)
	}
	atom := ref.Inlined
	if ref.NamedType != nil {
		atom = anything[*ref.NamedType]
	}
	return definition{TypeDef: schema.TypeDef{Name: name, Atom: atom}, uses: p.uses}, nil
}

func (p *parser) fail() {
	if p.err == nil {
		p.err = fmt.Errorf("cannot read %.20q", p.rest)
	}
	p.rest = ""
}

// take consumes a prefix if the input begins with it.
func (p *parser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

// until consumes the input up to one of the characters.
func (p *parser) until(chars string) string {
	end := strings.IndexAny(p.rest, chars)
	if end < 0 {
		end = len(p.rest)
	}
	read := p.rest[:end]
	p.rest = p.rest[end:]
	return read
}

var scalars = map[byte]schema.Scalar{'s': schema.String, 'n': schema.Numeric, 'b': schema.Boolean, 'u': schema.Untyped}

// ref parses a type.
func (p *parser) ref() schema.TypeRef {
	switch {
	case p.take("!"):
		return p.relate(schema.Atomic)
	case p.take("~"):
		return p.relate(schema.Separable)
	case p.take("@"):
		return p.use(p.until(" }="))
	case p.take("*"):
		return p.use(untypedName)
	case p.take("?"):
		return p.use(deducedName)
	case p.take("["):
		return schema.TypeRef{Inlined: schema.Atom{List: p.list()}}
	case p.take("{"):
		return schema.TypeRef{Inlined: schema.Atom{Map: p.object()}}
	}
	if p.rest != "" {
		if scalar, ok := scalars[p.rest[0]]; ok {
			p.rest = p.rest[1:]
			return schema.TypeRef{Inlined: schema.Atom{Scalar: &scalar}}
		}
	}
	p.fail()
	return schema.TypeRef{}
}

func (p *parser) use(name string) schema.TypeRef {
	p.uses = append(p.uses, name)
	return named(name)
}

// relate parses a type and its relationship of elements.
func (p *parser) relate(r schema.ElementRelationship) schema.TypeRef {
	ref := p.ref()
	switch {
	case ref.NamedType != nil:
		ref.ElementRelationship = &r
	case ref.Inlined.Map != nil:
		ref.Inlined.Map.ElementRelationship = r
	}
	return ref
}

func (p *parser) list() *schema.List {
	list := &schema.List{ElementRelationship: schema.Associative}
	switch keys := p.until("]"); keys {
	case "":
		list.ElementRelationship = schema.Atomic
	case "=":
	default:
		list.Keys = strings.Split(keys, ",")
	}
	if !p.take("]") {
		p.fail()
	}
	list.ElementType = p.ref()
	return list
}

func (p *parser) object() *schema.Map {
	object := &schema.Map{}
	for p.err == nil && !p.take("}") {
		name := p.until(":")
		if !p.take(":") {
			p.fail()
			break
		}
		field := schema.StructField{Name: name, Type: p.ref()}
		if p.take("=") {
			field.Default = p.value()
		}
		p.take(" ")
		if name == "" {
			object.ElementType = field.Type
			continue
		}
		object.Fields = append(object.Fields, field)
	}
	return object
}

func (p *parser) value() (value any) {
	if err := json.Unmarshal([]byte(p.until(" }")), &value); err != nil {
		p.fail()
	}
	return value
}
