# Two stages: the first installs exactly what the lock names, the second carries only the result.
FROM python:3.11-slim AS build
WORKDIR /build
COPY requirements.lock .
RUN python -m venv /opt/venv \
 && /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 switchboard \
 && install -d -o switchboard -g switchboard /srv/switchboard /srv/switchboard/data
COPY --from=build /opt/venv /opt/venv
WORKDIR /srv/switchboard
COPY app ./app
COPY commands ./commands
COPY config ./config
COPY memory ./memory
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    SWITCHBOARD_HTTP__HOST=0.0.0.0
USER switchboard
EXPOSE 8080
# The bot drains on SIGTERM, for limits.drain_s at most; what it does not finish then, it does after the next start.
VOLUME /srv/switchboard/data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/readyz', timeout=2)"]
ENTRYPOINT ["python", "-m", "app"]
CMD ["run"]
