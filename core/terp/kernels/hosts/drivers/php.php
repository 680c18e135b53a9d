<?php
// Runs code that comes in on one descriptor and tells the verdict on another: see driver.py.

final class Interrupted extends Error
{
}

final class TerpDriver
{
    private static $in, $out, $process;

    public static function open(string $in, string $out): void
    {
        self::$process = getmypid();
        [self::$in, self::$out] = [fopen("php://fd/$in", 'r'), fopen("php://fd/$out", 'w')];
        error_reporting(E_ALL);
        set_error_handler(function (int $level, string $message, string $file, int $line): bool {
            $place = self::place($file) . ":$line";
            return (error_reporting() & $level) && fwrite(STDERR, "Warning: $message ($place)\n") || true;
        });
        if (function_exists('pcntl_async_signals')) {
            pcntl_async_signals(true);
        }
        self::interruptible(false);
        self::tell([]);
    }

    /** A process that a cell has forked ends with it: it would answer for the other, and take cells from it. */
    public static function tell(array $verdict): void
    {
        if (getmypid() !== self::$process) {
            exit(0);
        }
        self::interruptible(false);
        fwrite(self::$out, json_encode((object) $verdict, JSON_INVALID_UTF8_SUBSTITUTE) . "\0");
    }

    /** The next code to run, so written that it returns the value of its last expression. */
    public static function next(): string
    {
        for ($code = ''; !str_ends_with($code, "\0"); $code .= $char) {
            if (($char = fgetc(self::$in)) === false) {
                exit(0);
            }
            if ($char === "\0" && preg_match('/^\x01(\d+) (\w+) ?(.*)$/s', $code, $asked)) {
                self::answer((int) $asked[1], $asked[2], $asked[3]);
                $code = $char = '';
            }
        }
        $code = self::returning(preg_replace('/^\s*<\?php\b/', '', substr($code, 0, -1)));
        self::interruptible(true);
        return $code;
    }

    public static function succeeded(mixed $value): array
    {
        $shown = is_array($value) || is_object($value) ? trim(print_r($value, true)) : var_export($value, true);
        return ['value' => $value === null ? null : $shown];
    }

    public static function failed(Throwable $error): array
    {
        $trace = [];
        foreach ([['file' => $error->getFile(), 'line' => $error->getLine()], ...$error->getTrace()] as $frame) {
            if (isset($frame['line']) && ($frame['file'] ?? '') !== __FILE__) {
                $trace[] = self::place($frame['file']) . ":{$frame['line']}";
            }
        }
        return ['name' => get_class($error), 'message' => $error->getMessage(), 'trace' => array_values(array_unique($trace))];
    }

    private static function answer(int $number, string $what, string $word): void
    {
        try {
            $rows = array_slice($what === 'names' ? self::names() : self::words($word), 0, 5000);
        } catch (Throwable) {
            $rows = [];
        }
        self::tell(['answer' => $number, 'rows' => $rows]);
    }

    private static function names(): array
    {
        $rows = [];
        foreach (self::variables() as $name => $value) {
            $rows[] = [(string) $name, get_debug_type($value), self::head($value)];
        }
        foreach (self::defined() as $kind => $names) {
            foreach ($names as $name) {
                $rows[] = [$name, $kind, $kind === 'constant' ? self::head(constant($name)) : ''];
            }
        }
        return $rows;
    }

    private static function variables(): array
    {
        $own = ['GLOBALS', '_GET', '_POST', '_COOKIE', '_FILES', '_SERVER', '_ENV', '_REQUEST', '_SESSION', 'argc', 'argv'];
        return array_diff_key($GLOBALS, array_flip($own));
    }

    /** What the code has defined, by its kind. */
    private static function defined(): array
    {
        $classes = array_filter(get_declared_classes(), function (string $name): bool {
            return !(new ReflectionClass($name))->isInternal() && !in_array($name, [self::class, Interrupted::class], true);
        });
        return [
            'function' => get_defined_functions()['user'],
            'class' => array_filter($classes, fn(string $name): bool => !str_contains($name, '@anonymous')),
            'constant' => array_keys(get_defined_constants(true)['user'] ?? []),
        ];
    }

