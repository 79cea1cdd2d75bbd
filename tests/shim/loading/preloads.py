"""The drop-in beside other libraries that are preloaded: libfaketime and jemalloc, as Debian has them. Each must be seen
to work, so that a library that is not there is a failure."""

from stage import SHIM, built, expect, expect_ours, main, run, test_each

# The loader knows $LIB; the other it finds in its cache.
FAKETIME = "/usr/$LIB/faketime/libfaketime.so.1"
JEMALLOC = "libjemalloc.so.2"
INSTALL = "install Debian's packages faketime and libjemalloc2, or their like"


def beside(real, order):
    result = run(built("linked_plain"), "linked", "descriptor", "symbol=malloc", "year", "mapped", preload=order,
                 paths=[real.folder], env={"FAKETIME": "@2001-02-03 04:05:06"})
    expect("cannot be preloaded" not in result.err, INSTALL, result.err)
    expect_ours(result, "linked", real)
    expect(result.lines["descriptor"] == "0 0", result.out)
    return result


@test_each
def faketime(kind):
    real = kind.put("90200")
    for order in ([FAKETIME, SHIM], [SHIM, FAKETIME]):
        result = beside(real, order)
        expect(result.lines["year"] == "2001", result.out)


@test_each
def jemalloc(kind):
    real = kind.put("90200")
    for order in ([JEMALLOC, SHIM], [SHIM, JEMALLOC]):
        result = beside(real, order)
        expect("jemalloc" in result.lines["symbol"], result.out)


main()
