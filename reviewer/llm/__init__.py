"""All access to models: chat, retry with steering, prompt templates."""
