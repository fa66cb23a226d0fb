// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
)

// A world is all who take part, each at an address of its own.
type world struct {
	ca      *authority
	node    *node // the farmer's, and another
	other   *node
	farmer  *farmer
	wallets []*wallet
	urls    map[string]string
	closers []func()
}

// newWorld starts a farmer, two nodes and some wallets, each with a coin.
func newWorld(wallets int) (x *world, err error) {
	x = &world{urls: map[string]string{}}
	defer func() {
		if err != nil {
			x.close()
		}
	}()
	if x.ca, err = newAuthority(); err != nil {
		return nil, err
	}
	var coins []coin
	for i := range wallets {
		w := newWallet(fmt.Sprintf("wallet-%d", i))
		x.wallets = append(x.wallets, w)
		coins = append(coins, coin{Key: w.newKey(), Amount: 1000})
	}
	x.node, x.other = newNode(coins...), newNode(coins...)
	x.farmer = &farmer{id: 1, node: x.node, wallets: map[string]*peer{}}
	if err := x.start("farmer", x.farmer.handler()); err != nil {
		return nil, err
	}
	for name, n := range map[string]*node{"node": x.node, "other": x.other} {
		if err := x.start(name, n.handler()); err != nil {
			return nil, err
		}
		p, err := x.dial("farmer", name)
		if err != nil {
			return nil, err
		}
		x.farmer.nodes = append(x.farmer.nodes, p)
	}
	for _, w := range x.wallets {
		if err := x.start(w.name, w.handler()); err != nil {
			return nil, err
		}
		if x.farmer.wallets[w.name], err = x.dial("farmer", w.name); err != nil {
			return nil, err
		}
		if w.farmer, err = x.dial(w.name, "farmer"); err != nil {
			return nil, err
		}
		if w.node, err = x.dial(w.name, "node"); err != nil {
			return nil, err
		}
		if err := w.refresh(context.Background()); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// start serves under a name.
func (x *world) start(name string, h http.Handler) error {
	config, err := x.ca.config(name)
	if err != nil {
		return err
	}
	url, close, err := serve(config, h)
	if err != nil {
		return err
	}
	x.urls[name] = url
	x.closers = append(x.closers, close)
	return nil
}

// dial returns a peer as another sees it.
func (x *world) dial(from, to string) (*peer, error) {
	config, err := x.ca.config(from)
	if err != nil {
		return nil, err
	}
	t := &http.Transport{TLSClientConfig: config}
	x.closers = append(x.closers, t.CloseIdleConnections)
	return &peer{x.urls[to], &http.Client{Transport: t}}, nil
}

func (x *world) close() {
	for _, f := range x.closers {
		f()
	}
}
