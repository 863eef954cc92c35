"""Organizations, their members, applications, API keys and branding profiles, and what their plan allows."""
