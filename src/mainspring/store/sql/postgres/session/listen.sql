-- One channel for all kinds and schemas; the payload tells which.
listen mainspring
