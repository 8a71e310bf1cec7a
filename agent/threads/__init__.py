"""Threading helpers: serial executor, search scheduler, one-shot events, abandonable calls."""
