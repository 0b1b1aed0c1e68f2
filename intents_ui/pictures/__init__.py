"""Pictures that we draw ourselves: previews of transfers for chats and search results. No Django."""
