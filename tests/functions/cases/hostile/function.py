def attack(
    text: str = "'; DROP TABLE x; --\n# {{ 7 * 7 }}", number: float = -1.5e300
) -> str:
    """Say: "{{ 1 }}" & *more*: - a\u202e\x00 # b

    ---
    ...
    ? key: [unclosed
    !!python/object/apply:os.system ["true"]
    \t<script>alert(1)</script> %TAG ! tag:a,2000:

    Args:
        text: &anchor *alias <<: {"a": 'b'}: |
        number: > no
        ghost: Is no parameter.
    """
    return f"{text}{number}"
