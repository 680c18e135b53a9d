# Runs code that comes in on one descriptor and tells the verdict on another: see driver.py.
local({
  numbers <- commandArgs(trailingOnly = TRUE)
  input <- file(paste0("/dev/fd/", numbers[1]), "rb", raw = TRUE)
  output <- file(paste0("/dev/fd/", numbers[2]), "wb", raw = TRUE)
  cell <- 0

  quoted <- function(text) {
    codes <- utf8ToInt(iconv(paste(enc2utf8(text), collapse = "\n"), "UTF-8", "UTF-8", sub = "?"))
    letters <- intToUtf8(codes, multiple = TRUE)
    control <- codes < 32 | codes %in% c(34, 92, 127)
    letters[control] <- sprintf("\\u%04x", codes[control])
    paste0("\"", paste(letters, collapse = ""), "\"")
  }

  tell <- function(...) {
    cat("{", ..., "}", file = output, sep = "")
    writeBin(as.raw(0), output)
    flush(output)
  }

  following <- function() {
    bytes <- raw(0)
    repeat {
      byte <- readBin(input, "raw", 1)
      if (length(byte) == 0) quit("no")
      if (byte == 0) break
      bytes <- c(bytes, byte)
    }
    text <- rawToChar(bytes)
    Encoding(text) <- "UTF-8"
    text
  }

  # The person's own calls, with the lines at which they stand.
  own <- function(calls) {
    ours <- which(vapply(calls, identical, NA, quote(eval(parts[[at]], globalenv()))))
    if (!length(ours)) return(character())
    calls <- calls[-seq_len(max(ours))]
    signals <- c(".handleSimpleError", "h", "stop", "signalCondition", "withRestarts")
    calls <- Filter(function(call) {
      !is.function(call[[1]]) && !(is.name(call[[1]]) && as.character(call[[1]]) %in% signals)
    }, calls)
    vapply(calls, function(call) {
      line <- attr(call, "srcref")
      place <- if (is.null(line)) "" else paste0("cell:", line[1], ": ")
      paste0(place, deparse(call, width.cutoff = 70)[1])
    }, "")
  }

  value_of <- function(code) {
    told <- "null"
    parts <- parse(text = code, keep.source = TRUE, srcfile = srcfilecopy("cell", strsplit(code, "\n")[[1]]))
    for (at in seq_along(parts)) {
      result <- withVisible(eval(parts[[at]], globalenv()))
      if (!result$visible) told <- "null"
      else if (at < length(parts)) print(result$value)
      else told <- quoted(utils::capture.output(print(result$value)))
    }
    told
  }

  evaluate <- function(code) {
    calls <- list()
    tryCatch(
      withCallingHandlers(
        paste0("\"value\":", value_of(code)),
        error = function(problem) calls <<- sys.calls(),
        warning = function(problem) {
          message("Warning: ", conditionMessage(problem))
          invokeRestart("muffleWarning")
        }
      ),
      interrupt = function(problem) "\"name\":\"Interrupted\",\"message\":\"\",\"trace\":[]",
      error = function(problem) {
        frames <- vapply(tryCatch(own(calls), error = function(problem) character()), quoted, "")
        name <- setdiff(class(problem), c("simpleError", "error", "condition", "rlang_error"))
        name <- if (length(name)) name[1] else "Error"
        paste0("\"name\":", quoted(name), ",\"message\":", quoted(conditionMessage(problem)),
               ",\"trace\":[", paste(frames, collapse = ","), "]")
      }
    )
  }

  # What is asked between cells.
  row <- function(name) {
    if (bindingIsActive(name, globalenv())) return(c(name, "active binding", ""))
    value <- get(name, globalenv())
    look <- if (is.function(value)) "" else tryCatch(
      utils::capture.output(utils::str(value, give.attr = FALSE, max.level = 1, vec.len = 4, nchar.max = 80))[1],
      error = function(problem) ""
    )
    c(name, class(value)[1], trimws(gsub("[[:space:]]+", " ", look)))
  }

  words <- function(word) {
    utils:::.assignLinebuffer(word)
    utils:::.assignEnd(nchar(word))
    utils:::.guessTokenFromLine()
    utils:::.completeToken()
    token <- utils:::.CompletionEnv[["token"]]
    before <- substr(word, 1, nchar(word) - nchar(token))
    found <- paste0(before, utils:::.retrieveCompletions())
    # An element without a name completes nothing.
    found[!grepl("[$@]$", found)]
  }

  answer <- function(question) {
    parts <- regmatches(question, regexec("^.([0-9]+) (\\w+) ?(.*)$", question))[[1]]
    rows <- tryCatch(
      if (parts[3] == "names") vapply(utils::head(ls(globalenv()), 5000), function(name) {
        paste0("[", paste(vapply(row(name), quoted, ""), collapse = ","), "]")
      }, "") else vapply(words(parts[4]), quoted, ""),
      error = function(problem) character()
    )
    tell("\"answer\":", parts[2], ",\"rows\":[", paste(rows, collapse = ","), "]")
  }

  # Plots become files, and R waits for answers although nobody sits at a console.
  options(device = function(...) grDevices::png(sprintf("Rplot%d-%%d.png", cell), width = 800, height = 600))
  terminal <- file("stdin")
  open(terminal)
  attach(list(readline = function(prompt = "") {
    cat(prompt)
    line <- readLines(terminal, 1)
    if (length(line)) line else ""
  }), name = "terp", warn.conflicts = FALSE)

  tell()
  repeat {
    code <- following()
    if (startsWith(code, "\001")) {
      answer(code)
      next
    }
    cell <- cell + 1
    told <- evaluate(code)
    grDevices::graphics.off()
    tell(told)
  }
})
