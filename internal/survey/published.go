// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"slices"
	"strings"
)

// Published is what the survey says of a scheme.
type Published struct {
	Scheme string `json:"scheme"` // as it names it
	*Table1
	// Sizes are those of libgroupsig, its table 3.
	Sizes *Table3 `json:"libgroupsig,omitempty"`
	// Times are of libgroupsig 1.1.0, its table 4.
	Times []Table4 `json:"times,omitempty"`
}

// Table1 has operations and sizes: E is a power or a multiple in a group, /e a pairing.
// Sizes are for elements of 175 bits in G1 and G2, 1050 in GT, 170 in Zp, 1024 in G*n and
// 160 in Zq.
type Table1 struct {
	Sign          string `json:"sign"`
	Verify        string `json:"verify"`
	Signature     string `json:"signature"`
	SignatureBits int    `json:"signature_bits"`
	Key           string `json:"public_key"`
	KeyBits       int    `json:"public_key_bits,omitempty"`
	Assumptions   string `json:"assumptions"`
	Revocation    string `json:"revocation"`
}

// Table3 has sizes in bytes.
type Table3 struct {
	Signature int `json:"signature_bytes"`
	Group     int `json:"group_key_bytes"`
	Manager   int `json:"manager_key_bytes"`
	Member    int `json:"member_key_bytes"`
}

// Table4 has processor times on a device, in milliseconds.
type Table4 struct {
	Device string  `json:"device"`
	Setup  float64 `json:"setup_ms"`
	Join   float64 `json:"join_ms"`
	Sign   float64 `json:"sign_ms"`
	Verify float64 `json:"verify_ms"`
}

// devices of table 4: two phones with Android, one with iOS, and a Raspberry Pi.
var devices = [4]string{"Samsung A53 5G", "Huawei P20 Lite", "iPhone 12 mini", "ARM Cortex-A53, 1 GHz"}

func times(ms ...float64) []Table4 {
	var out []Table4
	for i, name := range devices {
		out = append(out, Table4{name, ms[4*i], ms[4*i+1], ms[4*i+2], ms[4*i+3]})
	}
	return out
}

