"""Programs with rights that their user does not have: nothing of the user's environment counts."""

import os
import stat

from stage import NOBODY, SHIM, Skip, StandIn, bring, built, expect, expect_ours, main, place, run, test


def set_user_id_program():
    """A program of root's that this user, who is another, runs with root's rights."""
    if os.geteuid() != 0:
        raise Skip("only root can make a set-user-ID program of another user's")
    path = bring("linked_secure", "program")
    os.chown(path, 0, 0)
    os.chmod(path, 0o755 | stat.S_ISUID)
    if os.statvfs(path).f_flag & os.ST_NOSUID:
        raise Skip("the file system of %s ignores set-user-ID" % path)
    return path


def hostile():
    """Variables by which a user would have code loaded and files written."""
    os.makedirs(place("out"))
    os.chmod(place("out"), 0o777)
    real = StandIn.put("90666")
    return real, {"GROUPDNN_CUDNN": real.path, "GROUPDNN_LOG": "calls:" + place("out", "log"),
                  "GROUPDNN_TRACE": place("out", "trace"), "GROUPDNN_STATS": "1", "GROUPDNN_MODE": "x"}


SAFE = 90000  # the stand-in in the build folder, by the program's RPATH


@test
def variables_count_without_set_user_id():
    """That the next test can fail."""
    real, env = hostile()
    result = run(built("linked_secure"), "linked", "mapped", env=env)
    expect_ours(result, "linked", real, quiet=False)
    expect(os.path.exists(place("out", "log")) and "GROUPDNN_MODE=x" in result.err, result.err)


@test
def variables_do_not_count_with_set_user_id():
    program = set_user_id_program()
    real, env = hostile()
    # The loader leaves out LD_* itself.
    result = run(program, "linked", "mapped", preload=[real.path], paths=[real.folder], env=env, user=NOBODY, group=NOBODY,
                 extra_groups=[])
    expect(result.lines["linked"] == "%d %s" % (SAFE, SHIM), result.out, result.err)
    expect(real.path not in result.mapped() and not os.listdir(place("out")) and not result.err, result.out, result.err)


main()
