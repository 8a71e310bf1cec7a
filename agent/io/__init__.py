"""The border: files, texts and code that come from outside, validated, bounded and named."""
