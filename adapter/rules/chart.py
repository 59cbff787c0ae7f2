"""The six rules that Prometheus Adapter's Helm chart has when `rules.default` is true."""

from textwrap import dedent

# What cAdvisor tells of containers, then everything else that has a namespace: counters as the
# rate of five minutes, counters of seconds without their unit, gauges as they are.
DEFAULT_RULES = dedent(
    """\
    rules:
    - seriesQuery: &containers '{__name__=~"^container_.*",container!="POD",namespace!="",pod!=""}'
      seriesFilters: []
      resources: &labels
        overrides: {namespace: {resource: namespace}, pod: {resource: pod}}
      name: {matches: ^container_(.*)_seconds_total$, as: ""}
      metricsQuery: &container_rate >-
        sum(rate(<<.Series>>{<<.LabelMatchers>>,container!="POD"}[5m])) by (<<.GroupBy>>)
    - seriesQuery: *containers
      seriesFilters: [{isNot: ^container_.*_seconds_total$}]
      resources: *labels
      name: {matches: ^container_(.*)_total$, as: ""}
      metricsQuery: *container_rate
    - seriesQuery: *containers
      seriesFilters: [{isNot: ^container_.*_total$}]
      resources: *labels
      name: {matches: ^container_(.*)$, as: ""}
      metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>,container!="POD"}) by (<<.GroupBy>>)
    - seriesQuery: &others '{namespace!="",__name__!~"^container_.*"}'
      seriesFilters: [{isNot: .*_total$}]
      resources: {template: <<.Resource>>}
      name: {matches: "", as: ""}
      metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
    - seriesQuery: *others
      seriesFilters: [{isNot: .*_seconds_total}]
      resources: {template: <<.Resource>>}
      name: {matches: ^(.*)_total$, as: ""}
      metricsQuery: &rate sum(rate(<<.Series>>{<<.LabelMatchers>>}[5m])) by (<<.GroupBy>>)
    - seriesQuery: *others
      seriesFilters: []
      resources: {template: <<.Resource>>}
      name: {matches: ^(.*)_seconds_total$, as: ""}
      metricsQuery: *rate
    """
)
