# SPDX-License-Identifier: Apache-2.0

# LENS_LIBRARY(VARIABLE-PREFIX, PC-MODULE, DEBIAN-PACKAGE, RPM-PACKAGE)
AC_DEFUN([LENS_LIBRARY], [dnl
PKG_CHECK_MODULES([$1], [$2], [],
	[LENS_MISSING([library $2], [$3], [$4])])])

# LENS_LIBRARIES: what the plugin (libmd) and the program (all) link.
AC_DEFUN([LENS_LIBRARIES], [dnl
PKG_PROG_PKG_CONFIG
AS_IF([test -z "$PKG_CONFIG"],
	[LENS_MISSING([program pkg-config], [pkg-config], [pkgconf-pkg-config])])
LENS_LIBRARY([MD], [libmd], [libmd-dev], [libmd-devel])
LENS_LIBRARY([CURL], [libcurl >= 7.71], [libcurl4-openssl-dev], [libcurl-devel])
LENS_LIBRARY([PROTOBUF_C], [libprotobuf-c], [libprotobuf-c-dev], [protobuf-c-devel])
LENS_LIBRARY([JSON_C], [json-c], [libjson-c-dev], [json-c-devel])
LENS_LIBRARY([ZLIB], [zlib], [zlib1g-dev], [zlib-devel])])
