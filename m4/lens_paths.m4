# SPDX-License-Identifier: Apache-2.0

# LENS_EXPAND(VARIABLE, DIRECTORY): a directory variable as a plain path.
AC_DEFUN([LENS_EXPAND], [dnl
lens_saved_prefix=$prefix
lens_saved_exec_prefix=$exec_prefix
test "$prefix" = NONE && prefix=$ac_default_prefix
test "$exec_prefix" = NONE && exec_prefix=$prefix
$1=$2
while :; do
	eval "lens_expanded=$$1"
	test "$lens_expanded" = "$$1" && break
	$1=$lens_expanded
done
prefix=$lens_saved_prefix
exec_prefix=$lens_saved_exec_prefix])

# LENS_PATHS: the built-in places, in config.h.
AC_DEFUN([LENS_PATHS], [dnl
AC_ARG_WITH([state-dir],
	[AS_HELP_STRING([--with-state-dir=DIR],
		[default StateDir (/var/spool/slurm-lens)])],
	[lens_state_dir=$withval], [lens_state_dir=/var/spool/slurm-lens])
AC_SUBST([lens_state_dir])
AC_ARG_WITH([slurm-sysconfdir],
	[AS_HELP_STRING([--with-slurm-sysconfdir=DIR],
		[where slurm.conf is (PREFIX/etc of --with-slurm if there, else /etc/slurm)])],
	[lens_slurm_sysconfdir=$withval], [lens_slurm_sysconfdir=])
AS_IF([test -z "$lens_slurm_sysconfdir"],
	[AS_IF([test "$lens_slurm_prefix" != /usr && test -d "$lens_slurm_prefix/etc"],
		[lens_slurm_sysconfdir=$lens_slurm_prefix/etc],
		[lens_slurm_sysconfdir=/etc/slurm])])
LENS_EXPAND([lens_agent_path], ['${bindir}/slurm-lens'])
AC_DEFINE_UNQUOTED([LENS_DEFAULT_AGENT_PATH], ["$lens_agent_path"],
	[where make install puts the program])
AC_DEFINE_UNQUOTED([LENS_DEFAULT_STATE_DIR], ["$lens_state_dir"],
	[StateDir when nothing names one])
LENS_EXPAND([lens_slurm_plugindir], ['$SLURM_PLUGINDIR'])
AC_DEFINE_UNQUOTED([LENS_DEFAULT_PLUGIN_DIR], ["$lens_slurm_plugindir"],
	[where Slurm looks for plugins when nobody tells])
AC_DEFINE_UNQUOTED([LENS_SLURM_SYSCONFDIR], ["$lens_slurm_sysconfdir"],
	[where slurm.conf and lens.conf are when SLURM_CONF does not tell])])

# LENS_SUMMARY: what configure found, for the person who ran it.
AC_DEFUN([LENS_SUMMARY], [dnl
AS_IF([test -n "$LENS_CHECK_MISSING"],
	[lens_check_state="will fail, missing: $LENS_CHECK_MISSING"],
	[lens_check_state=ready])
AC_MSG_NOTICE([
  slurm-lens $PACKAGE_VERSION
    Slurm             $lens_slurm_version below $lens_slurm_prefix
    plugin            $SLURM_PLUGINDIR/lens.so
    program           $lens_agent_path
    lens.conf in      $lens_slurm_sysconfdir
    StateDir          $lens_state_dir
    compiler          $CC, werror $enable_werror, sanitizers $enable_sanitizers
    make check        $lens_check_state
])])
