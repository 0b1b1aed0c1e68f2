"""The command line `intents-ui`: a client of a dashboard's API, and the emulator as a tool. Without Django."""
