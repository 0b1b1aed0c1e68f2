"""Preview images of transfers for chats and search results. Independent of Django."""
