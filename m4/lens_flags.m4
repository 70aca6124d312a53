# SPDX-License-Identifier: Apache-2.0

# LENS_TRY_FLAG(VARIABLE, FLAG): adds FLAG to VARIABLE when the compiler takes it
# without a word (clang only warns about what it does not know).
AC_DEFUN([LENS_TRY_FLAG], [dnl
AC_MSG_CHECKING([whether $CC accepts $2])
lens_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror $2"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[]], [[]])],
	[AC_MSG_RESULT([yes]); $1="$$1 $2"],
	[AC_MSG_RESULT([no])])
CFLAGS=$lens_saved_CFLAGS])

# LENS_FORTIFY: _FORTIFY_SOURCE=2 where it means something: with optimisation,
# and unless the compiler or the packager defined it already.
AC_DEFUN([LENS_FORTIFY], [dnl
AC_MSG_CHECKING([whether to define _FORTIFY_SOURCE])
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#if defined(_FORTIFY_SOURCE) || !defined(__OPTIMIZE__)
#error no
#endif
int unused;
]])], [lens_fortify=yes], [lens_fortify=no])
AS_IF([test "$enable_sanitizers" = yes], [lens_fortify=no])
AC_MSG_RESULT([$lens_fortify])
AS_IF([test "$lens_fortify" = yes],
	[LENS_CPPFLAGS="$LENS_CPPFLAGS -D_FORTIFY_SOURCE=2"])])

# LENS_FLAGS: --enable-werror, --enable-sanitizers and the variables
#   LENS_CPPFLAGS  for every file
#   LENS_CFLAGS    language and hardening, for every file, generated ones too
#   LENS_WARNINGS  for the files that are ours
#   LENS_LDFLAGS   for everything linked; LENS_PIE_LDFLAGS for programs
# The objects of programs are position independent because libtool makes all of them so (LT_INIT's
# pic-only) and the compilers of today do by default.
AC_DEFUN([LENS_FLAGS], [dnl
AC_ARG_ENABLE([werror],
	[AS_HELP_STRING([--enable-werror], [make compiler warnings errors])],
	[], [enable_werror=no])
AC_ARG_ENABLE([sanitizers],
	[AS_HELP_STRING([--enable-sanitizers], [build with AddressSanitizer and
		UBSan: `make check-asan` does; such a plugin loads into no Slurm as it is])],
	[], [enable_sanitizers=no])

AC_ARG_ENABLE([fuzzing],
	[AS_HELP_STRING([--enable-fuzzing], [build for libFuzzer, with clang and the sanitizers:
		`make fuzz` does])],
	[], [enable_fuzzing=no])
AS_IF([test "$enable_fuzzing" = yes], [enable_sanitizers=yes])

lens_sanitize=
LENS_CPPFLAGS=
LENS_CFLAGS=
LENS_WARNINGS=
LENS_LDFLAGS=
LENS_PIE_LDFLAGS=

LENS_TRY_FLAG([LENS_CFLAGS], [-std=gnu11])
LENS_TRY_FLAG([LENS_CFLAGS], [-fvisibility=hidden])
LENS_TRY_FLAG([LENS_CFLAGS], [-fstack-protector-strong])
LENS_TRY_FLAG([LENS_CFLAGS], [-fstack-clash-protection])
LENS_TRY_FLAG([LENS_CFLAGS], [-fcf-protection])
LENS_TRY_FLAG([LENS_CFLAGS], [-fno-strict-aliasing])
AS_IF([test "$enable_sanitizers" = yes],
	[LENS_TRY_FLAG([lens_sanitize], [-fsanitize=address,undefined])
	AS_IF([test -z "$lens_sanitize"],
		[LENS_MISSING([the sanitizers' run time of $CC],
			[libasan8 for gcc, libclang-rt-dev for clang],
			[libasan and libubsan for gcc, compiler-rt for clang])])
	AS_IF([test "$enable_fuzzing" = yes],
		[LENS_TRY_FLAG([lens_sanitize], [-fsanitize=fuzzer-no-link])
		AS_CASE([$lens_sanitize],
			[*fuzzer*], [],
			[LENS_MISSING([libFuzzer of $CC], [clang libclang-rt-dev], [clang compiler-rt])])])
	lens_sanitize="$lens_sanitize -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
	LENS_CFLAGS="$LENS_CFLAGS $lens_sanitize"
	LENS_LDFLAGS="$LENS_LDFLAGS $lens_sanitize"])
m4_foreach_w([lens_flag],
	[-Wall -Wextra -Wshadow -Wconversion -Wformat=2 -Wmissing-prototypes
	-Wstrict-prototypes -Wold-style-definition -Wpointer-arith -Wundef
	-Wvla],
	[LENS_TRY_FLAG([LENS_WARNINGS], m4_quote(lens_flag))
])
AS_IF([test "$enable_werror" = yes], [LENS_WARNINGS="$LENS_WARNINGS -Werror"])
LENS_FORTIFY
LENS_TRY_FLAG([LENS_LDFLAGS], [-Wl,-z,relro])
LENS_TRY_FLAG([LENS_LDFLAGS], [-Wl,-z,now])
LENS_TRY_FLAG([LENS_PIE_LDFLAGS], [-pie])

AM_CONDITIONAL([FUZZING], [test "$enable_fuzzing" = yes])
AM_CONDITIONAL([SANITIZERS], [test "$enable_sanitizers" = yes])
AC_SUBST([LENS_CPPFLAGS])
AC_SUBST([LENS_CFLAGS])
AC_SUBST([LENS_WARNINGS])
AC_SUBST([LENS_LDFLAGS])
AC_SUBST([LENS_PIE_LDFLAGS])])
