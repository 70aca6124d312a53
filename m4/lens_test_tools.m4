# SPDX-License-Identifier: Apache-2.0

# LENS_CHECK_NEEDS(WHAT, DEBIAN-PACKAGE, RPM-PACKAGE): notes it for make check.
AC_DEFUN([LENS_CHECK_NEEDS], [dnl
LENS_CHECK_MISSING="${LENS_CHECK_MISSING:+$LENS_CHECK_MISSING, }$1 (Debian: $2; RPM: $3)"])

# LENS_TEST_TOOLS: cmocka, bats, openssl, what renders manual pages, the linters. Only
# `make check`, `make lint` and `make format-check` need them; without them those targets fail with
# LENS_CHECK_MISSING: a check that could not run is no check that passed.
AC_DEFUN([LENS_TEST_TOOLS], [dnl
LENS_CHECK_MISSING=
PKG_CHECK_MODULES([CMOCKA], [cmocka], [lens_have_cmocka=yes],
	[lens_have_cmocka=no
	LENS_CHECK_NEEDS([library cmocka], [libcmocka-dev], [libcmocka-devel])])
AC_PATH_PROG([BATS], [bats])
AS_IF([test -z "$BATS"], [LENS_CHECK_NEEDS([program bats], [bats], [bats])])
# Numbers must not change where the locale writes them with a comma.
AC_PATH_PROG([LOCALEDEF], [localedef])
AS_IF([test -z "$LOCALEDEF" || test ! -e /usr/share/i18n/locales/de_DE],
	[LENS_CHECK_NEEDS([source of the locale de_DE], [locales], [glibc-locale-source])])
AC_PATH_PROG([OPENSSL], [openssl])
AS_IF([test -z "$OPENSSL"], [LENS_CHECK_NEEDS([program openssl], [openssl], [openssl])])
AC_PATH_PROG([MANDOC], [mandoc])
AS_IF([test -z "$MANDOC"], [LENS_CHECK_NEEDS([program mandoc], [mandoc], [mandoc])])
AC_PATH_PROG([GROFF], [groff])
AS_IF([test -z "$GROFF"], [LENS_CHECK_NEEDS([program groff], [groff-base], [groff-base])])
AC_PATH_PROG([CLANG_FORMAT], [clang-format])
AC_PATH_PROG([SHELLCHECK], [shellcheck])
AC_PATH_PROG([CPPCHECK], [cppcheck])
AC_PATH_PROG([GCC_ANALYZER], [gcc])
AC_PATH_PROG([CLANG], [clang])
AC_PATH_PROG([CLANG_TIDY], [clang-tidy])
AC_PATH_PROG([VALGRIND], [valgrind])
AM_CONDITIONAL([HAVE_CMOCKA], [test "$lens_have_cmocka" = yes])
AC_SUBST([LENS_CHECK_MISSING])])
