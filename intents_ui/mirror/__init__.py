"""Local copy of the service's history, kept by `intents-ui mirror`. Pages read it within `readonly.reading`."""
