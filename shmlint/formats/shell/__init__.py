"""Shell command lines, wherever they are written: their commands, and the launches in them."""
