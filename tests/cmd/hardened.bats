#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What configure's hardening flags made of the two files that are installed.

bats_require_minimum_version 1.5.0

setup() {
	FILES=("$LENS_TEST_BUILDDIR/spank/.libs/lens.so" "$LENS_TEST_BUILDDIR/slurm-lens")
}

@test "relocations are read-only and made at once" {
	local file
	for file in "${FILES[@]}"; do
		readelf -lW "$file" | grep -q GNU_RELRO
		readelf -dW "$file" | grep -qE 'BIND_NOW|FLAGS_1.*NOW'
		run ! grep TEXTREL <(readelf -dW "$file")
	done
}

@test "neither has a place of its own, nor a run path" {
	local file
	for file in "${FILES[@]}"; do
		[ "$(readelf -hW "$file" | sed -n 's/ *Type: *\([A-Z]*\).*/\1/p')" = DYN ]
		run ! grep -E 'RPATH|RUNPATH' <(readelf -dW "$file")
	done
	readelf -dW "$LENS_TEST_BUILDDIR/slurm-lens" | grep -q 'FLAGS_1.*PIE'
}

@test "the stack is no code, and no segment is both written and run" {
	local file
	for file in "${FILES[@]}"; do
		readelf -lW "$file" | grep -q GNU_STACK
		run ! grep -E ' RWE ' <(readelf -lW "$file")
	done
}

@test "buffers on the stack and in calls of libc are checked" {
	local file symbols
	for file in "${FILES[@]}"; do
		symbols=$(readelf -sW --dyn-syms "$file")
		grep -q '__stack_chk_fail' <<<"$symbols"
		grep -qE '__(snprintf|vsnprintf|memcpy|read|pread)_chk' <<<"$symbols"
	done
}

# Of x86-64 alone. The note that a loader reads is there only where libc's own objects have it.
@test "jumps land where they may" {
	local file
	[ "$(uname -m)" = x86_64 ] || skip "no such instruction on $(uname -m)"
	for file in "${FILES[@]}"; do
		[ "$(objdump -d "$file" | grep -c endbr64)" -gt 50 ]
	done
}

@test "the plugin asks for libc and libmd alone" {
	run ! grep -vE '\[lib(c|md)\.so\.' <(readelf -dW "${FILES[0]}" | grep NEEDED)
}
