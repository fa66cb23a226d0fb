// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package killtest

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// failSyscalls makes the system fail what this process does from now on: "fsync NAME", and
// its fsyncs of the file with that name fail as on a disk that has an error.
func failSyscalls(arg string) error {
	what, name, _ := strings.Cut(arg, " ")
	if what != "fsync" {
		return fmt.Errorf("unknown: %s", what)
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	found := 0
	for _, fd := range fds {
		to, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err != nil || filepath.Base(to) != name {
			continue
		}
		var n uint32
		fmt.Sscan(fd.Name(), &n)
		if err := failFsync(n); err != nil {
			return err
		}
		found++
	}
	if found == 0 {
		return fmt.Errorf("%s isn't open", name)
	}
	return nil
}

// failFsync has the kernel return EIO for the fsyncs of a descriptor, on all threads.
func failFsync(fd uint32) error {
	const (
		nr  = 0  // offsets in struct seccomp_data
		arg = 16 // the low half of the first argument, on a little-endian machine
	)
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: nr},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FSYNC, Jt: 1},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FDATASYNC, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: arg},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: fd, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	f := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&f)))
	if errno != 0 {
		return errno
	}
	return nil
}

// limitFiles makes writes of a process past so many bytes of a file fail, after what fits
// was written.
func limitFiles(pid int, size int64) error {
	l := unix.Rlimit{Cur: uint64(size), Max: unix.RLIM_INFINITY}
	return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &l, nil)
}

// mountDisk mounts a small disk until the test ends, and reports whether that is allowed.
func mountDisk(t testing.TB, dir string, bytes int) bool {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", bytes)); err != nil {
		t.Logf("no disk can be mounted: %v", err)
		return false
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return true
}

// fillDisk takes all the room that a disk has. What it returns gives it back.
func fillDisk(t testing.TB, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, ".ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, zeros{}); err == nil {
		t.Fatal("the disk has no end")
	}
	f.Close()
	return func() {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// ignoreLimits has writes past a limit fail, instead of ending the process by a signal.
func ignoreLimits() { signal.Ignore(unix.SIGXFSZ) }
