"""The dashboard without one of the apps that can be left out, named by the environment variable `LEFT_OUT`."""
