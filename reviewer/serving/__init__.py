"""The screen in a browser on this machine (extra `serve`)."""
