#!/usr/bin/env python
"""Django's command line. `manage.py runserver` starts gunicorn with reload (see intents_ui/management)."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")
    execute_from_command_line(sys.argv)
