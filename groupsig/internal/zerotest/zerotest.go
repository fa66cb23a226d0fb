// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package zerotest tests that zero values are refused: what a program has declared,
// and forgotten to fill in, gives errors, and neither panics nor verifies anything.
package zerotest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

var errorType = reflect.TypeFor[error]()

// Test calls every exported method of values, which are pointers to zero values, with
// arguments that are zero values themselves, or pointers to such. A method that can
// return an error must, unless it is among those that are fine, as "Type.Method".
func Test(t *testing.T, values []any, fine ...string) {
	for _, v := range values {
		p := reflect.ValueOf(v)
		if p.Kind() != reflect.Pointer || !p.Elem().IsZero() {
			t.Fatalf("%T isn't a pointer to a zero value", v)
		}
		for i := range p.NumMethod() {
			m := p.Type().Method(i)
			name := p.Type().Elem().Name() + "." + m.Name
			if m.Name == "Format" { // takes what only package fmt makes
				_ = fmt.Sprintf("%v %#v %s %x", v, v, v, v)
				continue
			}
			// A fresh value: the method before may have filled this one in.
			f := reflect.New(p.Type().Elem()).Method(i)
			call(t, name, f, slices.Contains(fine, name))
		}
	}
}

// Calls calls every exported method of a value that isn't zero, but Wipe, with
// arguments as in Test, and demands no more than that none panics.
func Calls(t *testing.T, v any) {
	p := reflect.ValueOf(v)
	for i := range p.NumMethod() {
		if name := p.Type().Method(i).Name; name != "Wipe" && name != "Format" {
			call(t, p.Type().String()+"."+name, p.Method(i), true)
		}
	}
}

func call(t *testing.T, name string, f reflect.Value, fine bool) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s panics: %v", name, r)
		}
	}()
	var args []reflect.Value
	n := f.Type().NumIn()
	if f.Type().IsVariadic() {
		n--
	}
	for i := range n {
		in := f.Type().In(i)
		switch in.Kind() {
		case reflect.Pointer:
			args = append(args, reflect.New(in.Elem()))
		case reflect.Func:
			args = append(args, reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value {
				var out []reflect.Value
				for i := range in.NumOut() {
					out = append(out, reflect.Zero(in.Out(i)))
				}
				return out
			}))
		default:
			args = append(args, reflect.Zero(in))
		}
	}
	out := f.Call(args)
	if fine || len(out) == 0 {
		return
	}
	if last := out[len(out)-1]; last.Type() == errorType && last.IsNil() {
		t.Errorf("%s returns no error", name)
	}
}
