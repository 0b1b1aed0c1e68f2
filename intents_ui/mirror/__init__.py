"""Local copy of the service's history, kept by `manage.py mirror`. Pages read it within `readonly.reading`."""
