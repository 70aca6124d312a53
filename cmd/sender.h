/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SENDER_H
#define LENS_CMD_SENDER_H

/*
 * The sender: the process of the agent that talks to the receiver, as AgentUser and with
 * nothing in its hands but the socket at this descriptor, where the keeper hands it settings
 * and requests. It ends when the keeper's end closes, and only then: signals that a terminal or
 * systemd sends to all of the agent's processes are for the keeper.
 */
#define SENDER_FD 3

#endif
