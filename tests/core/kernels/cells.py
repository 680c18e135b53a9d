"""What the tests of driven languages run: the same facts, said in each language."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cells:
    """Cells of one language, and the name of the driver that runs them.

    `sets` gives x the value 41 and shows nothing, `uses` shows x + 1 as `shown`. `prints` writes "out" to
    one stream and "err" to the other. `fails` ends in an error `failed` raised by a function of its own.
    `unreadable` is none of the language. `loops` prints "on" and goes on for ever. `asks` prints "hi" and
    the line it reads, `reads` prints `nothing` at the end of the input. `leaves` ends the program with 3.
    """

    driver: str
    sets: str
    uses: str
    shown: str
    prints: str
    fails: str
    failed: str
    unreadable: str
    loops: str
    asks: str
    reads: str
    nothing: str
    leaves: str
    left: str = "ExitStatus 3"


CELLS = (
    Cells(
        driver="ruby",
        sets="x = 41; nil",
        uses="x + 1",
        shown="42",
        prints="puts 'out'; warn 'err'",
        fails="def far = raise(ArgumentError, 'boom')\nfar",
        failed="ArgumentError boom",
        unreadable="x = = 1",
        loops="puts 'on'; loop { }",
        asks='puts "hi #{gets}"',
        reads="p gets",
        nothing="nil",
        leaves="exit 3",
    ),
    Cells(
        driver="php",
        sets="$x = 41;",
        uses="$x + 1;",
        shown="42",
        prints='echo "out\\n"; error_log("err");',
        fails="function far() { throw new InvalidArgumentException('boom'); }\nfar();",
        failed="InvalidArgumentException boom",
        unreadable="x = = 1",
        loops='echo "on\\n"; while (true) {}',
        asks='echo "hi ", fgets(STDIN);',
        reads="var_dump(fgets(STDIN));",
        nothing="bool(false)",
        leaves="exit(3);",
    ),
    Cells(
        driver="perl",
        sets="my $x = 41;",
        uses="$x + 1",
        shown="42",
        prints='print "out\\n"; warn "err\\n";',
        fails='sub far { die "boom\\n" }\nfar();',
        failed="Error boom",
        unreadable="my $y = (1;",
        loops='print "on\\n"; while (1) {}',
        asks='print "hi ", scalar <STDIN>;',
        reads='print defined <STDIN> ? "some" : "none", "\\n";',
        nothing="none",
        leaves="exit 3;",
    ),
    Cells(
        driver="lua",
        sets="local x = 41",
        uses="x + 1",
        shown="42",
        prints="print('out') io.stderr:write('err\\n')",
        fails="local function far() error('boom', 0) end\nfar()",
        failed="Error boom",
        unreadable="x = = 1",
        loops="print('on') while true do end",
        asks="print('hi ' .. io.read('l'))",
        reads="print(io.read('l'))",
        nothing="nil",
        leaves="os.exit(3)",
    ),
    Cells(
        driver="javascript",
        sets="const x = 41;",
        uses="x + 1",
        shown="42",
        prints='console.log("out"); console.error("err")',
        fails='function far() { throw new TypeError("boom") }\nfar()',
        failed="TypeError boom",
        unreadable="const = 1",
        loops='console.log("on"); while (true) {}',
        asks='console.log("hi " + require("fs").readFileSync(0, "utf8").trim())',
        reads='console.log(require("fs").readFileSync(0, "utf8").length)',
        nothing="0",
        leaves="process.exit(3)",
    ),
    Cells(
        driver="r",
        sets="x <- 41",
        uses="x + 1",
        shown="[1] 42",
        prints='cat("out\\n"); message("err")',
        fails='far <- function() stop("boom")\nfar()',
        failed="Error boom",
        unreadable="x <- <- 1",
        loops='cat("on\\n"); while (TRUE) {}',
        asks='cat(paste0("hi ", readline(), "\\n"))',
        reads='cat(length(readLines(file("stdin"), 1)), "\\n", sep = "")',
        nothing="0",
        leaves="quit(status = 3)",
    ),
    Cells(
        driver="java",
        sets="int x = 41;",
        uses="x + 1",
        shown="42",
        prints='System.out.println("out"); System.err.println("err");',
        fails='void far() { throw new IllegalArgumentException("boom"); }\nfar();',
        failed="java.lang.IllegalArgumentException boom",
        unreadable="int y = ;",
        loops='System.out.println("on"); while (true) {}',
        asks='System.out.println("hi " + new Scanner(System.in).nextLine());',
        reads="System.out.println(System.in.read());",
        nothing="-1",
        leaves="System.exit(3);",
        left="ProgramEnded",
    ),
)
