// Runs code that comes in on one descriptor and tells the verdict on another: see driver.py.

import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.Snippet;
import jdk.jshell.Snippet.SubKind;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis.CompletionInfo;
import jdk.jshell.TypeDeclSnippet;
import jdk.jshell.UnresolvedReferenceException;
import jdk.jshell.VarSnippet;

class JShellDriver {
    /** Says that the code ended its machine, with a status that only that machine knew. */
    private static final int STATUS_UNKNOWN = 199;
    private static final String IMPORTS = "io math net nio.file time util util.concurrent util.function util.regex util.stream";

    private final JShell shell = JShell.builder().in(System.in).out(System.out).err(System.err).build();
    private final Map<String, String> looks = new HashMap<>();
    private volatile boolean stopped;
    private volatile boolean busy;
    private volatile int cell;

    /** The verdict on one cell. */
    private String evaluate(String code) {
        String value = null;
        TypeDeclSnippet program = null;
        boolean onlyTypes = true;
        stopped = false;
        looks.clear();
        for (String rest = code; !rest.isBlank(); ) {
            CompletionInfo part = shell.sourceCodeAnalysis().analyzeCompletion(rest);
            String source = part.source() == null ? rest : part.source();
            rest = part.source() == null ? "" : part.remaining();
            value = null;
            for (SnippetEvent event : shell.eval(source)) {
                if (event.causeSnippet() != null) {
                    continue;
                }
                Snippet snippet = event.snippet();
                if (event.exception() != null) {
                    return thrown(event.exception());
                }
                if (event.status() == Snippet.Status.REJECTED) {
                    return rejected(snippet, code, code.length() - rest.length() - source.length());
                }
                if (stopped) {
                    return error("Interrupted", "", List.of());
                }
                boolean shown = snippet.subKind() != SubKind.ASSIGNMENT_SUBKIND && snippet.subKind() != SubKind.VAR_DECLARATION_SUBKIND
                    && snippet.subKind() != SubKind.VAR_DECLARATION_WITH_INITIALIZER_SUBKIND;
                value = shown && event.value() != null && !event.value().isEmpty() ? event.value() : null;
                onlyTypes &= snippet.kind() == Snippet.Kind.TYPE_DECL || snippet.kind() == Snippet.Kind.IMPORT;
                if (snippet instanceof TypeDeclSnippet && snippet.source().matches("(?s).*\\bstatic\\s+void\\s+main\\s*\\(.*")) {
                    program = (TypeDeclSnippet) snippet;
                }
            }
        }
        // Nothing but a whole program: it is meant to run.
        return onlyTypes && program != null ? evaluate(program.name() + ".main(new String[0]);") : "{\"value\":" + quoted(value) + "}";
    }

    /** Stop the cell that is evaluated: JShell does not stop code that is just inside one of its own calls. */
    private void stop() {
        int now = cell;
        stopped = true;
        while (busy && cell == now) {
            shell.stop();
            try {
                Thread.sleep(20);
            } catch (InterruptedException ended) {
                return;
            }
        }
    }

    private static String thrown(Exception problem) {
        List<String> frames = new ArrayList<>();
        for (StackTraceElement frame : problem.getStackTrace()) {
            String place = String.valueOf(frame.getFileName());
            if (place.startsWith("#")) {
                String method = frame.getMethodName().isEmpty() ? "" : frame.getMethodName() + " ";
                frames.add("at " + method + "(" + place + ":" + frame.getLineNumber() + ")");
            }
        }
        if (problem instanceof EvalException) {
            return error(((EvalException) problem).getExceptionClassName(), String.valueOf(problem.getMessage()), frames);
        }
        DeclarationSnippet used = ((UnresolvedReferenceException) problem).getSnippet();
        return error("UnresolvedReference", used.name() + " uses what is not defined", frames);
    }

    private String rejected(Snippet snippet, String code, int start) {
        List<String> told = new ArrayList<>();
        shell.diagnostics(snippet).filter(problem -> problem.isError()).forEach(problem -> {
            long at = Math.max(0, Math.min(start + problem.getPosition(), code.length()));
            long line = code.substring(0, (int) at).chars().filter(c -> c == '\n').count() + 1;
            told.add("line " + line + ": " + problem.getMessage(Locale.ENGLISH).strip().replace("\n", " "));
        });
        return error("CompileError", told.isEmpty() ? "cannot be read" : told.get(0), told.subList(Math.min(1, told.size()), told.size()));
    }

