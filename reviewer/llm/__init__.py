"""The one door to a model: chat, retry with steering, prompt templates."""
