# Two stages, so that build tools stay out of the image. A test runs these commands in a clean folder, and the result on a read-only one.
FROM python:3.13-slim AS build
WORKDIR /app
ENV PYTHONDONTWRITEBYTECODE=1
COPY requirements.txt ./
RUN python3 -m venv /app/.venv
RUN /app/.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --require-hashes -r requirements.txt
RUN /app/.venv/bin/python -m pip uninstall --quiet --yes pip
COPY pyproject.toml manage.py gunicorn.conf.py ./
COPY intents_ui ./intents_ui
COPY templates ./templates
COPY static ./static
RUN /app/.venv/bin/python manage.py collectstatic --noinput --verbosity 0
# On a read-only file system, every start would compile it again.
RUN /app/.venv/bin/python -m compileall -q intents_ui

FROM python:3.13-slim
LABEL org.opencontainers.image.version=0.1.0
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin dashboard \
 && install --directory --owner 10001 --mode 0700 /data \
 && python3 -m pip uninstall --quiet --yes --root-user-action=ignore pip
WORKDIR /app
COPY --from=build /app /app
ENV HOST=0.0.0.0 PORT=8000 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD /app/.venv/bin/python -c "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=2)"
CMD ["/app/.venv/bin/python", "-m", "gunicorn", "--config", "gunicorn.conf.py"]
