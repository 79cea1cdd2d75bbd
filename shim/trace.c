#include "append.h"
#include "log.h"
#include "problem.h"
#include "stats.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static gdnn_append_file trace = GDNN_APPEND_CLOSED;

static void open_trace(void)
{
    char path[GDNN_APPEND_PATH];
    if (!gdnn_append_open(&trace, gdnn_options_get()->trace, path))
        gdnn_log_stderr("GROUPDNN_TRACE: cannot open %s: %m; nothing is traced", path);
}

/* True if an older route has the same problem: only the oldest is written, whichever thread comes here first. */
static bool seen_before(const gdnn_route *route)
{
    for (const gdnn_route *older = route->next; older; older = older->next)
        if (gdnn_conv_equal(&older->key.conv, &route->key.conv))
            return true;
    return false;
}

void gdnn_trace_route(const gdnn_route *route)
{
    if (!*gdnn_options_get()->trace || seen_before(route))
        return;
    int saved = errno;
    pthread_once(&trace.once, open_trace);
    char line[1024 + 1];
    size_t length = gdnn_conv_format(&route->key.conv, line, sizeof line - 1);
    if (length < sizeof line - 1) {
        line[length] = '\n';
        if (gdnn_append_loses(&trace, line, length + 1))
            gdnn_log_stderr("GROUPDNN_TRACE: lines are lost: %m");
    }
    errno = saved;
}
