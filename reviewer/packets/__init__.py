"""Context packets: scoring, budget allocation, rendering within the budget."""
