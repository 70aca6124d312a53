/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_SPANKHOST_NAMES_H
#define LENS_TESTS_SPANKHOST_NAMES_H

#include <slurm/spank.h>

/* SPANK's answers by name, as quirks.txt has them. */
static inline const char *spankhost_rc_name(spank_err_t rc)
{
	switch ((int)rc) {
	case ESPANK_SUCCESS:
		return "SUCCESS";
	case ESPANK_ERROR:
		return "ERROR";
	case ESPANK_BAD_ARG:
		return "BAD_ARG";
	case ESPANK_NOT_TASK:
		return "NOT_TASK";
	case ESPANK_ENV_EXISTS:
		return "ENV_EXISTS";
	case ESPANK_ENV_NOEXIST:
		return "ENV_NOEXIST";
	case ESPANK_NOSPACE:
		return "NOSPACE";
	case ESPANK_NOT_REMOTE:
		return "NOT_REMOTE";
	case ESPANK_NOEXIST:
		return "NOEXIST";
	case ESPANK_NOT_EXECD:
		return "NOT_EXECD";
	case ESPANK_NOT_AVAIL:
		return "NOT_AVAIL";
	case ESPANK_NOT_LOCAL:
		return "NOT_LOCAL";
	default:
		return "another";
	}
}

#endif
