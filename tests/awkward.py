"""Names of files that programs stumble over."""

NAMES = (
    "two words.csv",
    " blanks around ",
    "表 売上.csv",
    "🎉👩\u200d💻.csv",
    "line\nbreak.csv",
    "tab\there.csv",
    "bell\x07.csv",
    "-rf.csv",
    "--",
    "~",
    "~nobody.csv",
    'it\'s "it".csv',
    "back\\slash\\n.csv",
    "$HOME %41 `x`.csv",
    "a@b.csv",
    "a" * 251 + ".csv",
    "é" * 125 + ".csv",
    "売" * 85,
)
