"""The only way to a model: chat, retry with steering, prompt templates."""
