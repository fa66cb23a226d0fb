// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"reflect"
	"strings"

	"github.com/undersign/undersign/internal/service"
)

// starters make the services that a configuration asks for, in this order. One that isn't
// asked for is nil.
var starters = []func(*Config, *service.Host) (service.Service, error){startThreshold, startAggregate}

// reloaded are the keys of the configuration that hold without a restart.
var reloaded = map[string]bool{
	"rule": true, "log.level": true, "limits.call": true, "limits.calls": true, "limits.drain": true,
}

// changes returns the keys that differ and need a restart.
func changes(a, b Config) []string { return differ("", reflect.ValueOf(a), reflect.ValueOf(b)) }

func differ(prefix string, a, b reflect.Value) (keys []string) {
	for i := range a.NumField() {
		tag, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("toml"), ",")
		if tag == "" || tag == "-" || reloaded[prefix+tag] {
			continue
		}
		x, y := a.Field(i), b.Field(i)
		switch {
		case x.Kind() == reflect.Struct && x.NumField() > 0 && x.Type().Field(0).Tag.Get("toml") != "":
			keys = append(keys, differ(prefix+tag+".", x, y)...)
		case !reflect.DeepEqual(x.Interface(), y.Interface()):
			keys = append(keys, prefix+tag)
		}
	}
	return keys
}
