"""How copying and the keyword toy are learned."""
