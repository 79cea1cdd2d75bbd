/* The commands. Each gets the words from its own name on and returns an exit status (lib/flags.h).
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#define GDNN_COMMAND(name, help) int cmd_##name(int argc, char **argv);
#include "commands.def"
#undef GDNN_COMMAND

#endif
