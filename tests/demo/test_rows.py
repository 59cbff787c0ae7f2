"""The story's table: what a row says, and which rows are kept."""

from demo.rows import HEAD, Story, plain, row, words
from tests.demo.looks import a_look


def test_a_row_shows_time_load_use_value_target_and_replicas() -> None:
    look = a_look(
        second=67, load_on=True, use=(100.0, 97.0), current="98500m", desired=4, replicas=2
    )

    cells = row(look, "2 workers run", named=True)

    assert cells == ("1:07", "on", "p0 100  p1 97", "98500m/40", "2/4", "2 workers run")


def test_a_narrow_screen_has_the_use_of_each_worker_without_its_name() -> None:
    assert row(a_look(use=(100.0, 97.0)), "", named=False)[2] == "100  97"


def test_a_value_that_is_missing_is_unknown_and_not_zero() -> None:
    cells = row(a_look(use=(), current=None), "", named=True)

    assert (cells[2], cells[3]) == ("-", "<unknown>/40")


def test_words_tell_what_the_autoscaler_wants_anew() -> None:
    assert words(a_look(desired=1), a_look(desired=3)) == "1 to 3 replicas"


def test_the_autoscalers_first_status_is_no_event() -> None:
    assert words(a_look(desired=0), a_look(desired=1)) == ""


def test_words_tell_that_workers_came_or_went() -> None:
    assert words(a_look(replicas=1), a_look(replicas=3)) == "3 workers run"
    assert words(a_look(replicas=3), a_look(replicas=1)) == "1 worker runs"


def test_nothing_is_said_when_only_time_goes_by() -> None:
    assert words(a_look(second=1), a_look(second=2, use=(55.0,))) == ""


def test_a_quiet_look_is_kept_once_in_five_seconds() -> None:
    story = Story()

    kept = [story.tell(a_look(second=second)) is not None for second in range(11)]

    assert [second for second, was_kept in enumerate(kept) if was_kept] == [0, 5, 10]


def test_a_look_at_which_something_happens_is_kept_at_once() -> None:
    story = Story()
    story.tell(a_look(second=0))

    kept = story.tell(a_look(second=1, desired=3))

    assert kept is not None
    assert kept[-1] == "1 to 3 replicas"


def test_the_words_of_an_act_open_its_first_row() -> None:
    story = Story()
    story.tell(a_look())

    kept = story.tell(a_look(second=1, replicas=2), "load on")

    assert kept is not None
    assert kept[-1] == "load on; 2 workers run"


def test_the_moments_row_is_shown_though_it_is_not_kept() -> None:
    story = Story()
    story.tell(a_look(second=0))
    story.tell(a_look(second=1))

    assert [cells[0] for cells in story.rows(9)] == ["0:00", "0:01"]
    assert [cells[0] for cells in story.kept] == ["0:00"]


def test_a_small_screen_shows_the_last_rows() -> None:
    story = Story()
    for second in (0, 5, 10):
        story.tell(a_look(second=second))

    assert [cells[0] for cells in story.rows(2)] == ["0:05", "0:10"]


def test_keeping_the_moment_twice_adds_one_row() -> None:
    story = Story()
    story.tell(a_look(second=0))
    story.tell(a_look(second=1))

    assert story.keep() is not None
    assert story.keep() is None
    assert [cells[0] for cells in story.kept] == ["0:00", "0:01"]


def test_plain_rows_stand_under_their_heads() -> None:
    cells = row(a_look(second=5, use=(3.0,)), "", named=True)

    assert plain(cells).index("0/40") == plain(HEAD).index("HPA")
