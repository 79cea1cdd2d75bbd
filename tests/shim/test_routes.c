/* routes: what is found again, what is not, and many threads at once. */
#include "routes.h"
#include "unit.h"
#include <pthread.h>

static gdnn_route route_of(int64_t n, int device, int algo, size_t workspace)
{
    gdnn_route route;
    memset(&route, 0, sizeof route);
    route.key.conv.n = n;
    route.key.device = device;
    route.key.algo = algo;
    route.key.workspace = workspace;
    route.hash = gdnn_route_hash(&route.key);
    return route;
}

static gdnn_route *found(gdnn_route made)
{
    return gdnn_routes_find(&made.key, made.hash);
}

static void each_part_of_the_key_counts(void **state)
{
    (void)state;
    bool added;
    gdnn_route made = route_of(1, 2, 3, 4);
    assert_null(found(made));
    gdnn_route *kept = gdnn_routes_add(&made, &added);
    assert_true(added);
    assert_ptr_equal(gdnn_routes_newest(), kept);
    assert_ptr_equal(found(route_of(1, 2, 3, 4)), kept);
    assert_null(found(route_of(5, 2, 3, 4)));
    assert_null(found(route_of(1, 5, 3, 4)));
    assert_null(found(route_of(1, 2, 5, 4)));
    assert_null(found(route_of(1, 2, 3, 5)));
    assert_ptr_equal(gdnn_routes_add(&made, &added), kept);
    assert_false(added);
    gdnn_route last = made;
    last.key.conv.alpha2 = 2;
    last.hash = gdnn_route_hash(&last.key);
    assert_null(found(last));
}

/* A hash says where to look, never that two problems are one. */
static void equal_hashes_are_not_equal_keys(void **state)
{
    (void)state;
    bool added;
    gdnn_route one = route_of(100, 0, 0, 0),
               others[] = {route_of(101, 0, 0, 0), route_of(100, 1, 0, 0), route_of(100, 0, 1, 0),
                           route_of(100, 0, 0, 1)};
    gdnn_route *first = gdnn_routes_add(&one, &added), *before = first;
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        others[i].hash = one.hash;
        assert_null(found(others[i]));
        gdnn_route *other = gdnn_routes_add(&others[i], &added);
        assert_true(added);
        assert_ptr_equal(found(one), first);
        assert_ptr_equal(found(others[i]), other);
        assert_ptr_equal(other->next, before);
        before = other;
    }
}

/* Nearby sizes must not share buckets: with 4096 routes in 1024 buckets chains stay short. */
static void hashes_spread(void **state)
{
    (void)state;
    int in_bucket[1024] = {0}, longest = 0;
    for (int n = 0; n < 64; n++)
        for (int workspace = 0; workspace < 64; workspace++) {
            gdnn_route route = route_of(n, 0, 1, (size_t)workspace << 20);
            int length = ++in_bucket[route.hash % 1024];
            longest = length > longest ? length : longest;
        }
    assert_in_range(longest, 4, 24);
}

enum { THREADS = 8, PROBLEMS = 500 };
static gdnn_route *seen[THREADS][PROBLEMS];
static int additions[THREADS];
static pthread_barrier_t start;

static void *add_all(void *number)
{
    int self = (int)(intptr_t)number;
    pthread_barrier_wait(&start);
    for (int i = 0; i < PROBLEMS; i++) {
        bool added;
        gdnn_route made = route_of(1000 + i, 0, 0, 0);
        seen[self][i] = gdnn_routes_add(&made, &added);
        additions[self] += added;
        atomic_fetch_add(&seen[self][i]->calls, 1);
    }
    return NULL;
}

static void threads_agree(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_all, (void *)(intptr_t)i), 0);
    int sum = 0, listed = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += additions[i];
    }
    assert_int_equal(sum, PROBLEMS);
    for (int i = 0; i < PROBLEMS; i++) {
        for (int thread = 1; thread < THREADS; thread++)
            assert_ptr_equal(seen[thread][i], seen[0][i]);
        assert_int_equal(seen[0][i]->calls, THREADS);
    }
    for (gdnn_route *r = gdnn_routes_newest(); r; r = r->next)
        listed += r->key.conv.n >= 1000;
    assert_int_equal(listed, PROBLEMS);
}

static void memory_has_a_bound(void **state)
{
    (void)state;
    int kept = 0, listed = 0;
    bool added;
    for (int i = 0; i < GDNN_ROUTES_MAX + 100; i++) {
        gdnn_route made = route_of(10000 + i, 0, 0, 0);
        gdnn_route *route = gdnn_routes_add(&made, &added);
        assert_int_equal(!!route, added);
        kept += added;
    }
    assert_true(kept < GDNN_ROUTES_MAX);
    for (gdnn_route *r = gdnn_routes_newest(); r; r = r->next)
        listed++;
    assert_int_equal(listed, GDNN_ROUTES_MAX);
    assert_non_null(found(route_of(10000, 0, 0, 0)));
}

static void calls_without_a_route(void **state)
{
    (void)state;
    gdnn_routes_count(GDNN_FWD, GDNN_REASON_NOT_GROUPED);
    gdnn_routes_count(GDNN_FWD, GDNN_REASON_NOT_GROUPED);
    gdnn_routes_count(GDNN_BWD_FILTER, GDNN_REASONS - 1);
    assert_int_equal(gdnn_routes_counted(GDNN_FWD, GDNN_REASON_NOT_GROUPED), 2);
    assert_int_equal(gdnn_routes_counted(GDNN_BWD_DATA, GDNN_REASON_NOT_GROUPED), 0);
    assert_int_equal(gdnn_routes_counted(GDNN_BWD_FILTER, GDNN_REASONS - 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_of_the_key_counts),
        cmocka_unit_test(equal_hashes_are_not_equal_keys),
        cmocka_unit_test(hashes_spread),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(memory_has_a_bound),
        cmocka_unit_test(calls_without_a_route),
    };
    return cmocka_run_group_tests_name("routes", tests, NULL, NULL);
}
