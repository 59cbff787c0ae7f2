"""The command line: the incumbent's syntax, and every problem told together."""

import pytest

from adapter.errors import InputError
from adapter.flags import duration
from adapter.options import parse


def test_values_are_taken_with_an_equals_sign_and_as_the_next_word() -> None:
    settings = parse(["--secure-port=6443", "--prometheus-url", "http://p:9090/prefix/"])

    assert (settings.serving.port, settings.prometheus.url) == (6443, "http://p:9090/prefix/")


def test_a_stray_first_argument_is_ignored() -> None:
    assert parse(["/adapter"]) == parse([])


@pytest.mark.parametrize(("given", "value"), [("", True), ("=true", True), ("=false", False)])
def test_a_switch_needs_no_value(given: str, value: bool) -> None:
    settings = parse([f"--prometheus-auth-incluster{given}", "/adapter"])

    assert value is settings.prometheus.auth_incluster


def test_a_header_may_repeat_and_hold_an_equals_sign() -> None:
    settings = parse(["--prometheus-header=X-Scope-OrgID=a=b", "--prometheus-header=Foo"])

    assert settings.prometheus.headers == (("X-Scope-OrgID", "a=b"), ("Foo", ""))


def test_the_defaults_are_the_incumbents() -> None:
    settings = parse([])

    assert (
        settings.prometheus.url,
        settings.serving.port,
        settings.discovery.relist_interval,
        settings.discovery.max_age,
        str(settings.serving.cert_dir),
        settings.authorization.always_allow_paths,
    ) == (
        "https://localhost",
        443,
        600.0,
        600.0,
        "apiserver.local.config/certificates",
        ("/healthz", "/readyz", "/livez"),
    )


def test_a_max_age_of_zero_means_the_relist_interval() -> None:
    assert parse(["--metrics-relist-interval=1m"]).discovery.max_age == 60.0


def test_a_logging_flag_of_old_manifests_is_accepted_and_said_to_have_no_effect() -> None:
    assert parse(["--logtostderr=true", "--v=4"]).ignored == ("logtostderr",)


@pytest.mark.parametrize("words", [["--v=6"], ["--v", "6"], ["-v=6"], ["-v", "6"], ["-v6"]])
def test_a_flag_of_one_letter_is_taken_after_one_dash_too(words: list[str]) -> None:
    assert parse(words).verbosity == 6


@pytest.mark.parametrize(
    "word",
    [
        "--audit-log-batch-max-size=9",
        "--audit-webhook-batch-throttle-enable",
        "--audit-webhook-truncate-max-event-size=9",
        "--audit-webhook-mode=batch",
    ],
)
def test_flags_of_the_audit_log_are_accepted(word: str) -> None:
    assert parse([word]).ignored == (word.partition("=")[0].removeprefix("--"),)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--no-such-flag=1"], "unknown flag --no-such-flag"),
        (["--secure-port=65536"], "--secure-port=65536: a port lies between 0 and 65535"),
        (["--freshness=1d"], "--freshness=1d: it is no duration"),
        (["--prometheus-verb=get"], "--prometheus-verb=get: it must be one of GET, POST"),
        (["--prometheus-url=prometheus:9090"], "--prometheus-url is no http or https address"),
        (["--prometheus-url=http://[::1"], "--prometheus-url is no http or https address"),
        (["--tls-cert-file=a"], "only one of --tls-cert-file and --tls-private-key-file"),
        (["--prometheus-client-tls-key-file=a"], "only one of --prometheus-client-tls-cert-file"),
        (["--prometheus-auth-incluster", "--prometheus-auth-config=k"], "are both given"),
        (["--metrics-max-age=1s"], "--metrics-max-age is shorter than"),
        (["--max-staleness=1s"], "--max-staleness is shorter than --freshness"),
        (["--requestheader-group-headers=a, "], "an entry of the list is blank"),
        (["--prometheus-header==x"], "it has no name before the ="),
        (["--v=much"], "--v=much: it is no whole number"),
        (["--authentication-skip-lookup=maybe"], "it is neither true nor false"),
        (["--tls-min-version=VersionTLS10"], "it must be one of VersionTLS12, VersionTLS13"),
        (["--config"], "expected one argument"),
    ],
)
def test_a_problem_names_the_flag_and_the_cure(argv: list[str], says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(argv)

    assert says in str(caught.value)
    assert "; " in str(caught.value)


def test_all_problems_are_told_together() -> None:
    with pytest.raises(InputError) as caught:
        parse(["--freshness=x", "--nope", "--secure-port=-1"])

    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("90s", 90.0),
        ("1m30s", 90.0),
        ("10m", 600.0),
        ("1h", 3600.0),
        ("1.5s", 1.5),
        ("250ms", 0.25),
        (".5m", 30.0),
    ],
)
def test_a_go_duration_is_seconds(text: str, seconds: float) -> None:
    assert seconds == pytest.approx(duration(text))


@pytest.mark.parametrize("text", ["", "5", "s", "1d", "1m 30s", "-5s", "5s!"])
def test_what_is_no_go_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        duration(text)
