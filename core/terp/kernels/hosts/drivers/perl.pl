# Runs code that comes in on one descriptor and tells the verdict on another: see driver.py.
package TerpDriver;
use strict;
use warnings;
no warnings "once";

# Code sees the lexical variables around its `eval`: before this line there are none.
sub evaluate { no strict; no warnings; package main; eval $_[0] }

my (%kept, $in, $out);

# One token of Perl, as far as is needed to tell code from text.
my $token = qr/\G(?:
      (?<text> \s+ | \#[^\n]* | ^=[a-z].*?(?:^=cut\b[^\n]*|\z)
        | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `(?:[^`\\]|\\.)*`
        | (?<![\$\@%&>{])\b(?:qw|qq?|m|qr) (?: \s*(?&pair) | (?<m>[\/!|,\#~])(?:(?!\g{m})[^\\]|\\.)*\g{m} )
        | (?<![\$\@%&>{])\b(?:s|tr|y) (?: \s*(?&pair)\s*(?&pair)
            | (?<s>[\/!|,\#~])(?:(?!\g{s})[^\\]|\\.)*\g{s}(?:(?!\g{s})[^\\]|\\.)*\g{s} )
        | <<~?\s*(?<q>["']?)(?<tag>[A-Za-z_]\w*)\g{q}[^\n]*\n.*?^\s*\g{tag}$
        | [\$\@%&]\#?\$*\{?\^?[\w:]+\}? | (?<=[=~(,])\s*\/(?:[^\/\\\n]|\\.)*\/\w* )
    | (?<word> [A-Za-z_]\w* ) | (?<other> . ) )
    (?(DEFINE) (?<pair>
        \{(?:[^{}\\]++|\\.|(?&pair))*\} | \((?:[^()\\]++|\\.|(?&pair))*\) | \[(?:[^\[\]\\]++|\\.|(?&pair))*\] ))
    /xsm;
my $block = qr/^(?:sub\s+\w|if|elsif|else|unless|while|until|for|foreach|package|BEGIN|END|\{)/;

# The code with the variables that it declares outside of blocks made variables of the package, which stay;
# and its last statement.
sub prepared {
    my ($code) = @_;
    my ($depth, $parens, $head, $last, $made, $statement, $before) = (0, 0, 0, "", "", "", "");
    my $end = sub { ($before, $statement) = ($statement, "") if $statement =~ /\S/ };
    pos($code) = 0;
    while ($code =~ /$token/gc) {
        my ($piece, $text, $word, $other) = ($&, @+{qw(text word other)});
        if (defined $word && $word eq "my" && !$depth && !$head && $last !~ /^(?:for|foreach)$/
            && $code =~ /\G\s*(?<names>[\$\@%]\w+|\([^()]*\))(?<bare>(?=\s*(?:;|\z)))?/gc) {
            my ($names, $bare) = @+{qw(names bare)};
            $kept{$_} = 1 for $names =~ /[\$\@%]\w+/g;
            $made .= "our $names" . (defined $bare ? " = ()" : "");
            $statement .= "my $names";
            $last = "";
            next;
        }
        $made .= $piece;
        $end->() if $piece =~ /\n/ && $last eq "}" && !$depth && !$parens && $statement =~ /^\s*$block/;
        $statement .= $piece unless $piece =~ /^\s*#/ || ($piece =~ /^\s+$/ && $statement eq "");
        next if defined $text && $piece =~ /^(?:\s|#)/;
        $last = $piece;
        next unless defined $other;
        $depth += $other eq "{" ? 1 : $other eq "}" ? -1 : 0;
        $parens += $other eq "(" ? 1 : $other eq ")" ? -1 : 0;
        $head = $parens if $other eq "(" && !$head && $statement =~ /^(?:for|foreach|while|until)\s*\(?$|^foreach?\s+my\b[^()]*\($/;
        $head = 0 if $parens < $head;
        $end->() if $other eq ";" && !$depth && !$parens;
    }
    my $declared = %kept ? "our (" . join(",", sort keys %kept) . ");" : "";
    return ("$declared\n#line 1 \"cell\"\n$made", $statement =~ /\S/ ? $statement : $before);
}

# What stands there for what it does, not for its value.
my $silent = qr/$block|^(?:my|our|local|print|printf|say|push|unshift|splice|open|close|binmode|chdir|mkdir|rmdir
    |unlink|rename|use|no|require|do|return|undef|delete|select|system|sleep|srand)\b
    |^[\$\@%][\w:]*(?:(?:->)?[\[{].*?[\]}])*\s*(?:[-+*\/.x|&^%]|\*\*|\|\||&&|\/\/|<<|>>)?=(?![=~>])/xs;

sub quoted {
    my ($text) = @_;
    utf8::decode($text) unless utf8::is_utf8($text);
    $text =~ s/([\\"\x00-\x1f\x7f-\x{10ffff}])/ord $1 < 0x10000 ? sprintf("\\u%04x", ord $1)
        : sprintf("\\u%04x\\u%04x", 0xd800 + ((ord($1) - 0x10000) >> 10), 0xdc00 + (ord($1) & 0x3ff))/ge;
    return "\"$text\"";
}

# A process that a cell has forked ends with it: it would answer for the other, and take cells from it.
my $own = $$;
sub answer { exit if $$ != $own; my %verdict = @_; print {$out} "{", join(",", map { "\"$_\":$verdict{$_}" } keys %verdict), "}\0" }

sub shown {
    my ($statement, @values) = @_;
    return "null" if !@values || (@values == 1 && !defined $values[0]) || $statement =~ /^\s*$silent/;
    return quoted(join ", ", @values) unless eval { require Data::Dumper };
    local ($Data::Dumper::Terse, $Data::Dumper::Indent, $Data::Dumper::Sortkeys) = (1, 1, 1);
    my $text = join ", ", map { my $one = Data::Dumper::Dumper($_); chomp $one; $one } @values;
    return quoted(@values == 1 ? $text : "($text)");
}

# What is asked between cells. Nothing overloaded is called: it is the person's code.
my %known;
my @words = qw(and bless chdir chomp chop chr close defined delete die do each else elsif eval exists exit for foreach
    grep hex if index int join keys lc lcfirst length local lt map my ne next not oct open opendir or our package pop
    print printf push qw ref require return reverse rindex say scalar shift sort splice split sprintf sub substr
    system tr uc ucfirst undef unless unlink unshift until use values wantarray warn while);

sub head {
    my ($value, $depth) = @_;
    return "undef" unless defined $value;
    my $kind = ref $value;
    return $value =~ /^-?\d[\d.]{0,30}\z/ ? $value : "'" . substr($value, 0, 80) . (length $value > 80 ? "…'" : "'") unless $kind;
    return $depth ? $kind : "" if $depth > 1 || $kind !~ /^(?:ARRAY|HASH)$/;
    my @parts = $kind eq "ARRAY" ? map({ head($_, $depth + 1) } @$value[0 .. ($#$value < 19 ? $#$value : 19)])
        : map({ "$_ => " . head($value->{$_}, $depth + 1) } grep { defined } (sort keys %$value)[0 .. 19]);
    push @parts, "…" if ($kind eq "ARRAY" ? @$value : keys %$value) > 20;
    return $kind eq "ARRAY" ? "[@{[join ', ', @parts]}]" : "{@{[join ', ', @parts]}}";
}

# Name, sigil, type and value of what the code has put into the main package.
sub defined_names {
    no strict "refs";
    my @found;
    for my $name (sort grep { /^[A-Za-z]\w*\z/ && !$known{$_} && ref(\$main::{$_}) =~ /^(?:GLOB|REF)$/ } keys %main::) {
        my $glob = \*{"main::$name"};
        my $scalar = ${*$glob{SCALAR}};
        push @found, [$name, "\$", ref $scalar || "scalar", $scalar] if defined $scalar || $kept{"\$$name"};
        push @found, [$name, "\@", "array", *$glob{ARRAY}] if *$glob{ARRAY};
        push @found, [$name, "%", "hash", *$glob{HASH}] if *$glob{HASH};
        push @found, [$name, "&", "sub", *$glob{CODE}] if *$glob{CODE} && is_own(*$glob{CODE});
    }
    return @found;
}

sub is_own { require B; my $from = B::svref_2object($_[0])->GV; return $from->isa("B::GV") && $from->STASH->NAME eq "main" }

sub rows {
    my ($what, $word) = @_;
    my @found = defined_names();
    return map { "[" . join(",", quoted($_->[0]), quoted($_->[2]), quoted(head($_->[3], 0))) . "]" } @found if $what eq "names";
    my ($sign, $begun) = $word =~ /^([\$\@%&]?)(.*)/s;
    # An element of @list is $list[0].
    my @all = map { "$sign$_->[0]" } grep { $sign eq "\$" ? $_->[1] ne "&" : $_->[1] eq ($sign || "&") } @found;
    push @all, @words unless $sign;
    return map { quoted($_) } grep { index($_, $word) == 0 } @all;
}

my ($number_in, $number_out) = splice @ARGV, 0, 2;
open $in, "<&=", $number_in or die $!;
open $out, ">&=", $number_out or die $!;
binmode $_ for $in, $out;
$_->autoflush for $out, \*STDOUT, \*STDERR;
$SIG{INT} = "IGNORE";
answer();
$known{$_} = 1 for keys %main::;
while (defined(my $code = do { local $/ = "\0"; <$in> })) {
    chop $code;
    if ($code =~ /^\x01(\d+) (\w+) ?(.*)/s) {
        my @rows = eval { rows($2, $3) };
        answer(answer => $1, rows => "[" . join(",", @rows) . "]");
        next;
    }
    # Or Perl would name this handle in its messages.
    $. = 0;
    my ($made, $statement) = prepared($code);
    my $error;
    my @values = eval {
        local $SIG{INT} = sub { die "Interrupted\n" };
        my @all = evaluate($made);
        $error = $@;
        @all;
    };
    $error = $@ unless defined $error;
    if (ref $error || length $error) {
        my $name = ref $error || ($error eq "Interrupted\n" ? "Interrupted" : "Error");
        chomp(my $message = "$error");
        answer(name => quoted($name), message => quoted($message), trace => "[]");
    } else {
        answer(value => shown($statement, @values));
    }
}
