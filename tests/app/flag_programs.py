"""What programs do with flags, recorded under TensorFlow 1.15 and compared here.

``python flag_programs.py`` under a Python with TensorFlow 1.15 prints what stands in data/tf115_flags.json.
"""
import contextlib
import io
import json
import sys

DEFINED = """
flags.DEFINE_string("dir", "", "where", values)
flags.DEFINE_integer("steps", 3, "how many", lower_bound=0, flag_values=values)
flags.DEFINE_boolean("quick", False, "whether", values)
flags.DEFINE_float("rate", 1, "how much", flag_values=values)
flags.DEFINE_enum("mode", "a", ["a", "b"], "which", values)
flags.DEFINE_list("names", "x,y", "who", values)
flags.DEFINE_spaceseplist("words", "x y", "who", flag_values=values)
flags.DEFINE_multi_integer("n", [1], "sizes", flag_values=values)
flags.DEFINE_multi_string("m", None, "texts", flag_values=values)
flags.DEFINE_alias("folder", "dir", flag_values=values)
flags.DEFINE_integer("s", 7, "older", short_name="z", flag_values=values)
"""

COMMAND_LINES = [
    "", "--dir=/x --steps 0x10 --quick -rate=0.5 --n=4 --n=5 rest", "--noquick --quick=true", "--mode=b --names=p,q --words 'a b'",
    "--steps=-1", "--steps=a", "--quick=maybe", "--mode=c", "--nope", "--stepss=1", "--dir", "--m=a --m=b", "--folder=/y",
    "-z 4", "-- --steps=1", "rest --steps=2", "--nodir", "--steps=1 --steps=2", "--rate=x", "--names=",
]

OTHERS = {
    "required": """
flags.DEFINE_string("must", None, "needed", values)
flags.mark_flag_as_required("must", values)
values(["prog"])""",
    "several required": """
flags.DEFINE_string("one", None, "needed", values)
flags.DEFINE_string("two", None, "needed", values)
flags.mark_flags_as_required(["one", "two"], values)
values(["prog", "--one=1"])""",
    "defined twice": """
flags.DEFINE_string("one", None, "", values)
try:
    flags.DEFINE_string("one", None, "", values)
except flags.DuplicateFlagError as error:
    shown = str(error).partition("First")[0]""",
    "a default that does not suit": 'flags.DEFINE_integer("one", "a", "", flag_values=values)',
    "older names of arguments": """
flags.DEFINE_string(flag_name="one", default_value="1", docstring="text", flag_values=values)
values(["prog"])
shown = values.one, values["one"].help""",
    "validators": """
flags.DEFINE_integer("even", 2, "", flag_values=values)
flags.register_validator("even", lambda value: value % 2 == 0, "must be even", flag_values=values)
values(["prog", "--even=3"])""",
    "exclusive": """
flags.DEFINE_string("one", None, "", values)
flags.DEFINE_string("two", None, "", values)
flags.mark_flags_as_mutual_exclusive(["one", "two"], required=True, flag_values=values)
values(["prog", "--one=1", "--two=2"])""",
    "not parsed": """
flags.DEFINE_string("one", None, "", values)
values.one""",
    "unknown": """
values(["prog"])
values.one""",
    "set": """
flags.DEFINE_integer("one", 1, "", flag_values=values)
values(["prog"])
values.one = 5
values["one"].value += 1
shown = values.one, values.flag_values_dict(), "one" in values, len(values), values.flags_into_string()""",
    "set what is not there": "values.one = 5",
    "as text": """
flags.DEFINE_integer("one", 1, "how many", flag_values=values, lower_bound=0)
shown = values.get_help().split("\\n")[2:]            # after the name of this module""",
    "known only": """
flags.DEFINE_integer("one", 1, "how many", flag_values=values)
shown = values(["prog", "--two=2", "--one=3", "x"], known_only=True), values.one""",
    "defaults set later": """
flags.DEFINE_integer("one", 1, "", flag_values=values)
values.set_default("one", 4)
values(["prog"])
shown = values.one""",
    "enum class": """
import enum
class Colour(enum.Enum):
    RED = 1
    BLUE = 2
flags.DEFINE_enum_class("colour", Colour.RED, Colour, "which", flag_values=values)
values(["prog", "--colour=BLUE"])
shown = values.colour.value""",
    "text": r"shown = flags.text_wrap('a word ' * 20, 30), flags.doc_to_help('  A text.\n\n  Its lines.\n'), "
            "list(flags.flag_dict_to_args({'a': 1, 'b': None, 'c': True, 'd': False, 'e': [1, 2]}))",
}