    private static String error(String name, String message, List<String> trace) {
        String lines = trace.stream().map(JShellDriver::quoted).collect(Collectors.joining(","));
        return "{\"name\":" + quoted(name) + ",\"message\":" + quoted(message) + ",\"trace\":[" + lines + "]}";
    }

    private static String quoted(String text) {
        if (text == null) {
            return "null";
        }
        StringBuilder made = new StringBuilder("\"");
        text.chars().forEach(c -> made.append(c < 32 || c > 126 || c == '"' || c == '\\' ? String.format("\\u%04x", c) : String.valueOf((char) c)));
        return made.append('"').toString();
    }

    /** The answer to what is asked between cells: see driver.py. */
    private String answered(String question) {
        String[] parts = question.substring(1).split(" ", 3);
        List<String> rows = parts[1].equals("names") ? names() : words(parts[2]);
        return "{\"answer\":" + parts[0] + ",\"rows\":[" + String.join(",", rows) + "]}";
    }

    private List<String> names() {
        List<String> rows = new ArrayList<>();
        shell.variables().filter(one -> shell.status(one).isActive()).forEach(one -> rows.add(row(one.name(), one.typeName(), looked(one))));
        shell.methods().filter(one -> shell.status(one).isActive()).forEach(one -> rows.add(row(one.name(), "method", one.signature())));
        shell.types().filter(one -> shell.status(one).isActive()).forEach(one -> rows.add(row(one.name(), "type", "")));
        return rows;
    }

    /** A value is shown by its own `toString`, so only that of a type of Java's is looked at. */
    private String looked(VarSnippet variable) {
        if (!variable.typeName().matches("(?:byte|short|int|long|float|double|boolean|char|String|(?:Byte|Short|Integer|Long|Float|Double|Boolean|Character))")) {
            return "";
        }
        // Each look compiles and runs a line.
        String value = looks.computeIfAbsent(variable.name(), name -> shell.varValue(variable));
        return value.length() > 100 ? value.substring(0, 100) + "…" : value;
    }

    private static String row(String name, String type, String head) {
        return "[" + quoted(name) + "," + quoted(type) + "," + quoted(head) + "]";
    }

    private List<String> words(String word) {
        int[] anchor = new int[1];
        return shell.sourceCodeAnalysis().completionSuggestions(word, word.length(), anchor).stream()
            .map(one -> quoted(word.substring(0, anchor[0]) + one.continuation())).distinct().limit(500).collect(Collectors.toList());
    }

    private static String next(InputStream in) throws IOException {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        for (int one = in.read(); one != 0; one = in.read()) {
            if (one < 0) {
                System.exit(0);
            }
            read.write(one);
        }
        return read.toString(StandardCharsets.UTF_8);
    }

    private static void tell(OutputStream out, String verdict) throws IOException {
        System.out.flush();
        out.write((verdict + "\0").getBytes(StandardCharsets.UTF_8));
    }

    public static void main(String[] numbers) throws IOException {
        InputStream in = new java.io.BufferedInputStream(new FileInputStream("/dev/fd/" + numbers[0]));
        OutputStream out = new FileOutputStream("/dev/fd/" + numbers[1]);
        JShellDriver driver = new JShellDriver();
        sun.misc.Signal.handle(new sun.misc.Signal("INT"), signal -> driver.stop());
        Arrays.stream(IMPORTS.split(" ")).forEach(name -> driver.shell.eval("import java." + name + ".*;"));
        driver.shell.onShutdown(shell -> Runtime.getRuntime().halt(STATUS_UNKNOWN));
        tell(out, "{}");
        while (true) {
            String code = next(in);
            if (code.startsWith("\u0001")) {
                tell(out, driver.answered(code));
                continue;
            }
            driver.cell++;
            driver.busy = true;
            String verdict = driver.evaluate(code);
            driver.busy = false;
            tell(out, verdict);
        }
    }
}
