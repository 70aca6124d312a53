/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SITE_SLURM_CONF_H
#define LENS_SITE_SLURM_CONF_H

/*
 * slurm.conf on this machine: SLURM_CONF, which counts when it is absolute, else the built-in
 * place, else what slurmd of a configless cluster keeps. The caller frees; NULL: no memory.
 */
char *lens_slurm_conf_path(void);

/*
 * What KEY (any case), at the begin of a line, is set to in slurm.conf PATH or in what it includes (a
 * relative name is one beside the file that has it, seen with 22.05; `%c` in one is not known); of
 * several lines the last. The caller frees; NULL: it is not there, or PATH cannot be read.
 */
char *lens_slurm_conf_get(const char *path, const char *key);

#endif
