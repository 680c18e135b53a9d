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

sub answer { my %verdict = @_; print {$out} "{", join(",", map { "\"$_\":$verdict{$_}" } keys %verdict), "}\0" }

sub shown {
    my ($statement, @values) = @_;
    return "null" if !@values || (@values == 1 && !defined $values[0]) || $statement =~ /^\s*$silent/;
    return quoted(join ", ", @values) unless eval { require Data::Dumper };
    local ($Data::Dumper::Terse, $Data::Dumper::Indent, $Data::Dumper::Sortkeys) = (1, 1, 1);
    my $text = join ", ", map { my $one = Data::Dumper::Dumper($_); chomp $one; $one } @values;
    return quoted(@values == 1 ? $text : "($text)");
}

my ($number_in, $number_out) = splice @ARGV, 0, 2;
open $in, "<&=", $number_in or die $!;
open $out, ">&=", $number_out or die $!;
binmode $_ for $in, $out;
$_->autoflush for $out, \*STDOUT, \*STDERR;
$SIG{INT} = "IGNORE";
answer();
while (defined(my $code = do { local $/ = "\0"; <$in> })) {
    chop $code;
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
