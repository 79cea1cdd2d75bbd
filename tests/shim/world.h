/* The system as tests of the search want it. Linked with --wrap for each function below: ld.so.cache, the
 * default folders and the path known when built are below a folder of the test's, and any call can fail. */
#ifndef GDNN_TESTS_SHIM_WORLD_H
#define GDNN_TESTS_SHIM_WORLD_H

/* The folder that stands for the rest of the system: $GDNN_TEST_SYSTEM at first. Under it is
 * /etc/ld.so.cache, for example, at $GDNN_TEST_SYSTEM/etc/ld.so.cache. */
extern const char *world_system;

/* What AT_SECURE is: $GDNN_TEST_SECURE at first. */
extern int world_secure;

/* Wrapped calls so far, and the number of the one that fails; 0: none. */
extern int world_calls, world_fails_at;

/* Mappings that were made and are still there. */
extern int world_mapped;

#endif
