"""The OpenAPI document: the shapes of bodies and answers, the words, the examples, and how they are put together."""
