"""Pages about many transfers, from the mirror. `intents_ui.urls` imports them only if there is one."""
