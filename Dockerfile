# The whole service in one container: docker run -p 8000:8000 -v paraph:/data -e PARAPH_BASE_URL=https://… paraph
# requirements/README.md says how the image below is renewed.
FROM python:3.12.14-slim-trixie@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea AS python

FROM python AS build
WORKDIR /paraph
COPY requirements ./requirements
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt -r requirements/runtime.txt
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
COPY clients ./clients
RUN /venv/bin/pip install --no-cache-dir --no-build-isolation --no-deps . ./clients/python

FROM python
# Letters of Chinese, Japanese and Korean names; the fonts of all other scripts come with Paraph.
RUN apt-get update \
 && apt-get install -y --no-install-recommends fonts-noto-cjk \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --user-group --create-home --uid 10001 paraph \
 && install -d -o paraph -g paraph -m 700 /data
COPY --from=build /venv /venv
USER paraph
WORKDIR /data
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PARAPH_DATA_DIR=/data PARAPH_HOST=0.0.0.0 PARAPH_PORT=8000
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=30s --interval=30s --timeout=5s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["paraph", "serve"]
