"""A command written as one text, split into words as Compose splits it."""

from __future__ import annotations


def split_words(text: str) -> list[str] | None:
    """The words of a ``command`` or ``entrypoint``; None for a text that Compose refuses.

    Compose uses go-shellwords, which is not a shell: it stops reading at a bare ``;``, ``&``, ``|``,
    ``<`` or ``>``, a backslash takes any character after it, also between double quotes, and
    what is in backquotes or ``$( )`` is kept with them.
    """
    words: list[str] = []
    word = ""
    begun = False
    inside: set[str] = set()  # which of ' " ` ( are open; a `)` toggles, whatever is open but ' and "
    chars = iter(text)
    for char in chars:
        if char == "\\" and "'" not in inside:
            following = next(chars, None)
            if following is None:
                return None
            word += following
        elif char in " \t\r\n":
            if inside:
                word += char
            elif begun:
                words.append(word)
                word = ""
                begun = False
            continue
        elif char in "'\"" and "(" not in inside and not inside & {"'", '"'} - {char}:
            inside ^= {char}
            begun = begun or char not in inside  # an opening quote alone is not a word yet
            continue
        elif char in ";&|<>" and not inside:
            if char == ">" and word[:1].isdigit():
                begun = False  # the number of a file descriptor
            break
        elif not _bracket(char, word, inside):
            return None
        else:
            word += char
        begun = True
    if begun:
        words.append(word)
    return None if inside else words


def _bracket(char: str, word: str, inside: set[str]) -> bool:
    """Note a bracket or backquote in ``inside``; False where Compose refuses it."""
    quoted = not inside.isdisjoint("'\"")
    if char == "(" and not quoted and "`" not in inside:
        if "(" in inside or not word.endswith("$"):
            return False
        inside.add("(")
    elif char == ")" and not quoted and "`" not in inside:
        inside ^= {"("}
    elif char == "`" and not quoted and "(" not in inside:
        inside ^= {"`"}
    return True
