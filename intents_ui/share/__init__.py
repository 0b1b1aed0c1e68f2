"""What others show of a transfer: share menus, QR codes, preview images and embedded cards."""
