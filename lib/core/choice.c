/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/choice.h"
#include "lib/core/encoding.h"
#include "lib/core/show.h"

#include <string.h>

bool lens_run_id_valid(const char *id)
{
	size_t length = strlen(id);

	return length > 0 && length <= LENS_VALUE_MAX && lens_value_printable(id);
}
