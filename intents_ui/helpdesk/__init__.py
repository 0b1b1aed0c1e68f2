"""The side bar of helpdesks, and Slack."""
