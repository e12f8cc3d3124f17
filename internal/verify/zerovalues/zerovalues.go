// Package zerovalues is for tests: it calls all that can be called of zero values.
package zerovalues

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A Package says which types of a package are tried, and what is expected of them.
type Package struct {
	// Types are pointers to a value of each type. Those of the directory that have exported methods
	// must be among them, so that new ones are tried, too.
	Types []any
	// Arguments returns a value of each type that a method takes, good enough for a value that has
	// been made; interfaces by [Interface].
	Arguments func() []any
	// Refuse are those of Types of which every method that returns an error, at last or by an iterator,
	// has to return one that is Input: they are nothing before they are made. But for methods of the names
	// in MayPass.
	Refuse  []any
	Input   error
	MayPass []string
	// Except are methods, as "Type.Method", that may panic, and why.
	Except map[string]string
}

// An argument is one for parameters of an interface.
type argument struct {
	of    reflect.Type
	value reflect.Value
}

// Interface makes v the argument for parameters of type T, an interface.
func Interface[T any](v T) any { return argument{reflect.TypeFor[T](), reflect.ValueOf(&v).Elem()} }

// Check calls every method of a zero value of every type, found by reflection: with the arguments, and
// with the zero values of parameters that are not a context, a reader or a writer. It fails where
// one panics, or passes where it has to refuse. It reads the package in the current directory, which is
// the one under test.
func Check(t *testing.T, p Package) {
	t.Helper()
	if err := p.complete("."); err != nil {
		t.Error(err)
	}
	for _, err := range p.failures() {
		t.Error(err)
	}
}

// failures are what is wrong with the methods.
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
			list = append(list, fmt.Errorf("%s may panic, and does not: it is no exception", name))
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
		return fmt.Errorf("returns the error %v, must be %v", got, p.Input)
	}
	return nil
}

// first asks an iterator for one element and returns its last part.
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

// arguments are those for a method, but for its receiver; of a variadic one those before the dots.
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
		always := of == reflect.TypeFor[context.Context]() || of == reflect.TypeFor[io.Reader]() || of == reflect.TypeFor[io.Writer]()
		if zeros && !always {
			in = append(in, reflect.Zero(of))
			continue
		}
		k := slices.IndexFunc(given, func(v any) bool {
			a, isInterface := v.(argument)
			return isInterface && a.of == of || reflect.TypeOf(v) == of
		})
		if k < 0 {
			return nil, fmt.Errorf("the test has no %v to call it with: add one to its arguments", of)
		}
		if a, isInterface := given[k].(argument); isInterface {
			in = append(in, a.value)
		} else {
			in = append(in, reflect.ValueOf(given[k]))
		}
	}
	return in, nil
}

// complete tells which exported types of a directory have exported methods and are not tried.
func (p Package) complete(dir string) error {
	tried := map[string]bool{}
	for _, v := range p.Types {
		tried[baseName(reflect.TypeOf(v))] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var missing []string
	for _, e := range entries {
		if name := e.Name(); !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), dir+"/"+e.Name(), nil, parser.SkipObjectResolution)
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
	if len(missing) > 0 {
		return fmt.Errorf("methods of %s are not tried: add them to the types of the test", strings.Join(missing, ", "))
	}
	return nil
}

// receiver is the name of a receiver's type.
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

// baseName is the name of the type that is pointed to, without its parameters.
func baseName(pointer reflect.Type) string {
	name, _, _ := strings.Cut(pointer.Elem().Name(), "[")
	return name
}