// published is in the order of the survey's tables.
var published = []Published{
	{
		Scheme: "BBS04",
		Table1: &Table1{"9 E_G1 + 3 E_GT", "1 /e + 8 E_G1 + 2 E_G2 + 3 E_GT", "3 G1 + 6 Zp", 1545, "4 G1 + 2 G2", 1050, "q-SDH, DLIN, ECDL", "secret key"},
		Sizes:  &Table3{373, 2150, 670, 670},
		Times: times(26.31, 8.59, 15.32, 21.70, 72.51, 23.61, 44.14, 61.32,
			3.51, 1.21, 2.54, 3.09, 292.86, 98.47, 178.70, 254.98),
	},
	{
		Scheme: "DP06",
		Table1: &Table1{"8 E_G1 + 3 E_GT", "1 /e + 7 E_G1 + 2 E_G2 + 3 E_GT", "4 G1 + 5 Zp", 1559, "4 G1 + 2 G2", 1050, "q-SDH, XDH, DLIN, ECDL", "secret key"},
	},
	{
		Scheme: "HLCCN11",
		Table1: &Table1{"7 E_G1 + 5 E_GT", "1 /e + 5 E_G1 + 2 E_G2 + 4 E_GT", "3 G1 + 5 Zp", 5600, "6 G1 + 2 G2", 1400, "q-SDH, XDH, DLIN, ECDL", "secret key"},
	},
	{
		Scheme: "ACJT00",
		Table1: &Table1{"12 E_G*n", "10 E_G*n", "7 G*n + 1 Zq", 7328, "6 G*n", 6144, "SRSA, DDH, DL", "credential, list"},
	},
	{
		Scheme: "CG05",
		Table1: &Table1{"10 E_G*n", "10 E_G*n", "8 G*n + 1 Zq", 8352, "7 G*n + 1 Zq", 7328, "SRSA, DDH, DL", "credential, list"},
	},
	{
		Scheme: "IMSTY06",
		Table1: &Table1{"7 E_G*n + 8 E_G1", "7 E_G*n + 8 E_G1", "5 G*n + 5 Zp + 1 Zq", 6155, "7 G*n + 4 Zp", 7848, "SRSA, DH, ECDL", "credential"},
	},
	{
		Scheme: "HMGS13",
		Table1: &Table1{"9 E_G*n", "10 E_G*n", "7 G*n + 1 Zq", 7328, "5 G*n", 5120, "DL, IF", "list"},
	},
	{
		Scheme: "PS16",
		Table1: &Table1{"2 E_G1 + 1 E_GT", "3 /e + 1 E_G1 + 1 E_GT", "2 G1 + 2 Zp", 690, "3 G2", 525, "DDH, LRSW", "secret key"},
		Sizes:  &Table3{177, 354, 146, 18},
		Times: times(6.18, 24.57, 9.96, 21.78, 17.24, 68.83, 27.54, 59.65,
			1.36, 3.07, 2.24, 2.76, 61.16, 285.17, 115.38, 252.39),
	},
	{
		Scheme: "GL19",
		Table1: &Table1{"16 E_G1 + 15 E_Z_n2", "2 /e + 12 E_G1 + 11 E_Z_n2", "3 G1 + 6 Zp + 1 H + 6 Z*_n2", 7945, "1 G1 + 1 G2 + parameters", 0, "DL, DDH, q-SDH", "secret key"},
		Sizes:  &Table3{697, 618, 234, 42},
		Times: times(10.46, 31.24, 20.11, 28.11, 30.19, 87.29, 58.87, 80.31,
			1.10, 3.61, 2.53, 3.40, 111.80, 362.24, 235.79, 331.20),
	},
	{
		Scheme: "KLAP20",
		Table1: &Table1{"4 E_G1", "3 /e + 2 E_G1", "3 G1 + 2 Zp", 1280, "3 G1 + 1 Zp", 695, "SDL, XDH, GPS", "secret key"},
		Sizes:  &Table3{229, 554, 98, 18},
		Times: times(8.91, 81.42, 3.39, 20.73, 24.90, 226.18, 10.01, 56.83,
			1.43, 7.78, 0.74, 2.16, 95.58, 962.24, 40.31, 240.21),
	},
	{
		Scheme: "DL21",
		Table1: &Table1{"14 E_G1", "2 /e + 9 E_G1", "4 G1 + 5 Zp + 1 H", 1806, "1 G1", 175, "DL, DDH, q-SDH", "secret key"},
		Sizes:  &Table3{461, 358, 74, 26},
		Times: times(6.42, 29.56, 11.73, 21.52, 18.18, 82.35, 34.08, 60.68,
			1.01, 4.34, 1.65, 2.90, 63.35, 342.82, 136.38, 251.91),
	},
	{
		Scheme: "DL21SEQ",
		Sizes:  &Table3{549, 358, 156, 28},
		Times: times(6.44, 29.69, 11.80, 21.65, 18.20, 82.41, 34.08, 60.65,
			0.98, 3.55, 1.71, 2.90, 63.51, 343.02, 136.36, 251.85),
	},
}

// PublishedOf returns what the survey says of a scheme, or nil.
func PublishedOf(name string) *Published {
	i := slices.IndexFunc(published, func(p Published) bool { return strings.EqualFold(p.Scheme, name) })
	if i < 0 {
		return nil
	}
	return &published[i]
}

// Absent returns what the survey says of schemes that aren't among some rows.
func Absent(rows []Row) []Published {
	var out []Published
	for _, p := range published {
		if !slices.ContainsFunc(rows, func(r Row) bool { return strings.EqualFold(r.Scheme, p.Scheme) }) {
			out = append(out, p)
		}
	}
	return out
}
