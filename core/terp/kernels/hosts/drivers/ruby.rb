# Runs code that comes in on one descriptor and tells the verdict on another: see driver.py.
require "json"

module TerpDriver
  KEYWORDS = %w[alias and begin break case class def defined? do else elsif end ensure false for if in module next
    nil not or redo rescue retry return self super then true undef unless until when while yield].freeze
  GLOBALS = global_variables.freeze
  SCOPE = TOPLEVEL_BINDING

  # A process that a cell has forked ends with it: it would answer for the other, and take cells from it.
  def self.tell(verdict)
    exit if Process.pid != @pid
    @out.write(JSON.generate(verdict) + "\0")
  end

  def self.evaluate(code, number)
    @busy = true
    value = TOPLEVEL_BINDING.eval(code, "cell #{number}")
    { value: value.nil? ? nil : value.inspect.scrub }
  rescue SystemExit
    raise
  rescue Exception => error
    @busy = false
    own = (error.backtrace || []).drop_while { |line| line.start_with?(__FILE__) }
    own = own.take_while { |line| !line.start_with?(__FILE__) }
    { name: error.class.name, message: error.message.scrub, trace: own }
  ensure
    @busy = false
  end

  def self.answer(number, what, word)
    rows = what == "names" ? names.first(5000) : words(word.to_s).first(500)
    tell({ answer: number.to_i, rows: rows })
  rescue StandardError
    tell({ answer: number.to_i, rows: [] })
  end

  def self.names
    found = SCOPE.local_variables + SCOPE.receiver.instance_variables + (global_variables - GLOBALS) + constants_of_cells
    found.map { |name| [name, class_of(value(name)).to_s, head(value(name))] } +
      methods_of_cells.map { |name| [name, "method", ""] }
  end

  def self.constants_of_cells
    Object.constants.select { |name| (Object.const_source_location(name) || [""]).first.to_s.start_with?("cell ") }
  end

  def self.methods_of_cells
    (Object.private_instance_methods(false) + Object.public_instance_methods(false)).select do |name|
      (Object.instance_method(name).source_location || [""]).first.start_with?("cell ")
    end
  end

  # No code of the person's runs: they may have redefined `inspect` and `class`.
  def self.value(name)
    case name.to_s
    when /\A@/ then SCOPE.receiver.instance_variable_get(name)
    when /\A\$\w+\z/ then eval(name.to_s)
    when /\A[A-Z]/ then name.to_s.split("::").reduce(Object) { |space, part| space.const_get(part, space == Object) }
    else SCOPE.local_variable_get(name)
    end
  end

  def self.class_of(value)
    Kernel.instance_method(:class).bind_call(value)
  end

  def self.head(value, depth = 0)
    case value
    when nil, true, false, Symbol then value.inspect
    when Integer then value.bit_length > 600 ? "an integer of #{value.bit_length} bits" : value.to_s
    when Float, Rational, Complex then value.to_s
    when String then value[0, 80].scrub.inspect + (value.size > 80 ? "…" : "")
    when Module then depth.zero? ? "" : Module.instance_method(:name).bind_call(value).to_s
    when Array, Hash then depth > 1 ? "…" : listed(value, depth + 1)
    else depth.zero? ? "" : "#<#{class_of(value)}>"
    end
  end

  def self.listed(value, depth)
    parts = value.first(20).map do |one, two|
      value.is_a?(Hash) ? "#{head(one, depth)} => #{head(two, depth)}" : head(one, depth)
    end
    parts << "…" if value.size > 20
    value.is_a?(Hash) ? "{#{parts.join(", ")}}" : "[#{parts.join(", ")}]"
  end

  def self.words(word)
    receiver, sign, begun = word.rpartition(/::|\./)
    known = sign.empty? ? own_words : members(value(receiver.to_sym), sign)
    known.map(&:to_s).select { |name| name.start_with?(begun) && name =~ /\A[\w@$]/ }.map { |name| receiver + sign + name }
  end

  def self.own_words
    SCOPE.local_variables + SCOPE.receiver.instance_variables + global_variables + Object.constants +
      Object.private_instance_methods + KEYWORDS
  end

  def self.members(value, sign)
    return Module.instance_method(:constants).bind_call(value) if sign == "::"
    Kernel.instance_method(:public_methods).bind_call(value)
  end

  def self.serve(input, output)
    @pid = Process.pid
    @in, @out = IO.for_fd(input, "r:UTF-8"), IO.for_fd(output, "w")
    [@in, @out].each { |io| io.close_on_exec = true }
    @out.sync = $stdout.sync = $stderr.sync = true
    trap("INT") { raise Interrupt if @busy }
    tell({})
    number = 0
    while (code = @in.gets("\0"))
      if (asked = code.match(/\A\x01(\d+) (\w+) ?(.*)\0\z/m))
        answer(*asked.captures)
      else
        tell(evaluate(code.chomp("\0"), number += 1))
      end
    end
  end
end

TerpDriver.serve(*ARGV.shift(2).map(&:to_i))
