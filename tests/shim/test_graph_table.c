/* graph_table: descriptors of every kind of life, full tables, forks. */
#include "child.h"
#include "graph_table.h"
#include "unit.h"
#include <pthread.h>
#include <unistd.h>

enum { MANY = 20000 };

/* Addresses as an allocator gives them. */
static const void *address(int i)
{
    return (const void *)(uintptr_t)(0x7f0000001000 + 48 * (uint64_t)i);
}

static bool has(const void *descriptor)
{
    gdnn_graph_entry *entry = gdnn_graph_table_lock(descriptor);
    if (entry)
        gdnn_graph_table_unlock(entry);
    return entry;
}

static void add(gdnn_graph_entry *entry, const void *descriptor)
{
    gdnn_graph_entry *replaced;
    entry->descriptor = descriptor;
    assert_true(gdnn_graph_table_add(entry, &replaced));
    assert_null(replaced);
}

static void what_was_added_is_found_until_it_is_taken(void **state)
{
    (void)state;
    gdnn_graph_entry *entries = calloc(MANY, sizeof *entries);
    assert_null(gdnn_graph_table_take(address(0)));
    assert_false(has(NULL));
    for (int i = 0; i < MANY; i++) {
        assert_false(has(address(i)));
        add(&entries[i], address(i));
    }
    assert_int_equal(gdnn_graph_table_entries(), MANY);
    for (int i = 0; i < MANY; i += 2)
        assert_ptr_equal(gdnn_graph_table_take(address(i)), &entries[i]);
    for (int i = 0; i < MANY; i++) {
        gdnn_graph_entry *entry = gdnn_graph_table_lock(address(i));
        assert_ptr_equal(entry, i % 2 ? &entries[i] : NULL);
        if (entry)
            gdnn_graph_table_unlock(entry);
    }
    for (int i = 1; i < MANY; i += 2)
        assert_ptr_equal(gdnn_graph_table_take(address(i)), &entries[i]);
    assert_int_equal(gdnn_graph_table_entries(), 0);
    free(entries);
}

static void an_address_that_comes_again_replaces(void **state)
{
    (void)state;
    gdnn_graph_entry first, second, *replaced;
    add(&first, address(7));
    second.descriptor = address(7);
    assert_true(gdnn_graph_table_add(&second, &replaced));
    assert_ptr_equal(replaced, &first);
    assert_int_equal(gdnn_graph_table_entries(), 1);
    assert_ptr_equal(gdnn_graph_table_take(address(7)), &second);
    assert_null(gdnn_graph_table_take(address(7)));
}

static void a_full_table_takes_no_more(void **state)
{
    (void)state;
    gdnn_graph_entry *entries = calloc(GDNN_GRAPH_TABLE_MAX, sizeof *entries), more, *replaced;
    assert_non_null(entries);
    for (int i = 0; i < GDNN_GRAPH_TABLE_MAX; i++) {
        entries[i].descriptor = address(i);
        if (!gdnn_graph_table_add(&entries[i], &replaced))
            fail_msg("full with %d entries", i);
    }
    more.descriptor = address(GDNN_GRAPH_TABLE_MAX);
    assert_false(gdnn_graph_table_add(&more, &replaced));
    assert_null(replaced);
    assert_false(has(more.descriptor));
    assert_ptr_equal(gdnn_graph_table_take(address(5)), &entries[5]);
    add(&more, more.descriptor);
    assert_ptr_equal(gdnn_graph_table_take(more.descriptor), &more);
    for (int i = 0; i < GDNN_GRAPH_TABLE_MAX; i++)
        gdnn_graph_table_take(address(i));
    assert_int_equal(gdnn_graph_table_entries(), 0);
    free(entries);
}

typedef struct holder {
    const void *descriptor;
    pthread_barrier_t locked, done;
} holder;

static void *hold_lock(void *context)
{
    holder *h = context;
    gdnn_graph_entry *entry = gdnn_graph_table_lock(h->descriptor);
    pthread_barrier_wait(&h->locked);
    pthread_barrier_wait(&h->done);
    gdnn_graph_table_unlock(entry);
    return NULL;
}

/* The child of a process in which another thread holds the lock of address(0)'s shard: its entries are lost, the others
 * are there, and all can be used. */
static int use_in_child(gdnn_graph_entry *entries, int count)
{
    int kept = 0, wrong = 0;
    gdnn_graph_entry again = {.descriptor = address(0)}, *replaced;
    alarm(20);
    wrong += has(address(0));
    for (int i = 0; i < count; i++)
        kept += has(address(i));
    wrong += kept < count * 9 / 10 || kept == count;
    wrong += gdnn_graph_table_entries() != kept;
    wrong += !gdnn_graph_table_add(&again, &replaced) || replaced;
    wrong += gdnn_graph_table_take(address(0)) != &again;
    for (int i = 0; i < count; i++)
        if (has(address(i)))
            wrong += gdnn_graph_table_take(address(i)) != &entries[i];
    return wrong + (gdnn_graph_table_entries() != 0);
}

static void a_fork_while_another_thread_holds_a_lock(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    gdnn_graph_entry *entries = calloc(COUNT, sizeof *entries);
    for (int i = 0; i < COUNT; i++)
        add(&entries[i], address(i));
    holder h = {.descriptor = address(0)};
    pthread_t thread;
    pthread_barrier_init(&h.locked, NULL, 2);
    pthread_barrier_init(&h.done, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, hold_lock, &h), 0);
    pthread_barrier_wait(&h.locked);
    pid_t child = fork();
    if (!child)
        _exit(use_in_child(entries, COUNT));
    assert_int_equal(child_wait(child), 0);
    pthread_barrier_wait(&h.done);
    pthread_join(thread, NULL);
    for (int i = 0; i < COUNT; i++)
        assert_ptr_equal(gdnn_graph_table_take(address(i)), &entries[i]);
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_found_until_it_is_taken),
        cmocka_unit_test(an_address_that_comes_again_replaces),
        cmocka_unit_test(a_full_table_takes_no_more),
        cmocka_unit_test(a_fork_while_another_thread_holds_a_lock),
    };
    return cmocka_run_group_tests_name("graph_table", tests, NULL, NULL);
}
