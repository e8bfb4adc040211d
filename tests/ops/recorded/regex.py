"""Regular expressions of RE2: classes, flags, repetitions, empty matches, rewrites, and what is refused."""

TEXTS = [b"abc 123", "h\u00e9llo W\u00f6rld 12".encode(), b"", b"aaa", b"line1\nline2", b"a.b.c", b"  x  ", b"foo_bar-baz",
         "\u0416\u0417 \u4e2d\u6587 \u0661 \u03b1".encode(), b"\xff\xfe a",
         b"(x)[y]{z}", b"a\\b", b"A-z", b"\xc3", b"b\x00cb"]

PATTERNS = r"""a [a-z]+ \pN \pN+ \p{N}+ \pL \p{L}+ \PL \p{Greek} \p{Cyrillic}+ \p{Han} \p{Lu} \p{Lu}\p{Ll}* \p{P} [\p{L}\p{N}]+
[^\pL] \pZ \p{^L} \P{^L} \p{XX} \p{Any} \pM \p{S} (?i)ABC (?i)w (?i)\xd6 (?s)1.l 1.l (?m)^line ^line (?m)1$ 1$
\Aa c\z 2\Z (?U)a+ a+? (?P<n>a)(b) (?<n>a) (?:a)(b)? (a)|(b) (a*) a* x* \b \bfoo \d+ \w+ \W \s+ \S \D
[[:alpha:]]+ [[:digit:]] [[:^alpha:]] [[:word:]]+ [[:punct:]] [[:space:]] [[:ascii:]] . .. \x41 \x{e9} \x{4e2d}
\Q.\E \Q(x)\E \101 \0 \a \cA \n \e \u0041 \h ( ) [ ] * +a a** a++ a{2} a{2,} a{,2} a{1001} a{2,1} { a{ a{a} } \1
(a)\1 (?=a) (?!a) (?<=a)b (?<!a)b (?>a) (?#c)a (?x)a (?i:A) (?-i)a (?i-s)A \k<n> $ ^ | a| |a [a- [z-a] []a]
[^]a] [a-\d] [\d-z] [a\]b] [-a] [a-] [\b] \_ \- \. \pN\pL [\w.]+ [^\w] (?i)[A-C]+ (foo|bar)+ (?P<1>a) \x{110000}
\8 (?u)a (?a)a a(?i)B (a(?i)b|C)d (?i)k [&&a] [a||b] \N \X (?s). (?s:.) \Z [[a] a{0} (a{1,2}){2} \v""".split()

REWRITES = [r"\1", r"\0", r"\3", r"\\", r"\\1", r"\x", r"\\\1", "\\", "$1", r"\1\2\0", r"\10", r"\g<1>"]

EMPTY = [(b"abc", b""), (b"abc", b"x*"), (b"baac", b"a*"), ("\u00e9\u4e2d".encode(), b""), (b"\xff\xfe", b""), (b"\xff\xfe", b"."),
         (b"aab", b"a*?"), (b"a\nb", b"$"), (b"a\n", b"$"), (b"a\n", b"(?m)$"), (b"ab ab", rb"\b"), (b"xabcabcy", b"(?:abc)*")]


def cases(tf):
    def each(pattern):
        return lambda: [tf.regex_replace(TEXTS, pattern, r"<\0>"), tf.strings.regex_full_match(TEXTS, pattern),
                        tf.regex_replace(TEXTS, tf.constant(pattern), tf.constant(r"<\0>"), replace_global=False)]

    def rewritten(texts, pattern, rewrite):
        return lambda: [tf.regex_replace(texts, tf.constant(pattern), rewrite, replace_global=every) for every in (True, False)]

    found = {"a vector of patterns": lambda: tf.regex_replace(TEXTS, tf.constant(["a"]), tf.constant("b"))}
    for pattern in PATTERNS:
        found[f"pattern {pattern}"] = each(pattern)
    for rewrite in REWRITES:
        for pattern in ("(a)(b)?", "a", "(zzz)"):
            found[f"rewrite {rewrite} {pattern}"] = rewritten(TEXTS, pattern, rewrite)
    for text, pattern in EMPTY:
        found[f"empty {text} {pattern}"] = rewritten(text, pattern, "-")
    return {name.replace("|", "or"): case for name, case in found.items()}        # a bar ends the name of a case in a recording
