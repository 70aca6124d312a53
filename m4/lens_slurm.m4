# SPDX-License-Identifier: Apache-2.0

# LENS_SLURM_VERSION: lens_slurm_version=22.05.8 out of slurm/slurm_version.h,
# whose number has one byte per part (0x160508).
AC_DEFUN([LENS_SLURM_VERSION], [dnl
AC_MSG_CHECKING([for the version of Slurm])
AC_COMPUTE_INT([lens_slurm_number], [SLURM_VERSION_NUMBER],
	[#include <slurm/slurm_version.h>], [lens_slurm_number=0])
lens_slurm_version=`printf '%d.%02d.%d' \
	$(( (lens_slurm_number >> 16) & 255 )) \
	$(( (lens_slurm_number >> 8) & 255 )) $(( lens_slurm_number & 255 ))`
AC_MSG_RESULT([$lens_slurm_version])])

# LENS_SLURM_LOAD_JOB: 26.05 asks for a slurm_step_id_t where earlier ones asked
# for the job id. Compiling tells; the version number would only suggest.
AC_DEFUN([LENS_SLURM_LOAD_JOB], [dnl
AC_MSG_CHECKING([whether slurm_load_job takes a slurm_step_id_t])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <slurm/slurm.h>]],
	[[slurm_step_id_t step = { 0 };
	job_info_msg_t *jobs = 0;
	return slurm_load_job(&jobs, step, 0);]])],
	[AC_MSG_RESULT([yes])
	AC_DEFINE([HAVE_SLURM_LOAD_JOB_STEP_ID], [1],
		[slurm_load_job takes a slurm_step_id_t])],
	[AC_MSG_RESULT([no])])])

# LENS_SLURM_LIBDIRS: the places of a library below $lens_slurm_prefix.
AC_DEFUN([LENS_SLURM_LIBDIRS], [dnl
lens_multiarch=`$CC -print-multiarch 2>/dev/null`
lens_slurm_libdirs=
for lens_dir in ${lens_multiarch:+"lib/$lens_multiarch"} lib64 lib; do
	test -d "$lens_slurm_prefix/$lens_dir" &&
		lens_slurm_libdirs="$lens_slurm_libdirs $lens_slurm_prefix/$lens_dir"
done])

# LENS_SLURM_LIBRARY: SLURM_LIBS. Debian's libslurm has no .pc file. A prefix of
# its own gets a run path, or the program would not find its libslurm.
AC_DEFUN([LENS_SLURM_LIBRARY], [dnl
SLURM_LIBS=
AC_MSG_CHECKING([for libslurm])
lens_saved_LIBS=$LIBS
for lens_dir in $lens_slurm_libdirs; do
	AS_CASE([$lens_slurm_prefix],
		[/usr], [lens_try=-lslurm],
		[lens_try="-L$lens_dir -Wl,-rpath,$lens_dir -lslurm"])
	LIBS="$lens_try $lens_saved_LIBS"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <slurm/slurm.h>]],
		[[slurm_init(0);]])], [SLURM_LIBS=$lens_try])
	test -n "$SLURM_LIBS" && break
done
LIBS=$lens_saved_LIBS
AC_MSG_RESULT([${SLURM_LIBS:-no}])
AC_SUBST([SLURM_LIBS])
AS_IF([test -z "$SLURM_LIBS"],
	[LENS_MISSING([libslurm below $lens_slurm_prefix], [libslurm-dev], [slurm-devel])])])

# LENS_SLURM_PLUGINDIR: where Slurm looks for plugins: the directory that holds
# some; failing that, the usual name beside libslurm.
AC_DEFUN([LENS_SLURM_PLUGINDIR], [dnl
AC_MSG_CHECKING([for the directory of Slurm's plugins])
AS_IF([test -z "$SLURM_PLUGINDIR"], [
	for lens_dir in $lens_slurm_libdirs; do
		for lens_name in slurm-wlm slurm; do
			set -- "$lens_dir/$lens_name"/*.so
			test -e "$[]1" || continue
			SLURM_PLUGINDIR=$lens_dir/$lens_name
			break 2
		done
	done])
AS_IF([test -z "$SLURM_PLUGINDIR"], [
	AS_IF([test -n "$lens_multiarch" -a "$lens_slurm_prefix" = /usr],
		[SLURM_PLUGINDIR=/usr/lib/$lens_multiarch/slurm-wlm],
		[test -d "$lens_slurm_prefix/lib64"],
		[SLURM_PLUGINDIR=$lens_slurm_prefix/lib64/slurm],
		[SLURM_PLUGINDIR=$lens_slurm_prefix/lib/slurm])])
AC_MSG_RESULT([$SLURM_PLUGINDIR])
AC_SUBST([SLURM_PLUGINDIR])])

# LENS_SLURM: --with-slurm, --with-slurm-plugindir; SLURM_CPPFLAGS, SLURM_LIBS,
# SLURM_PLUGINDIR, lens_slurm_version.
AC_DEFUN([LENS_SLURM], [dnl
AC_ARG_WITH([slurm],
	[AS_HELP_STRING([--with-slurm=PREFIX], [where Slurm is installed (/usr)])],
	[lens_slurm_prefix=$withval], [lens_slurm_prefix=/usr])
AC_ARG_WITH([slurm-plugindir],
	[AS_HELP_STRING([--with-slurm-plugindir=DIR],
		[where Slurm looks for plugins (found beside libslurm)])],
	[SLURM_PLUGINDIR=$withval], [SLURM_PLUGINDIR=])
AS_CASE([$lens_slurm_prefix],
	[yes], [lens_slurm_prefix=/usr],
	[no], [AC_MSG_ERROR([--without-slurm: there is nothing to build without Slurm])])
SLURM_CPPFLAGS=
AS_IF([test "$lens_slurm_prefix" != /usr],
	[SLURM_CPPFLAGS="-isystem $lens_slurm_prefix/include"])
AC_SUBST([SLURM_CPPFLAGS])
lens_slurm_version=unknown
LENS_SLURM_LIBDIRS
lens_saved_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$SLURM_CPPFLAGS $CPPFLAGS"
AC_MSG_CHECKING([for slurm/spank.h])
AS_IF([test -f "$lens_slurm_prefix/include/slurm/spank.h"],
	[AC_MSG_RESULT([$lens_slurm_prefix/include/slurm/spank.h])
	LENS_SLURM_VERSION
	LENS_SLURM_LOAD_JOB
	AC_CHECK_DECLS([ESPANK_JOB_FAILURE], [], [], [[#include <slurm/spank.h>]])
	LENS_SLURM_LIBRARY
	LENS_SLURM_PLUGINDIR],
	[AC_MSG_RESULT([no])
	LENS_MISSING([slurm/spank.h below $lens_slurm_prefix/include],
		[libslurm-dev], [slurm-devel])])
CPPFLAGS=$lens_saved_CPPFLAGS])
