// Package zerovalues has only tests. They call all methods of the zero values of exported types.
package zerovalues

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// A Package lists the types of some packages to test, and the expectations.
type Package struct {
	// Dirs are the directories of the packages, relative to the root of the module.
	Dirs []string
	// Types are pointers to a value of each type. All types of the directories with exported methods
	// must be listed, so that new types are tested too.
	Types []any
	// Arguments returns a valid argument for each parameter type of the methods. Use [Interface] for
	// interface types.
	Arguments func() []any
	// Refuse lists the Types whose zero value is unusable. Each of their methods whose last result is
	// an error, or an iterator over errors, must return an error that matches Input. Methods named in
	// MayPass are exempt.
	Refuse  []any
	Input   error
	MayPass []string
	// Except maps methods that may panic, as "Type.Method", to the reason.
	Except map[string]string
}

// An argument is an argument for parameters of an interface type.
type argument struct {
	of    reflect.Type
	value reflect.Value
}

// Interface makes v the argument for parameters of the interface T.
func Interface[T any](v T) any { return argument{reflect.TypeFor[T](), reflect.ValueOf(&v).Elem()} }

// failures calls every method of the zero value of every type by reflection. It calls each with the
// arguments, and with zero values for parameters other than a context, a reader or a writer. It
// returns an error for each method that panics, or returns no error although it must.
func (p Package) failures() (list []error) {
	excused := map[string]bool{}
	for _, of := range p.Types {
		kind := reflect.TypeOf(of)
		refuses := slices.ContainsFunc(p.Refuse, func(v any) bool { return reflect.TypeOf(v) == kind })
		for i := range kind.NumMethod() {
			m := kind.Method(i)
			name := baseName(kind) + "." + m.Name
			for _, zeros := range []bool{false, true} {
				err := p.try(kind, m, zeros, refuses && !slices.Contains(p.MayPass, m.Name))
				if _, may := p.Except[name]; may {
					excused[name] = excused[name] || errors.Is(err, errPanic)
				} else if err != nil {
					list = append(list, fmt.Errorf("%s of a zero value: %w", name, err))
				}
			}
		}
	}
	for name := range p.Except {
		if !excused[name] {
			list = append(list, fmt.Errorf("%s does not panic: remove it from the exceptions", name))
		}
	}
	return list
}

var errPanic = errors.New("panic")

// try calls a method of a zero value.
func (p Package) try(kind reflect.Type, m reflect.Method, zeros, refuses bool) (err error) {
	in, err := p.arguments(m, zeros)
	if err != nil {
		return err
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", errPanic, v)
		}
	}()
	out := m.Func.Call(append([]reflect.Value{reflect.New(kind.Elem())}, in...))
	if len(out) == 0 {
		return nil
	}
	last := out[len(out)-1]
	if k := last.Type(); k.Kind() == reflect.Func && !last.IsNil() && k.NumIn() == 1 && k.In(0).Kind() == reflect.Func {
		last = first(last)
	}
	if !refuses || !last.IsValid() || last.Type() != reflect.TypeFor[error]() {
		return nil
	}
	if got, _ := last.Interface().(error); !errors.Is(got, p.Input) {
		return fmt.Errorf("returns the error %v; it must be %v", got, p.Input)
	}
	return nil
}

// first requests one element of an iterator and returns its last part.
func first(iterator reflect.Value) (last reflect.Value) {
	yield := iterator.Type().In(0)
	iterator.Call([]reflect.Value{reflect.MakeFunc(yield, func(got []reflect.Value) []reflect.Value {
		if len(got) > 0 {
			last = got[len(got)-1]
		}
		return []reflect.Value{reflect.ValueOf(false)}
	})})
	return last
}

// arguments returns the arguments of a method without its receiver, and without the variadic ones.
func (p Package) arguments(m reflect.Method, zeros bool) (in []reflect.Value, err error) {
	var given []any
	if p.Arguments != nil {
		given = p.Arguments()
	}
	n := m.Type.NumIn()
	if m.Type.IsVariadic() {
		n--
	}
	for i := 1; i < n; i++ {
		of := m.Type.In(i)
		always := of == reflect.TypeFor[context.Context]() || of == reflect.TypeFor[io.Reader]() ||
			of == reflect.TypeFor[io.Writer]()
		if zeros && !always {
			in = append(in, reflect.Zero(of))
			continue
		}
		k := slices.IndexFunc(given, func(v any) bool {
			a, isInterface := v.(argument)
			return isInterface && a.of == of || reflect.TypeOf(v) == of
		})
		if k < 0 {
			return nil, fmt.Errorf("the test has no argument of type %v: add one", of)
		}
		if a, isInterface := given[k].(argument); isInterface {
			in = append(in, a.value)
		} else {
			in = append(in, reflect.ValueOf(given[k]))
		}
	}
	return in, nil
}

// complete returns an error if an exported type of the directories, which are below root, has
// exported methods and is not tested.
func (p Package) complete(root string) error {
	tried := map[string]bool{}
	for _, v := range p.Types {
		tried[baseName(reflect.TypeOf(v))] = true
	}
	var missing []string
	for _, dir := range p.Dirs {
		names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return fmt.Errorf("there is no package in %s", dir)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				f, is := d.(*ast.FuncDecl)
				if !is || f.Recv == nil || !f.Name.IsExported() {
					continue
				}
				if of := receiver(f.Recv.List[0].Type); ast.IsExported(of) && !tried[of] {
					missing = append(missing, of)
					tried[of] = true
				}
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("methods of %s are not tested: add these types to the test", strings.Join(missing, ", "))
	}
	return nil
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// baseName returns the name of the type pointed to, without its parameters.
func baseName(pointer reflect.Type) string {
	name, _, _ := strings.Cut(pointer.Elem().Name(), "[")
	return name
}
