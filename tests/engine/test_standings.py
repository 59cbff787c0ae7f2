"""What is known of rules goes over to rules that say the same."""

from adapter.engine.catalogue import Offer
from adapter.engine.external import ExternalOffer
from adapter.engine.standings import Standing, Standings
from adapter.rules.external import ExternalRule
from adapter.rules.naming import parse_naming
from adapter.rules.rule import Rule
from adapter.rules.template import parse
from tests.engine.parts import offer, rule


def known(*rules: Rule) -> Standings[Rule, Offer]:
    """Each rule was found once, and offers one metric."""
    return Standings(by_rule={one: Standing(offers=[offer(one)]) for one in rules})


def external(*, namespaced: bool = True, number: int = 1) -> ExternalRule:
    return ExternalRule(
        number=number,
        file="rules.yaml",
        line=3,
        series_query="up",
        naming=parse_naming("", ""),
        metrics_query=parse("<<.Series>>{<<.LabelMatchers>>}"),
        namespaced=namespaced,
    )


def test_a_rule_that_stands_where_it_stood_stays_the_same_object() -> None:
    before, again = rule(), rule()

    after = known(before).passed_on([again])

    assert after.rules == (before,)
    assert after.unseen == ()


def test_a_rule_that_moved_offers_the_same_under_its_new_place() -> None:
    moved = rule(number=2)

    after = known(rule()).passed_on([moved])

    assert after.rules == (moved,)
    assert [one.rule for one in after.offers] == [moved]


def test_a_fault_goes_over_as_well() -> None:
    before = rule()
    standings = known(before)
    standings.by_rule[before].fault = "refused"
    moved = rule(number=2)

    assert standings.passed_on([moved]).failed == [moved]


def test_any_other_word_makes_it_another_rule() -> None:
    changed = [
        rule("max(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"),
        rule(series_query="up"),
        rule(overrides=[("pod", "", "pod")]),
        rule(name="other"),
    ]

    assert known(rule()).passed_on(changed).unseen == tuple(changed)


def test_of_two_rules_that_say_the_same_each_passes_on_to_one() -> None:
    three = [rule(number=number) for number in (4, 5, 6)]

    after = known(rule(number=1), rule(number=2)).passed_on(three)

    assert after.unseen == (three[2],)


def test_what_was_never_looked_for_is_not_known_later_either() -> None:
    standings: Standings[Rule, Offer] = Standings.begin([rule()])

    assert len(standings.passed_on([rule()]).unseen) == 1


def test_an_external_rule_that_is_no_longer_namespaced_is_another_rule() -> None:
    before = external()
    told = ExternalOffer(metric="up", rule=before, series="up")
    standings: Standings[ExternalRule, ExternalOffer] = Standings(
        by_rule={before: Standing(offers=[told])}
    )

    assert standings.passed_on([external()]).unseen == ()
    assert len(standings.passed_on([external(namespaced=False)]).unseen) == 1
