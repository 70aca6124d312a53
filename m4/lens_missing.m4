# SPDX-License-Identifier: Apache-2.0

# LENS_MISSING(WHAT, DEBIAN-PACKAGE, RPM-PACKAGE)
# Notes one thing that the build cannot do without. Nothing fails yet: the
# person sees everything that is missing at once, at the end.
AC_DEFUN([LENS_MISSING], [dnl
lens_missing="$lens_missing
  $1 (Debian: $2; RPM: $3)"])

# LENS_MISSING_REPORT: fails with the whole list when anything was noted.
AC_DEFUN([LENS_MISSING_REPORT], [dnl
AS_IF([test -n "$lens_missing"],
	[AC_MSG_ERROR([missing:$lens_missing])])])
