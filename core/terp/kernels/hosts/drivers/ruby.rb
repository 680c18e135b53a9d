# Runs code that comes in on one descriptor and tells the verdict on another: see driver.py.
require "json"

module TerpDriver
  def self.tell(verdict)
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

  def self.serve(input, output)
    @in, @out = IO.for_fd(input, "r:UTF-8"), IO.for_fd(output, "w")
    [@in, @out].each { |io| io.close_on_exec = true }
    @out.sync = $stdout.sync = $stderr.sync = true
    trap("INT") { raise Interrupt if @busy }
    tell({})
    number = 0
    while (code = @in.gets("\0"))
      tell(evaluate(code.chomp("\0"), number += 1))
    end
  end
end

TerpDriver.serve(*ARGV.shift(2).map(&:to_i))
