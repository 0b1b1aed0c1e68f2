"""Placeholder for the first minutes."""

SECRET_KEY = "x"
INSTALLED_APPS = []
TIME_ZONE = "UTC"
USE_TZ = True
