// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Names of what is measured.
const (
	opSetup     = "setup"
	opJoin      = "join"
	opSign      = "sign"
	opSignScope = "sign, new scope"
	opParsed    = "verify, parsed"
	opVerify    = "verify, from bytes"
	opBatch     = "batch of %d, each"
	opOpen      = "open"
	opOpenMany  = "open, %d members"
	opLink      = "link %d"
	opCheckLink = "verify link of %d"
	opConvert   = "convert %d"

	compactLayout = ", compact"
	parsedBefore  = ", parsed"
)

// pairingThen is what one pairing of gnark-crypto took when the figures of
// libgroupsig were taken, on that machine.
const pairingThen = 601 * time.Microsecond

// publishedGroup is what others have published on a scheme.
type publishedGroup struct {
	// libgroupsig, by mcl, in one thread: minima in microseconds. Zero isn't known.
	join, sign, verify, batch float64
	open, openEach            float64 // openEach is for each member
	link                      float64 // of 10 signatures
	size                      int     // of a signature, in bytes

	// Dobias, Malina, Ilgner and Dzurenda 2023: table 1, on curves of 175 bits;
	// table 3, of libgroupsig; table 4, libgroupsig 1.1.0 on devices in CPU ms.
	surveyBits, surveySize int
	surveyOps              [2]string // signing, verifying
	devices                [4][4]float64
}

var surveyDevices = [4]string{"Samsung A53 5G", "Huawei P20 Lite", "iPhone 12 mini", "Cortex-A53"}

// libgroupsig's BBS04 is the static form; the dynamic one proves a secret more.
var publishedBBS04 = publishedGroup{
	sign: 1204, verify: 1703, size: 373,
	surveyBits: 1545, surveySize: 373,
	surveyOps: [2]string{"9 G1 + 3 GT", "1 e + 8 G1 + 2 G2 + 3 GT"},
	devices:   [4][4]float64{{26.31, 8.59, 15.32, 21.70}, {72.51, 23.61, 44.14, 61.32}, {3.51, 1.21, 2.54, 3.09}, {292.86, 98.47, 178.70, 254.98}},
}

// groupPublished has nothing on bbsgs, which is ours alone. The survey has nothing on
// cpy06 and ds18, and libgroupsig neither dp06, hlccn11 nor ds18.
var groupPublished = map[string]publishedGroup{
	"bbs04": publishedBBS04, "bbs04-static": publishedBBS04,
	"dp06":    {surveyBits: 1559, surveyOps: [2]string{"8 G1 + 3 GT", "1 e + 7 G1 + 2 G2 + 3 GT"}},
	"hlccn11": {surveyBits: 5600, surveyOps: [2]string{"7 G1 + 5 GT", "1 e + 5 G1 + 2 G2 + 4 GT"}},
	"cpy06":   {sign: 2770, verify: 3304, open: 130, size: 1089},
	"ps16": {
		join: 2000, sign: 808, verify: 1761, open: 2400, openEach: 1000, size: 177,
		surveyBits: 690, surveySize: 177,
		surveyOps: [2]string{"2 G1 + 1 GT", "3 e + 1 G1 + 1 GT"},
		devices:   [4][4]float64{{6.18, 24.57, 9.96, 21.78}, {17.24, 68.83, 27.54, 59.65}, {1.36, 3.07, 2.24, 2.76}, {61.16, 285.17, 115.38, 252.39}},
	},
	"klap20": {
		join: 7500, sign: 241, verify: 1689, batch: 243, open: 3100, openEach: 4900, size: 229,
		surveyBits: 1280, surveySize: 229,
		surveyOps: [2]string{"4 G1", "3 e + 2 G1"},
		devices:   [4][4]float64{{8.91, 81.42, 3.39, 20.73}, {24.90, 226.18, 10.01, 56.83}, {1.43, 7.78, 0.74, 2.16}, {95.58, 962.24, 40.31, 240.21}},
	},
	"gl19": {
		join: 2600, sign: 1522, verify: 2152, size: 697,
		surveyBits: 7945, surveySize: 697,
		surveyOps: [2]string{"16 G1 + 15 Z_n2", "2 e + 12 G1 + 11 Z_n2"},
		devices:   [4][4]float64{{10.46, 31.24, 20.11, 28.11}, {30.19, 87.29, 58.87, 80.31}, {1.10, 3.61, 2.53, 3.40}, {111.80, 362.24, 235.79, 331.20}},
	},
	"dl21": {
		join: 2500, sign: 926, verify: 1702, link: 24600, size: 461,
		surveyBits: 1806, surveySize: 461,
		surveyOps: [2]string{"14 G1", "2 e + 9 G1"},
		devices:   [4][4]float64{{6.42, 29.56, 11.73, 21.52}, {18.18, 82.35, 34.08, 60.68}, {1.01, 4.34, 1.65, 2.90}, {63.35, 342.82, 136.38, 251.91}},
	},
	"dl21seq": {
		sign: 932, verify: 1744, size: 581,
		surveySize: 549,
		devices:    [4][4]float64{{6.44, 29.69, 11.80, 21.65}, {18.20, 82.41, 34.08, 60.65}, {0.98, 3.55, 1.71, 2.90}, {63.51, 343.02, 136.36, 251.85}},
	},
}

