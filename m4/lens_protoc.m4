# SPDX-License-Identifier: Apache-2.0

# LENS_PROTOC: the compiler of lib/otlp/trace.proto as PROTOC. protobuf-c 1.5
# deprecates protoc-c for protoc with a plugin, which older ones do not always bring.
AC_DEFUN([LENS_PROTOC], [dnl
AC_PATH_PROG([PROTOC_C], [protoc-c])
AC_PATH_PROG([PROTOC_PLAIN], [protoc])
AC_PATH_PROG([PROTOC_GEN_C], [protoc-gen-c])
AS_IF([test -n "$PROTOC_PLAIN" && test -n "$PROTOC_GEN_C"],
	[PROTOC="$PROTOC_PLAIN --plugin=protoc-gen-c=$PROTOC_GEN_C"],
	[test -n "$PROTOC_C"],
	[PROTOC=$PROTOC_C],
	[LENS_MISSING([program protoc-c], [protobuf-c-compiler], [protobuf-c-compiler])])
AC_SUBST([PROTOC])])
