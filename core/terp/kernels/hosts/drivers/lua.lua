-- Runs code that comes in on one descriptor and tells the verdict on another: see driver.py.
-- Returns the loop, which `lua` is told to run again and again: each of its chunks can be interrupted once.
local input, output = io.open("/dev/fd/" .. arg[1], "rb"), io.open("/dev/fd/" .. arg[2], "wb")
local load, pcall, xpcall, tostring, type, getmetatable = load, pcall, xpcall, tostring, type, getmetatable
local format, concat, traceback, flush, stdout = string.format, table.concat, debug.traceback, io.flush, io.stdout
arg = {[0] = "cell"}
stdout:setvbuf("line")

local function quoted(text)
  return '"' .. text:gsub('[%c"\\\127]', function(c) return format("\\u%04x", c:byte()) end) .. '"'
end

local function tell(verdict)
  flush()
  output:write("{", verdict, "}\0")
  output:flush()
end

local function shown(value, depth)
  if type(value) == "string" then return depth and format("%q", value) or '"' .. value .. '"' end
  if type(value) ~= "table" or (getmetatable(value) or {}).__tostring or (depth or 0) > 3 then return tostring(value) end
  local parts, listed = {}, #value
  for i = 1, math.min(listed, 1000) do parts[i] = shown(value[i], (depth or 0) + 1) end
  for key, one in next, value do
    if not (math.type(key) == "integer" and key >= 1 and key <= listed) then
      local name = type(key) == "string" and key:match("^[%a_][%w_]*$") or "[" .. shown(key, 3) .. "]"
      parts[#parts + 1] = name .. " = " .. shown(one, (depth or 0) + 1)
    end
    if #parts > 1000 then break end
  end
  return "{" .. concat(parts, ", ") .. "}"
end

-- What `local` declares outside of blocks becomes global, and stays.
local opens = {["function"] = 1, ["do"] = 1, ["then"] = 0, ["if"] = 1, ["repeat"] = 1, ["end"] = -1, ["until"] = -1}
local function kept(code)
  local made, at, depth = {}, 1, 0
  local function take(pattern)
    local _, last = code:find("^" .. pattern, at)
    if last then made[#made + 1] = code:sub(at, last); at = last + 1 end
    return last
  end
  while at <= #code do
    local level = code:match("^%-?%-?%[(=*)%[", at)
    local word = code:match("^[%a_][%w_]*", at)
    if level and code:find("]" .. level .. "]", at, true) then
      local _, last = code:find("]" .. level .. "]", at, true)
      made[#made + 1] = code:sub(at, last); at = last + 1
    elseif word == "local" and depth == 0 and not code:match("^local[%s%w_,]*<%s*close", at) then
      local names, after = code:match("^local%s+([%a_][%w_,%s<>]-)%s*()%f[=;\n\0]", at)
      if code:match("^local%s+function%f[%W]", at) then
        at = at + #"local"
      elseif names then
        names = names:gsub("%s*<%s*const%s*>", "")
        local bare = not code:match("^%s*=", after)
        made[#made + 1] = names .. (bare and " = nil" or "")
        at = after
      else
        take("local")
      end
    elseif word then
      depth = depth + (opens[word] or 0)
      take("[%a_][%w_]*")
    elseif not (take("%-%-[^\n]*") or take('"[^"\\\n]*"') or take("'[^'\\\n]*'")) then
      local quote = code:match("^[\"']", at)
      if quote then
        take(".")
        while at <= #code and code:sub(at, at) ~= quote do if not take("\\.") then take(".") end end
      end
      take(".")
    end
  end
  return concat(made)
end

-- The code as a function that returns the value of its last expression.
local function loaded(code)
  local whole, message = load(code, "=cell")
  local found = load("return " .. code, "=cell")
  local at = #code
  while not found and at > 0 do
    local start = code:sub(1, at):find("[\n;][^\n;]*$")
    if not start then break end
    local tail = code:sub(start + 1)
    if tail:match("^%s*[^%s(;]") and not tail:match("^%s*%-%-") then
      found = load(code:sub(1, start) .. " return " .. tail, "=cell")
    end
    at = start - 1
  end
  return found or whole, message
end

-- What is asked between cells. No metamethod is called: it is the person's code.
local known, rawget, ipairs = {TERP = true}, rawget, ipairs
for name in next, _G do known[name] = true end
local keywords = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat return then true until while"):gmatch("%a+") do
  keywords[word] = true
end

local function head(value, depth)
  local kind = type(value)
  if kind == "string" then return format("%q", value:sub(1, 80)):gsub("\\\n", "\\n") .. (#value > 80 and "…" or "") end
  if kind == "number" or kind == "boolean" or kind == "nil" then return tostring(value) end
  if kind ~= "table" or depth > 1 then return depth == 0 and "" or kind end
  local parts = {}
  for key, one in next, value do
    if #parts == 20 then parts[21] = "…" break end
    local listed = math.type(key) == "integer" and key == #parts + 1
    parts[#parts + 1] = (listed and "" or (type(key) == "string" and key or head(key, 2)) .. " = ") .. head(one, depth + 1)
  end
  return "{" .. concat(parts, ", ") .. "}"
end

local function names()
  local rows = {}
  for name, value in next, _G do
    if not known[name] and type(name) == "string" and #rows < 5000 then
      rows[#rows + 1] = "[" .. quoted(name) .. "," .. quoted(type(value)) .. "," .. quoted(head(value, 0)) .. "]"
    end
  end
  return rows
end

local function words(word)
  local path, begun = word:match("^(.*[.:])([%w_]*)$")
  local within = _G
  for name in (path or ""):gmatch("[%w_]+") do
    within = type(within) == "table" and rawget(within, name) or type(within) == "string" and string[name] or nil
  end
  if type(within) == "string" then within = string end
  local rows, start = {}, begun or word
  for _, space in ipairs(path and {within} or {within, keywords}) do
    if type(space) == "table" then
      for name in next, space do
        if type(name) == "string" and name:sub(1, #start) == start then rows[#rows + 1] = quoted((path or "") .. name) end
      end
    end
  end
  return rows
end

local function answer(question)
  local number, what, word = question:match("^\1(%d+) (%a+) ?(.*)$")
  local done, rows = pcall(what == "names" and names or words, word)
  tell(format('"answer":%s,"rows":[%s]', number, done and concat(rows, ",") or ""))
end

local function failed(message)
  local frames = {}
  for line in traceback("", 2):gmatch("\t([^\n]+)") do
    if line:find("lua.lua:", 1, true) then if #frames > 0 then break end
    elseif line:find("^cell:") then frames[#frames + 1] = line end
  end
  local text = type(message) == "table" and not (getmetatable(message) or {}).__tostring and shown(message) or tostring(message)
  return {text, frames}
end

local function verdict(done, ...)
  if done then
    if ... == nil and select("#", ...) < 2 or io.type(...) then return '"value":null' end
    local values = {}
    for i = 1, select("#", ...) do values[i] = shown((select(i, ...))) end
    return '"value":' .. quoted(concat(values, "\t"))
  end
  local text, frames = (...)[1], (...)[2]
  for i, frame in ipairs(frames) do frames[i] = quoted(frame) end
  local interrupted = text:find("interrupted!", 1, true)
  local name = interrupted and "Interrupted" or "Error"
  return format('"name":"%s","message":%s,"trace":[%s]', name, quoted(text), concat(frames, ",")), interrupted
end

local busy = false

local function serve()
  local code = {}
  while true do
    local char = input:read(1)
    if not char then os.exit(0) end
    if char ~= "\0" then
      code[#code + 1] = char
    elseif code[1] == "\1" then
      answer(concat(code))
      code = {}
    else
      busy = true
      local run, message = loaded(kept(concat(code)))
      local told, interrupted
      if run then
        told, interrupted = verdict(xpcall(run, failed))
      else
        told = format('"name":"SyntaxError","message":%s,"trace":[]', quoted(message))
      end
      busy = false
      tell(told)
      if interrupted then return end
      code = {}
    end
  end
end

tell("")
return function()
  -- The interrupt may come when the code is just over.
  if not pcall(serve) and busy then
    busy = false
    tell('"name":"Interrupted","message":"","trace":[]')
  end
end