    private static function head(mixed $value, int $depth = 0): string
    {
        if (is_string($value)) {
            return var_export(substr($value, 0, 80), true) . (strlen($value) > 80 ? '…' : '');
        }
        if (is_scalar($value)) {
            return var_export($value, true);
        }
        if (!is_array($value) || $depth > 1) {
            return $depth === 0 || $value === null ? '' : get_debug_type($value);
        }
        $parts = [];
        foreach (array_slice($value, 0, 20, true) as $key => $one) {
            $parts[] = (array_is_list($value) ? '' : "$key => ") . self::head($one, $depth + 1);
        }
        return '[' . implode(', ', $parts) . (count($value) > 20 ? ', …' : '') . ']';
    }

    private static function words(string $word): array
    {
        if (preg_match('/^(.*(?:->|::))(\w*)$/s', $word, $found)) {
            [$known, $start] = [self::members($found[1]), $found[1]];
        } elseif (str_starts_with($word, '$')) {
            [$known, $start] = [array_keys(self::variables()), '$'];
        } else {
            $functions = get_defined_functions();
            $known = [...$functions['internal'], ...$functions['user'], ...get_declared_classes(), ...array_keys(get_defined_constants())];
            $start = '';
        }
        $all = array_map(fn($name): string => $start . $name, $known);
        return array_values(array_filter($all, fn(string $name): bool => str_starts_with($name, $word)));
    }

    private static function members(string $path): array
    {
        if (str_ends_with($path, '::')) {
            $class = new ReflectionClass(substr($path, 0, -2));
            $static = array_map(fn($one) => $one->getName(), $class->getMethods(ReflectionMethod::IS_STATIC));
            return [...$static, ...array_keys($class->getConstants())];
        }
        $value = self::variables()[substr($path, 1, -2)] ?? null;
        return is_object($value) ? [...get_class_methods($value), ...array_keys(get_object_vars($value))] : [];
    }

    private static function place(string $file): string
    {
        return str_contains($file, "eval()'d") ? 'cell' : $file;
    }

    private static function interruptible(bool $yes): void
    {
        if (function_exists('pcntl_signal')) {
            pcntl_signal(SIGINT, $yes ? fn() => throw new Interrupted('') : SIG_IGN);
        }
    }

    private static function returning(string $code): string
    {
        if (!function_exists('token_get_all')) {
            return "$code;";
        }
        [$tokens, $depth, $at, $end] = [token_get_all("<?php $code"), 0, 0, 6];
        foreach ($tokens as $i => $token) {
            [$kind, $text] = is_array($token) ? $token : [0, $token];
            if ($depth === 0 && in_array($kind, [T_FUNCTION, T_CLASS, T_INTERFACE, T_TRAIT], true)) {
                self::refuseTwice($tokens, $i);
            }
            $depth += in_array($text, ['{', '(', '[', '${', '#['], true) ? 1 : (in_array($text, ['}', ')', ']'], true) ? -1 : 0);
            $at += strlen($text);
            if ($depth === 0 && ($text === ';' || $text === '}') && trim(substr("<?php $code", $at)) !== '') {
                $end = $at;
            }
        }
        $tail = rtrim(trim(substr("<?php $code", $end)), '; ');
        if ($tail === '' || preg_match('/^\$\w+((\[[^=]*\])|(->\w+))*\s*([-+.*\/%|&^]|\?\?|\*\*)?=[^=>]/', $tail)) {
            return "$code;";
        }
        try {
            // Only to see whether it is an expression: nothing of it runs.
            eval("if (false) { return ($tail\n); }");
            return substr("<?php $code", 6, $end - 6) . " return ($tail\n);";
        } catch (ParseError) {
            return "$code;";
        }
    }

    /** What is defined twice would end PHP, and with it all variables. */
    private static function refuseTwice(array $tokens, int $i): void
    {
        $name = ($tokens[$i + 2] ?? '')[1] ?? '';
        $known = $tokens[$i][0] === T_FUNCTION ? function_exists($name)
            : class_exists($name, false) || interface_exists($name, false) || trait_exists($name, false);
        if (preg_match('/^\w+$/', $name) && $known) {
            throw new Error("Cannot redeclare $name: PHP takes a definition once. Use another name.");
        }
    }
}

TerpDriver::open($argv[1], $argv[2]);
unset($argc, $argv);
while (true) {
    try {
        TerpDriver::tell(TerpDriver::succeeded(eval(TerpDriver::next())));
    } catch (Throwable $error) {
        TerpDriver::tell(TerpDriver::failed($error));
        unset($error);
    }
}
