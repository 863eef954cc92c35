"""Organizations, their applications, API keys, branding profiles and what their plan allows."""
