"""`python -m tests.mirror.process`: `manage.py mirror run` with a lease of two seconds."""

import os
import sys

SECONDS = 2

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "intents_ui.settings"

    import django
    from django.core.management import execute_from_command_line

    django.setup()
    from intents_ui.mirror import lease

    lease.SECONDS, lease.RENEWED_EVERY = SECONDS, 1
    execute_from_command_line([sys.argv[0], "mirror", "run"])
