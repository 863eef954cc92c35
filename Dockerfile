# Two images. `serve` is the whole service in one container, with its own PostgreSQL:
#   docker build --tag paraph .
#   docker run --read-only --tmpfs /tmp -p 8000:8000 -v paraph:/data -v backups:/backups -e PARAPH_BASE_URL=https://… paraph
# `runtime` is for `paraph web`, `worker` and `migrate` on a database of your own:
#   docker build --target runtime --tag paraph-runtime .
# requirements/README.md says how the image below is renewed. Any other one with Python 3.11 or newer will do, too.
ARG PYTHON=python:3.12.14-slim-trixie@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
FROM ${PYTHON} AS python

FROM python AS build
WORKDIR /paraph
COPY requirements ./requirements
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --no-compile --require-hashes -r requirements/build.txt -r requirements/runtime.txt
COPY pyproject.toml LICENSE ./
COPY docs/package.md ./docs/
COPY src ./src
COPY clients ./clients
COPY scripts/slim ./scripts/
RUN /venv/bin/pip install --no-cache-dir --no-compile --no-build-isolation --no-deps . ./clients/python \
 && scripts/slim /venv

FROM build AS build-runtime
RUN scripts/slim /venv --without-database

FROM python AS base
# Letters of Chinese, Japanese and Korean names, in the two fonts that stamps and proofs use; the fonts of all other
# scripts come with Paraph. And a second renderer of pages, for those whose looks no rule decides.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends fonts-noto-cjk passwd poppler-data poppler-utils \
 && find /usr/share/fonts -name 'NotoSerifCJK*' -delete \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
 && useradd --user-group --create-home --uid 10001 paraph \
 && install -d -o paraph -g paraph -m 700 /data /backups
COPY scripts/healthy /usr/local/bin/paraph-healthy
WORKDIR /data
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PARAPH_DATA_DIR=/data PARAPH_HOST=0.0.0.0 PARAPH_PORT=8000
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=300s --interval=30s --timeout=60s CMD ["paraph-healthy"]

FROM base AS runtime
COPY --from=build-runtime /venv /venv
USER paraph
CMD ["paraph", "web"]

FROM base AS serve
COPY --from=build /venv /venv
USER paraph
CMD ["paraph", "serve"]
