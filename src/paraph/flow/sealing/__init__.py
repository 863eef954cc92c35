"""What the sealing verbs need: keys and authorities, the marks on pages, the content of the proof."""
