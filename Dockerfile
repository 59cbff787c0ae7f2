# The image runs on a read-only root, as a numeric user without rights, and needs only /tmp.
# Health is the kubelet's business (see manifests/base/deployment.yaml): no HEALTHCHECK.

FROM python:3.11-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
# The locks before the source: a change of code does not fetch them again.
COPY requirements/build.txt requirements/run.txt requirements/
RUN python -m venv /opt/build \
 && /opt/build/bin/pip install --require-hashes -r requirements/build.txt \
 && python -m venv /opt/adapter \
 && /opt/adapter/bin/pip install --require-hashes -r requirements/run.txt
COPY pyproject.toml README.md ./
COPY adapter/ adapter/
COPY certs/ certs/
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /dist . \
 && /opt/adapter/bin/pip install --no-deps --no-index /dist/*.whl \
 && /opt/adapter/bin/pip uninstall --yes pip setuptools \
 && python -m compileall -q /opt/adapter/lib

FROM python:3.11-slim-bookworm
ENV PATH=/opt/adapter/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
COPY --from=build /opt/adapter /opt/adapter
USER 65532:65532
EXPOSE 6443
ENTRYPOINT ["gpu-metrics-adapter"]
