"""Play matches between engines, and rate them. Start reading at the module `runner`."""