// figure returns what libgroupsig took for an operation, in microseconds, or 0. It
// has a batch verification for KLAP20 alone, which batches aren't compared with here:
// they are with its verification one by one.
func (p *publishedGroup) figure(op string) float64 {
	if batch, ok := strings.CutSuffix(op, compactLayout); ok {
		op = batch
	} else if op != opParsed {
		op = strings.TrimSuffix(op, parsedBefore)
	}
	switch op {
	case opJoin:
		return p.join
	case opSign:
		return p.sign
	case opParsed, opVerify, fmt.Sprintf(opBatch, groupBatches[0]), fmt.Sprintf(opBatch, groupBatches[1]):
		return p.verify
	case opOpen:
		return p.open + p.openEach
	case fmt.Sprintf(opOpenMany, groupMembers):
		return p.open + groupMembers*p.openEach
	case fmt.Sprintf(opLink, groupLinked):
		return p.link
	}
	return 0
}

// printSurvey prints what isn't measured here at all.
func printSurvey(w io.Writer, names []string) {
	fmt.Fprintln(w, "\nPUBLISHED, not measured here: libgroupsig 1.1.0 on devices, CPU ms of setup / join / sign / verify")
	fmt.Fprintln(w, "(Dobias, Malina, Ilgner and Dzurenda, ARES 2023, table 4)")
	t := newTable(w)
	fmt.Fprint(t, "\t")
	for _, d := range surveyDevices {
		fmt.Fprintf(t, "%s\t", d)
	}
	fmt.Fprintln(t)
	for _, name := range names {
		p := groupPublished[name]
		if p.surveySize == 0 {
			continue
		}
		fmt.Fprintf(t, "%-12s\t", name)
		for _, d := range p.devices {
			fmt.Fprintf(t, "%.2f / %.2f / %.2f / %.2f\t", d[0], d[1], d[2], d[3])
		}
		fmt.Fprintln(t)
	}
	t.Flush()

	fmt.Fprintln(w, "\nPUBLISHED, the same survey, table 1: multiplications and pairings (e), and bits on curves of 175 bits")
	t = newTable(w)
	fmt.Fprintln(t, "\tsigning\tverifying\tsignature\t")
	for _, name := range names {
		if p := groupPublished[name]; p.surveyBits > 0 {
			fmt.Fprintf(t, "%-12s\t%s\t%s\t%d bits\t\n", name, p.surveyOps[0], p.surveyOps[1], p.surveyBits)
		}
	}
	t.Flush()
}
