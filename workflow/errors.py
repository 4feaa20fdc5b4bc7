"""What the mistakes of a person have in common, whatever finds them (standard library only)."""


class Mistake(ValueError):
    """Something that a person can mend; the message is one sentence for them."""
