"""What a case stands on: pages that Prometheus scrapes, and the rules that people copy."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# What Prometheus knows of the scraped pod, and gives to its series.
EXPORTER = {"namespace": "gpu-operator", "pod": "dcgm-exp-a"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A text to scrape, and the labels that its target has."""

    text: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scene:
    """Series that no other scene sees; with `honor_labels` a page's labels win over its target's."""

    name: str
    pages: tuple[Page, ...]
    honor_labels: bool = False

    def path(self, number: int = 0) -> str:
        """Where a page is printed."""
        return f"/{self.name}/{number}"


def scene(
    name: str, text: str, target: Mapping[str, str] = EXPORTER, *, honor_labels: bool = False
) -> Scene:
    """A scene of one page, whose target has the labels of the exporter's pod or others."""
    return Scene(name, (Page(text=text, labels=target),), honor_labels)


# The rules of the catalogue of cases, as users write them.
T1 = """
- seriesQuery: '{__name__=~"^DCGM_.*",namespace!=""}'
  resources: {template: "<<.Resource>>"}
  name: {matches: "", as: ""}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""
R1 = """
- seriesQuery: 'DCGM_FI_DEV_GPU_UTIL{exported_namespace!="",exported_pod!=""}'
  resources:
    overrides:
      exported_namespace: {resource: namespace}
      exported_pod: {resource: pod}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""
R1A = R1.replace("sum(", "avg(")
N1 = """
- seriesQuery: 'DCGM_FI_DEV_POWER_USAGE'
  resources: {overrides: {Hostname: {resource: node}}}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""
# What two rules become without a file; their names are those of the walk-through.
BUILT_IN = ""