# tf.flags.FLAGS itself: what the program's own command line gives, read before anything parsed it; and tf.app.run
OF_A_PROCESS = [
    ("read unparsed", ["--count=5"], "print(FLAGS.count, FLAGS.is_parsed())"),
    ("read unparsed, unknown", ["--other=5"], "print(FLAGS.count)"),
    ("run", ["--count=2", "--other", "a"], "tf.app.run()"),
    ("run with argv", ["--count=2"], 'tf.app.run(lambda argv: print(argv, FLAGS.count), ["p", "--count=3", "q"])'),
    ("run wrong", ["--count=a"], "tf.app.run()"),
    ("run help", ["--help"], "tf.app.run()"),
    ("run helpshort", ["--helpshort"], "tf.app.run()"),
    ("run result", [], "tf.app.run(lambda argv: 3)"),
    ("flagfile", ["--flagfile=/nowhere/at/all"], "tf.app.run()"),
    ("undefok", ["--undefok=other", "--other=1"], "print(FLAGS.count)"),
    ("verbosity is absl's", ["--verbosity=1"], "tf.app.run(lambda argv: print(tf.logging.get_verbosity(), FLAGS.verbosity))"),
    ("logs before and after", [], "tf.logging.set_verbosity(tf.logging.INFO)\ntf.logging.info('before')\n"
                                  "tf.app.run(lambda argv: tf.logging.info('after'))"),
]
PROCESS = '''"""What the program is for."""
import sys
sys.argv[0] = "prog"
{imports}
flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_integer("count", 1, "How many.")
def main(argv):
    print(argv, FLAGS.count)
'''


def outcome(flags, program):
    """What a program shows, or its error."""
    names = {"flags": flags, "values": flags.FlagValues()}
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            exec(program, names)
        return repr(names.get("shown"))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def in_process(flags):
    """{name: outcome} of the programs that need no process of their own."""
    import shlex

    found = {}
    for line in COMMAND_LINES:
        shown = "shown = rest, sorted(values.flag_values_dict().items())"
        program = f"{DEFINED}\nrest = values({['prog', *shlex.split(line)]})\n{shown}"
        found[line] = outcome(flags, program)
    found.update({name: outcome(flags, program) for name, program in OTHERS.items()})
    return found


def process(python, folder, imports, arguments, program):
    """[exit status, standard output, last lines of standard error] of a program in a process of its own."""
    import os
    import subprocess

    path = os.path.join(folder, "prog.py")
    with open(path, "w") as file:
        file.write(PROCESS.format(imports=imports) + program + "\n")
    done = subprocess.run([*python, path, *arguments], capture_output=True, text=True,
                          env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore", COLUMNS="80"))
    errors = [line for line in done.stderr.splitlines() if line.startswith(("INFO", "FATAL", "I")) or "Error" in line]
    shown = [line.partition("] ")[2] if line[0] == "I" and line[1].isdigit() else line for line in errors]
    return [done.returncode, done.stdout.replace(path, "prog.py"), shown]


if __name__ == "__main__":
    import tempfile

    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        found = in_process(tf.flags)
        found.update({name: process([sys.executable], folder, "import tensorflow as tf", arguments, program)
                      for name, arguments, program in OF_A_PROCESS})
    print(json.dumps(found, indent=1, sort_keys=True))
