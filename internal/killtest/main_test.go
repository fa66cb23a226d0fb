// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package killtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/failpoint"
	"github.com/undersign/undersign/internal/relay/nats/natstest"
	"github.com/undersign/undersign/node"
)

// A spec makes the test's program one of the processes of a test. It stands in the
// environment variable specEnv, as JSON.
type spec struct {
	Role    string // roleGateway, or else it is a node
	Dir     string
	Seconds int    // after which it ends by itself, whatever becomes of the test
	Apart   bool   // it waits until it is told how it is connected
	Forward string // where connections to queueAddress go
	Gateway *gatewaySpec
}

const specEnv = "UNDERSIGN_KILLTEST"

func TestMain(m *testing.M) {
	natstest.Main()
	text := os.Getenv(specEnv)
	if text == "" {
		os.Exit(m.Run())
	}
	ignoreLimits()
	var s spec
	err := json.Unmarshal([]byte(text), &s)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(s.Seconds)*time.Second)
		ctx, cancel2 := context.WithCancel(ctx)
		go func() {
			defer cancel2()
			obey(os.Stdin)
		}()
		if s.Apart {
			<-connected
			if s.Forward != "" {
				forward(queueAddress, s.Forward)
			}
		}
		if s.Role == roleGateway {
			err = runGateway(ctx, s)
		} else {
			err = runNode(ctx, s)
		}
		cancel2()
		cancel()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// connected is closed when the process has been told how it is connected.
var connected = make(chan struct{})

// obey does what the test says, a line each, until it says no more: then the process ends.
func obey(f *os.File) {
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		verb, arg, _ := strings.Cut(lines.Text(), " ")
		var err error
		switch verb {
		case "failpoint":
			failpoint.Set(arg)
		case "connect":
			if err = connectNamespace(arg); err == nil {
				close(connected)
			}
		case "syscall":
			err = failSyscalls(arg)
		default:
			err = errors.New("what?")
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", lines.Text(), err)
			os.Exit(1)
		}
		fmt.Fprintf(os.Stdout, "done %s\n", lines.Text())
	}
}

func runNode(ctx context.Context, s spec) error {
	cfg, err := node.Load(s.Dir)
	if err != nil {
		return err
	}
	n, err := node.New(cfg)
	if err != nil {
		return err
	}
	go func() {
		<-n.Ready()
		fmt.Println("ready")
	}()
	return n.Run(ctx)
}
